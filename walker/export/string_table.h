#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "walker/base/utf8.h"

namespace mixwalk {

// Strings that a document stores once and numbers from 0, in the order of their first occurrence. Number 0 is the empty
// string. The strings are always UTF-8, even if the input is not.
class StringTable {
 public:
  StringTable() { index(""); }

  std::uint32_t index(std::string_view text) {
    std::string valid = valid_utf8(text);
    const auto [at, added] = known_.emplace(valid, static_cast<std::uint32_t>(strings_.size()));
    if (added) strings_.push_back(std::move(valid));
    return at->second;
  }
  const std::vector<std::string>& strings() const noexcept { return strings_; }

 private:
  std::vector<std::string> strings_;
  std::unordered_map<std::string, std::uint32_t> known_;
};

}  // namespace mixwalk

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "walker/outside/clr_questions.h"

namespace mixwalk::test {

// A runtime's debugging library that knows what a test tells.
class FakeClrQuestions final : public ClrQuestions {
 public:
  void add_code(const ClrCode& code) { codes_.push_back(code); }
  void add_method(std::uint64_t method, ClrMethod name) { methods_[method] = std::move(name); }

  std::optional<ClrCode> code_at(std::uint64_t ip) override {
    for (const ClrCode& code : codes_) {
      if (ip - code.start < code.hot_bytes || ip - code.cold_start < code.cold_bytes) return code;
    }
    return std::nullopt;
  }
  ClrMethod method(std::uint64_t method) override {
    const auto known = methods_.find(method);
    return known != methods_.end() ? known->second : ClrMethod{};
  }
  std::string code_name(std::uint64_t) override { return {}; }
  std::vector<ClrThread> threads() override { return clr_threads; }
  std::optional<ClrSyncBlocks> sync_blocks(std::uint32_t first) override {
    return first - 1 < sync_block_answers.size() ? std::optional(sync_block_answers[first - 1]) : std::nullopt;
  }
  std::vector<std::string> object_types(std::span<const std::uint64_t> objects) override {
    std::vector<std::string> types;
    for (const std::uint64_t object : objects) types.push_back(objects_of[object]);
    return types;
  }
  std::string obstacle() const override { return {}; }

  std::vector<ClrThread> clr_threads;
  std::vector<ClrSyncBlocks> sync_block_answers;    // to first = 1, 2, …
  std::map<std::uint64_t, std::string> objects_of;  // their types

 private:
  std::vector<ClrCode> codes_;
  std::map<std::uint64_t, ClrMethod> methods_;
};

}  // namespace mixwalk::test

#pragma once

#include <map>
#include <string>
#include <vector>

#include "symbols/image_files.h"

namespace mixwalk {

// Has files by their paths, and counts how often each was asked for.
class FakeFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    asked.push_back(path);
    const auto found = files.find(path);
    if (found == files.end()) return std::nullopt;
    return found->second;
  }

  std::map<std::string, std::vector<std::byte>> files;
  std::vector<std::string> asked;
};

}  // namespace mixwalk

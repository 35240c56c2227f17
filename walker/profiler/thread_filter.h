#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "walker/session/protocol.h"

namespace mixwalk {

// Whether a thread belongs to a recording: by its id, or by the beginning of its managed name or of its description.
// Pure.
inline bool is_wanted(const RecordRequest& request, std::uint32_t os_id, const std::string& description,
                      const std::string& managed) {
  const auto& ids = request.sampling.thread_ids;
  const auto& names = request.thread_names;
  if (ids.empty() && names.empty()) return true;
  if (std::ranges::find(ids, os_id) != ids.end()) return true;
  return std::ranges::any_of(names, [&](const std::string& name) {
    return managed.starts_with(name) || description.starts_with(name);
  });
}

}  // namespace mixwalk

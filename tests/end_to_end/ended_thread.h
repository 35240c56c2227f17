#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "walker/model/snapshot.h"

namespace mixwalk {

// Whether it is a thread of the system's pool or a worker of .NET, which may end at any moment. The program's own
// threads have names.
inline bool may_end(std::string_view name) { return name.empty() || name.starts_with(".NET "); }

// A thread that ended between the listing of the threads and its turn has no stack, so no test may expect one. A thread
// that the program itself named never counts as such a thread.
inline bool ended_meanwhile(std::string_view name, std::string_view skipped) {
  return may_end(name) &&
         (skipped == "the thread is ending" || skipped == "the thread has ended, or may not be opened" ||
          skipped == "it has ended, or its registers are not known");
}

inline bool ended_meanwhile(const Thread& thread) { return ended_meanwhile(thread.name, thread.skipped); }

// Does the same for a thread of a dump in JSON.
inline bool ended_meanwhile(const nlohmann::json& thread) {
  const auto text = [&](const char* key) {
    const nlohmann::json& value = thread.at(key);
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  return ended_meanwhile(text("name"), text("skipped"));
}

}  // namespace mixwalk

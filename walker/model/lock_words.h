#pragma once

#include <string>
#include <string_view>

#include "walker/model/lock.h"

namespace mixwalk {

// Between a lock and its owner: ", held by ".
constexpr std::string_view owner_words(LockKind kind) noexcept {
  if (kind == LockKind::thread_end) return ", which is ";
  return is_held(kind) ? ", held by " : ", to be given by ";
}

// Between an owner and its lock: "holds ". Without a space at its end, nothing is to follow: "has not ended".
constexpr std::string_view holder_words(LockKind kind) noexcept {
  if (kind == LockKind::thread_end) return "has not ended";
  return is_held(kind) ? "holds " : "has not given ";
}

// For an owner, with the words for its lock: "holds critical section 0x1000".
inline std::string holder_text(LockKind kind, std::string_view lock) {
  std::string text(holder_words(kind));
  return text.ends_with(' ') ? text.append(lock) : text;
}

}  // namespace mixwalk

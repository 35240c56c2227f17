#pragma once

#include <string>
#include <string_view>

#include "walker/model/lock.h"

namespace mixwalk {

// The words between a lock and its owner: ", held by ".
constexpr std::string_view owner_words(LockKind kind) noexcept {
  if (kind == LockKind::pause) return ", which waits for ";
  if (kind == LockKind::thread_end) return ", which is ";
  if (kind == LockKind::callback) return ", run by ";
  return is_held(kind) ? ", held by " : ", to be given by ";
}

// The words between an owner and its lock: "holds ". If they do not end with a space, no lock follows: "has not ended".
constexpr std::string_view holder_words(LockKind kind) noexcept {
  if (kind == LockKind::pause) return "delays ";
  if (kind == LockKind::thread_end) return "has not ended";
  if (kind == LockKind::callback) return "has not reached ";
  return is_held(kind) ? "holds " : "has not given ";
}

// An owner's relation to a lock, with the words for the lock: "holds critical section 0x1000".
inline std::string holder_text(LockKind kind, std::string_view lock) {
  std::string text(holder_words(kind));
  return text.ends_with(' ') ? text.append(lock) : text;
}

}  // namespace mixwalk

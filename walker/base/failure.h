#pragma once

#include <string>
#include <utility>
#include <variant>

#include "walker/base/exit_code.h"

namespace mixwalk {

// The reason why a command did not do its work: a line for a person, and a number for a script.
struct Failure {
  ExitCode code = ExitCode::internal;
  std::string message;  // UTF-8, one line, without "mixwalk:" and without a full stop
};

// A value, or the reason why there is none.
template <class T>
class Outcome {
 public:
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const noexcept { return state_.index() == 0; }
  T& operator*() noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const noexcept { return *std::get_if<0>(&state_); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }
  const Failure& failure() const noexcept { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Failure> state_;
};

}  // namespace mixwalk

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "walker/model/recording.h"
#include "walker/shown/shown_stacks.h"

namespace mixwalk {

// A recording as formats take it: with its stacks labelled, and with what is said about it in words. Refers to the
// recording.
struct ShownRecording {
  struct Thread {
    std::string label;      // thread_label()
    std::string_view role;  // role_words(); empty if it has none
  };

  // `fold`: as in ShownStacks. Not explicit, so that a recording can be given to a format.
  ShownRecording(const Recording& recording, bool fold = false);

  const Recording& recording;
  const ShownStacks stacks;
  std::vector<Thread> threads;  // as Recording::threads
  std::string_view unit;        // unit() of Sample::value
  bool timed = false;           // whether that is nanoseconds
  std::string rate;             // rate_sentence()
  std::string standings;        // standing_sentence()
};

}  // namespace mixwalk

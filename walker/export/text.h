#pragma once

#include <cstddef>

#include "walker/base/byte_sink.h"
#include "walker/export/show_options.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Stacks for a person, one frame per line. Names are untrusted, so characters that could move a terminal's cursor are
// escaped (printable.h), and no name takes more than kMaxTextNameBytes.
bool write_text(const Snapshot& snapshot, const ShowOptions& options, ByteSink& sink);

inline constexpr std::size_t kMaxTextNameBytes = 1000;
inline constexpr std::size_t kMaxTextLocks = 20;  // the most locks that are listed for one thread
// The most exceptions that are listed for one thread, inner ones included.
inline constexpr std::size_t kMaxTextExceptions = 20;
inline constexpr std::size_t kMaxTextTaskGroups = 50;  // the most kinds of chains of tasks that are listed
inline constexpr std::size_t kMaxTextPoolItems = 5;    // the most items of the thread pool's queue that are listed

}  // namespace mixwalk

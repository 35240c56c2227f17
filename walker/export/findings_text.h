#pragma once

#include <span>

#include "walker/base/byte_sink.h"
#include "walker/hang/findings.h"
#include "walker/hang/fleet.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The result of a comparison of dumps, for a person: the problems first, then the groups of threads. It takes one
// screen unless `all` is asked for. Names are untrusted, so characters that could move a terminal's cursor are escaped
// (printable.h).
struct FindingsTextOptions {
  bool colour = false;  // ANSI escapes
  bool all = false;     // every finding, group, frame and thread
  const Fleet* fleet = nullptr;  // what the processes have in common, shown instead of the groups; null: the groups
};

// `dumps`: the dumps from which the findings were made. Returns false if the sink refused.
bool write_findings_text(std::span<const Snapshot> dumps, const Findings& findings, const FindingsTextOptions& options,
                         ByteSink& sink);

}  // namespace mixwalk

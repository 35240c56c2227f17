#pragma once

#include <span>

#include "walker/base/byte_sink.h"
#include "walker/hang/findings.h"
#include "walker/hang/fleet.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// What a comparison of dumps found, for a person: what is wrong first, then the groups of threads. One screen unless
// `all` is asked for. Names are untrusted: what could move a terminal's cursor is escaped (printable.h).
struct FindingsTextOptions {
  bool colour = false;  // ANSI escapes
  bool all = false;     // every finding, group, frame and thread
  const Fleet* fleet = nullptr;  // what the processes have in common, in place of the groups; null if not asked for
};

// `dumps`: those that the findings were made of. Returns false if the sink refused.
bool write_findings_text(std::span<const Snapshot> dumps, const Findings& findings, const FindingsTextOptions& options,
                         ByteSink& sink);

}  // namespace mixwalk

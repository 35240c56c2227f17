#pragma once

#include <span>
#include <string_view>

#include "walker/base/byte_sink.h"
#include "walker/hang/findings.h"
#include "walker/hang/fleet.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// What a comparison of dumps found, for programs: docs/hang-json.md, and tests/golden/mixwalk-hang.schema.json the same
// for machines. Only ever extended; a change of meaning raises the version.
inline constexpr int kFindingsJsonVersion = 1;

// `dumps`: those that the findings were made of. `tool_version`: kVersion. `fleet`: of compare --across; null: not
// asked for. False: the sink refused.
bool write_findings_json(std::span<const Snapshot> dumps, const Findings& findings, std::string_view tool_version,
                         ByteSink& sink, const Fleet* fleet = nullptr);

}  // namespace mixwalk

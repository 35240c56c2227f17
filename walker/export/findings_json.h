#pragma once

#include <span>
#include <string_view>

#include "walker/base/byte_sink.h"
#include "walker/hang/findings.h"
#include "walker/hang/fleet.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The JSON form of the result of a comparison of dumps. docs/hang-json.md describes the format, and
// tests/golden/mixwalk-hang.schema.json is its schema for machines. The format is only ever extended; a change of
// meaning raises the version.
inline constexpr int kFindingsJsonVersion = 1;

// `dumps`: the dumps from which the findings were made. `tool_version`: kVersion. `fleet`: the result of compare
// --across; null if --across was not asked for. Returns false if the sink refused.
bool write_findings_json(std::span<const Snapshot> dumps, const Findings& findings, std::string_view tool_version,
                         ByteSink& sink, const Fleet* fleet = nullptr);

}  // namespace mixwalk

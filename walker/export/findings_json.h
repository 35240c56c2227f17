#pragma once

#include <span>
#include <string_view>

#include "walker/base/byte_sink.h"
#include "walker/hang/findings.h"
#include "walker/hang/fleet.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// What a comparison of dumps found, for programs. docs/hang-json.md describes the format,
// tests/golden/mixwalk-hang.schema.json is its schema for machines. The format is only ever extended; a change of
// meaning raises the version.
inline constexpr int kFindingsJsonVersion = 1;

// `dumps`: the dumps that the findings were made from. `tool_version`: kVersion. `fleet`: of compare --across; null if
// --across was not asked for. Returns false if the sink refused.
bool write_findings_json(std::span<const Snapshot> dumps, const Findings& findings, std::string_view tool_version,
                         ByteSink& sink, const Fleet* fleet = nullptr);

}  // namespace mixwalk

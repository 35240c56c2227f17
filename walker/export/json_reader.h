#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "walker/model/snapshot.h"

namespace mixwalk {

struct ReadJsonDump {
  std::optional<Snapshot> snapshot;  // none: `error` says why, in one line
  std::string error;
};

// Reads a dump that JsonExporter wrote (docs/json.md), of this version or an older one. The text may come from
// anywhere: what is no such document, or contradicts itself, is an error. Fields that are not known are skipped; words
// that are not known count as the first of their kind. What the document does not have is as in a Snapshot that is new;
// where it has no locks, locks_missing says so. Memory is in proportion to the text.
ReadJsonDump read_json_dump(std::string_view text);

}  // namespace mixwalk

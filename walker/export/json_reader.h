#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "walker/model/snapshot.h"

namespace mixwalk {

struct ReadJsonDump {
  std::optional<Snapshot> snapshot;  // has no value if it cannot be read; `error` says why, in one line
  std::string error;
};

// Reads a dump that write_json() wrote (docs/json.md), of this version or an older one. The text may come from
// anywhere, so a text that is not such a document, or contradicts itself, is an error. Unknown fields are skipped. An
// unknown word counts as the first word of its kind. A field that the document does not have keeps its default value;
// if the document has no locks, locks_missing says so. The memory use is in proportion to the text.
ReadJsonDump read_json_dump(std::string_view text);

}  // namespace mixwalk

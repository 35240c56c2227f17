// Reads arbitrary text as the JSON of a dump: it must be refused, or give a snapshot that can be written and shown.

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "walker/export/findings_text.h"
#include "walker/export/json.h"
#include "walker/export/json_reader.h"
#include "walker/hang/findings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = mixwalk::read_json_dump({reinterpret_cast<const char*>(data), size});
  if (!read.snapshot) {
    if (read.error.empty()) std::abort();
    return 0;
  }
  mixwalk::StringSink json, text;
  mixwalk::write_json(*read.snapshot, {}, json);
  const auto again = mixwalk::read_json_dump(json.text);
  if (!again.snapshot) std::abort();
  const std::vector<mixwalk::Snapshot> dumps = {*read.snapshot, *again.snapshot};
  mixwalk::write_findings_text(dumps, mixwalk::find_hangs(dumps, {}), {.all = true}, text);
  return 0;
}

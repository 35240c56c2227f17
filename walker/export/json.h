#pragma once

#include "walker/export/exporter.h"

namespace mixwalk {

// The JSON form of a dump. docs/json.md describes it, and tests/golden/mixwalk-dump.schema.json is its schema for
// machines. The format is only ever extended; a change of meaning raises kVersion.
class JsonExporter final : public Exporter {
 public:
  static constexpr int kVersion = 1;

  explicit JsonExporter(const FrameFilter& filter) : filter_(filter) {}
  bool write(const Snapshot& snapshot, ByteSink& sink) const override;

 private:
  FrameFilter filter_;
};

}  // namespace mixwalk

#pragma once

#include "symbols/index/lazy_index.h"

namespace mixwalk {

// What tests and measurements need of an index beside its look-ups.
struct LazyIndexTestPeer {
  // Reads every unit.
  static void read_all(LazyIndex& index) {
    for (const Segment& segment : index.by_code_.rows()) {
      if (segment.scope != kNoScope) index.unit(segment.scope);
    }
  }
  static std::size_t units_read(const LazyIndex& index) { return index.units_.size(); }
};

}  // namespace mixwalk

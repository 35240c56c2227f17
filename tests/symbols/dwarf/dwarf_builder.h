#pragma once

#include "tests/builders/debug_image_builder.h"

namespace mixwalk::test {

// A small unit of DWARF 4, written by hand from the standard's tables. Its language is C; "inner" is inlined into
// "outer":
//
//   /src/a.c            inner  [0x1020, 0x1030) in outer, called at line 12, and once more, by ranges
//   function outer      [0x1000, 0x1100), with a lexical block around the first call
//   function plain      [0x1100, 0x1140), mangled: _ZN5plainEv, by DW_AT_specification
//   function local      [0x1140, 0x1150), of a class inside a function that has no code itself
//   lines               0x1000: 10, 0x1020: inc/b.h 3, 0x1030: 13, 0x1100: 20, end at 0x1140
struct DwarfTables {
  TableWriter abbreviations, info, lines, ranges;

  DwarfTables();
  void add_to(DebugImageBuilder& image) const;
};

}  // namespace mixwalk::test

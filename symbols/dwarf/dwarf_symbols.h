#pragma once

#include <memory>
#include <string>

#include "symbols/image_file.h"
#include "symbols/image_files.h"
#include "symbols/index/lazy_index.h"
#include "unmanaged/image/coff_symbols.h"

namespace mixwalk {

// The functions, inlined calls and lines of an image by its DWARF, version 2 to 5: in the image itself, or in
// the file that its section .gnu_debuglink names. Only the units' headers are read at first; a unit is read
// when one of its addresses is looked up. Not frozen-safe; one thread at a time.
struct DwarfSymbols {
  // Is null if no DWARF could be read; `problem` says why.
  std::unique_ptr<LazyIndex> index;
  std::string problem;  // one line, no full stop
  // What a person should know: that DWARF is there and not used, or what it lacks. One line with the path of the file,
  // no full stop; usually empty.
  std::string note;
  std::string path;     // UTF-8; the file that has the DWARF
  // The linker's symbols in a file that .gnu_debuglink named, because those of the image itself were stripped. Valid as
  // long as `index`.
  CoffSymbols linked_symbols;
};

// `files` reads the file that .gnu_debuglink names. That file is looked for beside the image and in the folder ".debug"
// there, and must have the CRC that the image's section states. `files` also reads the files of split units (.dwo),
// when a unit is first asked for, so it must outlive the index. A split unit whose file is not found has only lines.
DwarfSymbols open_dwarf(std::shared_ptr<const ImageFile> image, ImageFiles& files);

}  // namespace mixwalk

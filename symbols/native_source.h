#pragma once

#include <memory>

#include "symbols/image_file.h"
#include "symbols/image_files.h"
#include "symbols/symbol_source.h"

namespace mixwalk {

// All that is known of one image's native code, as one source: its debug information, the linker's symbols, the
// exports, and at last .pdata (NativeSymbols says in which order, and by which rules). Names are demangled
// wholly. A function that nothing names is "sub_1a2b0", after the RVA where it begins, so that two samples of one
// function have one name, in every format and every recording of the same build. Code without unwind data that
// nothing names has no symbol.
//
// `files`: where the file is read from that has the debug information, if the image itself has none.
std::unique_ptr<SymbolSource> open_native_symbols(std::shared_ptr<const ImageFile> file, ImageFiles& files);

}  // namespace mixwalk

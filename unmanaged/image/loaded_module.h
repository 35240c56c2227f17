#pragma once

#include <string>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/image/module_table.h"

namespace mixwalk {

// What the tables of loaded images say about one image, whatever process it is loaded in: this one, another one, a
// dump. Not frozen-safe (they allocate). Nothing that is read is trusted.

// Where the image stands and which it is.
ModuleTable::Entry loaded_module(const ImageHeaders& headers);
// Its code, its .pdata, and whether it has managed code.
void add_code(ModuleTable::Entry& entry, const ImageHeaders& headers, const MemoryReader& memory);
// Its path, and what follows from its name and its exports. Nothing is read of an image that is closed.
void set_path(ModuleTable::Entry& entry, std::string path, const MemoryReader& memory);

}  // namespace mixwalk

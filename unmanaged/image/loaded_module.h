#pragma once

#include <string>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/image/module_table.h"

namespace mixwalk {

// Fill in what the tables of loaded images record about one image, whatever process it is loaded in: this process,
// another one, or a dump. Not frozen-safe (they allocate). Nothing that is read is trusted.

// Returns an entry that says which image it is and at what address it is loaded.
ModuleTable::Entry loaded_module(const ImageHeaders& headers);
// Adds the image's code, its .pdata, and whether it has managed code.
void add_code(ModuleTable::Entry& entry, const ImageHeaders& headers, const MemoryReader& memory);
// Adds the path, and what follows from the image's name and its exports. Nothing is read of an image that is closed.
void set_path(ModuleTable::Entry& entry, std::string path, const MemoryReader& memory);

}  // namespace mixwalk

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbols/metadata/metadata_names.h"
#include "unmanaged/step/memory_reader.h"
#include "walker/clr/clr_questions.h"

namespace mixwalk {

// A method's code in IL, and its exception handlers.
struct MethodIl {
  struct Handler {
    std::uint32_t protects = 0, begin = 0;  // offsets in the code: of what it protects, and its own
  };
  std::vector<std::byte> code;
  std::vector<Handler> handlers;
};

// The method body at an RVA of the image at `base`, which may be laid out as its file is (metadata_of_image). Empty if
// it cannot be read. Nothing of the image is trusted. Not frozen-safe. (ECMA-335 II.25.4.)
MethodIl method_il(const MemoryReader& memory, std::uint64_t base, std::uint32_t rva);

// The instructions of the code, up to the first one that is none. `names`: of the module. (ECMA-335 III.)
std::vector<ClrIlStep> il_steps(const MethodIl& il, const MetadataNames& names);

// The only method of a type with this name, as a MethodDef. 0 if there is none, or more than one.
std::uint32_t method_of_type(const MetadataNames& names, std::uint32_t type, std::string_view name);

}  // namespace mixwalk

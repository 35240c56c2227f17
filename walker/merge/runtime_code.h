#pragma once

#include <cstdint>
#include <string_view>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "walker/model/stack.h"

namespace mixwalk {

// What kind of code the runtime has made at this address outside all images, by the code's own bytes: "write barrier",
// "precode", "call counter", "interface dispatch", "virtual call", "shuffle thunk" (it moves the arguments of a
// delegate of a static method), "instantiating stub" (it adds the type arguments to a call of shared code). Empty if
// the bytes are of no known kind. `ip`: of a thread, or interrupted, since none of this code calls anything. Not
// frozen-safe.
//
// Folklore: such code belongs to no method, has no unwind data, and the profiling interface does not know it. The bytes
// are those of .NET 10; write barriers, precode and call counters are the same in .NET 8 and 9. Real case: in
// recordings of hunt.exe expressions and gc, the leaf of some stacks was code without a name. Test: runtime_code_test,
// which has the bytes that were seen.
std::string_view runtime_code_kind(std::uint64_t ip, const MemoryReader& memory) noexcept;

// Makes stubs of the native frames in such code, with its kind as the name. Two more kinds are "helper", which is known
// by the frame's caller (code compiled ahead of time calls it to find a value, a type or a method), and "import thunk",
// which is in the image of such code. For a process that has a runtime. Not frozen-safe.
void name_runtime_code(Stack& stack, const ModuleView& images, const MemoryReader& memory);

}  // namespace mixwalk

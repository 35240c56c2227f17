#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// The part of a runtime that a process has loaded; unknown if the process's list of images cannot be read.
enum class LoadedRuntime { unknown, none, host_only, framework, core, core_in_program, native_aot };

// `peb` is the address of the process environment block. `again`: as for read_loader_list. The process is not trusted.
// Not frozen-safe.
//
// The list of the loader is read (loader_list.h), however long it is: some programs, such as development environments,
// load more than a thousand DLLs, and the runtime's among the last.
LoadedRuntime loaded_runtime(const MemoryReader& memory, std::uint64_t peb, const std::function<void()>& again);
// The same for a running process, by its id.
LoadedRuntime loaded_runtime(std::uint32_t process_id);

// Whether a running process has loaded an image with this file name, in lower case. False if it cannot be read.
bool has_loaded(std::uint32_t process_id, std::string_view image_name);

}  // namespace mixwalk

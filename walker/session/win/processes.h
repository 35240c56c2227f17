#pragma once

#include <windows.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/failure.h"
#include "walker/session/process_names.h"

namespace mixwalk {

// Every process of this machine that this process can see, sorted by id.
std::vector<ProcessEntry> list_processes();

// The name of its image. Empty if there is no such process.
std::string process_name(std::uint32_t process_id);

// The name of this machine, UTF-8. Empty if the system does not tell it.
std::string machine_name();

// "process 4711 (orders.exe)", or "process 4711" if the name is not known, or there is no such process.
std::string describe_process(std::uint32_t process_id, const std::string& name);
std::string describe_process(std::uint32_t process_id);
// Of a process that runs. It does not list all processes. `process` needs PROCESS_QUERY_LIMITED_INFORMATION.
std::string describe_process(HANDLE process);

// Whether the process listens on the .NET diagnostics port.
bool has_diagnostics_port(std::uint32_t process_id);

// A process that can be attached to. Its handle is open while this object lives.
struct AttachTarget {
  std::uint32_t id = 0;
  std::string name;
  UniqueHandle process;  // SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_DUP_HANDLE
};

// process_named() among all processes except this one.
Outcome<std::uint32_t> find_process(const std::string& name);

// The process, or the first reason that was found why it cannot be attached to.
Outcome<AttachTarget> find_target(std::uint32_t process_id);

}  // namespace mixwalk

#pragma once

#include <windows.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mixwalk {

// `mixwalk dump -f json` of a process, with these options. An empty dump, and a failed test case, where it fails.
nlohmann::json dump_as_json(DWORD process_id, const std::vector<std::string>& options);

// The thread of that id, or the first one of that name; null: none.
const nlohmann::json* dumped_thread(const nlohmann::json& dump, std::uint32_t os_id);
const nlohmann::json* dumped_thread(const nlohmann::json& dump, const std::string& name);

// A line a frame, leaf first: its kind, module and name.
std::vector<std::string> dumped_frames(const nlohmann::json& dump, const nlohmann::json& thread);

// Names of hang.exe's threads that stand for good. Expects a whole stack with managed frames of each.
void expect_stuck_threads(const nlohmann::json& dump);

}  // namespace mixwalk

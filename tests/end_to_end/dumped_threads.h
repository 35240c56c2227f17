#pragma once

#include <windows.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mixwalk {

// Returns `mixwalk dump -f json` of a process, with these options. If it fails, the test case fails and the dump is
// empty.
nlohmann::json dump_as_json(DWORD process_id, const std::vector<std::string>& options = {});

// Returns the thread with that id, or the first one with that name; null if there is none.
const nlohmann::json* dumped_thread(const nlohmann::json& dump, std::uint32_t os_id);
const nlohmann::json* dumped_thread(const nlohmann::json& dump, const std::string& name);

// Returns one line per frame, leaf first: its kind, module and name. The module is shown with or without the frame's
// RVA.
enum class Rvas { left_out, shown };
std::vector<std::string> dumped_frames(const nlohmann::json& dump, const nlohmann::json& thread, Rvas rvas);

// The names of hang.exe's threads that never move.
const std::vector<std::string>& stuck_threads();

// Expects that each of these threads is a managed one, with a whole stack that has managed frames.
void expect_whole_threads(const nlohmann::json& dump, const std::vector<std::string>& names = stuck_threads());

}  // namespace mixwalk

#pragma once

#include <windows.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mixwalk {

// `mixwalk dump -f json` of a process, with these options. An empty dump, and a failed test case, where it fails.
nlohmann::json dump_as_json(DWORD process_id, const std::vector<std::string>& options = {});

// The thread of that id, or the first one of that name; null: none.
const nlohmann::json* dumped_thread(const nlohmann::json& dump, std::uint32_t os_id);
const nlohmann::json* dumped_thread(const nlohmann::json& dump, const std::string& name);

// A line a frame, leaf first: its kind, module and name; the module with the frame's address in it, or without.
enum class Rvas { left_out, shown };
std::vector<std::string> dumped_frames(const nlohmann::json& dump, const nlohmann::json& thread, Rvas rvas);

// Names of hang.exe's threads that stand for good.
const std::vector<std::string>& stuck_threads();

// Expects of each of these threads that it is a managed one, with a whole stack that has managed frames.
void expect_whole_threads(const nlohmann::json& dump, const std::vector<std::string>& names = stuck_threads());

}  // namespace mixwalk

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mixwalk {

// The name of the pipe between mixwalk.exe and its DLL: \\.\pipe\mixwalk-PID-RANDOM. PID is the process id of
// mixwalk.exe, in decimal; RANDOM is kPipeRandomBytes bytes in hexadecimal, so that no other process can guess the name
// and create the pipe first.
inline constexpr std::size_t kPipeRandomBytes = 16;

std::wstring session_pipe_name(std::uint32_t server_process_id,
                               std::span<const unsigned char, kPipeRandomBytes> random);

// The process that must serve the pipe of this name. Returns nothing unless the name has, in every digit, the form of
// our names. Allocates nothing.
std::optional<std::uint32_t> server_of_session_pipe(std::wstring_view name) noexcept;

}  // namespace mixwalk

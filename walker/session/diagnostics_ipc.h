#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mixwalk {

// The messages of the .NET diagnostics port that mixwalk uses, as bytes: pure. (Format: the
// "Diagnostic IPC Protocol" document of dotnet/diagnostics. Header of 20 bytes: magic, length of
// the whole message, command set, command, reserved; then the payload; all little-endian.)
inline constexpr std::size_t kIpcHeaderBytes = 20;
// The length field has 16 bits.
inline constexpr std::size_t kMaxIpcBytes = 65'535;

struct AttachRequest {
  std::uint32_t timeout_ms = 0;
  std::array<std::uint8_t, 16> clsid{};  // as a GUID lies in memory
  std::u16string profiler_path;
  std::string client_data;
};

// Nothing where the strings are too long for one message.
std::optional<std::string> encode_attach(const AttachRequest& request);
std::string encode_process_info();

struct IpcReply {
  bool ok = false;
  std::uint32_t hresult = 0;  // of an attach, or of an error
  std::string payload;
};

// How many bytes the message has that begins with this header; nothing for a header of no message.
std::optional<std::size_t> ipc_message_bytes(std::string_view header) noexcept;
// A whole reply; nothing for what is none.
std::optional<IpcReply> decode_ipc_reply(std::string_view message);

struct ProcessInfo {
  std::string command_line;     // UTF-8
  std::string architecture;     // "x64"
  std::string runtime_version;  // "10.0.12", with what follows a '+' cut off
};
// The payload of a reply to encode_process_info().
std::optional<ProcessInfo> decode_process_info(std::string_view payload);

}  // namespace mixwalk

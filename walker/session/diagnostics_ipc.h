#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mixwalk {

// The messages of the .NET diagnostics port that mixwalk uses, as bytes. Pure. (Format: the "Diagnostic IPC Protocol"
// document of dotnet/diagnostics. A message has a header of 20 bytes, which are magic, length of the whole message,
// command set, command and reserved, and then the payload; all numbers are little-endian.)
inline constexpr std::size_t kIpcHeaderBytes = 20;
// The length field has 16 bits.
inline constexpr std::size_t kMaxIpcBytes = 65'535;

struct AttachRequest {
  std::uint32_t timeout_ms = 0;
  std::array<std::uint8_t, 16> clsid{};  // in the byte order that a GUID has in memory
  std::u16string profiler_path;
  std::string client_data;
};

// Returns nothing if the texts are too long for one message.
std::optional<std::string> encode_attach(const AttachRequest& request);
std::string encode_process_info();

struct IpcReply {
  bool ok = false;
  std::uint32_t hresult = 0;  // of an attach, or of an error
  std::string payload;
};

// How many bytes the message has that begins with this header. Returns nothing if no message begins with it.
std::optional<std::size_t> ipc_message_bytes(std::string_view header) noexcept;
// Decodes a whole reply. Returns nothing if the bytes are not one.
std::optional<IpcReply> decode_ipc_reply(std::string_view message);

struct ProcessInfo {
  std::string command_line;     // UTF-8
  std::string architecture;     // "x64"
  std::string runtime_version;  // "10.0.12", without a '+' and what follows it
};
// Decodes the payload of a reply to encode_process_info().
std::optional<ProcessInfo> decode_process_info(std::string_view payload);

}  // namespace mixwalk

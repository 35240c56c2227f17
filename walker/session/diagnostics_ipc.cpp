#include "walker/session/diagnostics_ipc.h"

#include <span>

#include "unmanaged/image/utf16.h"

namespace mixwalk {
namespace {

constexpr std::string_view kMagic("DOTNET_IPC_V1\0", 14);
constexpr std::uint8_t kProfilerCommands = 0x03, kAttachProfiler = 0x01;
constexpr std::uint8_t kProcessCommands = 0x04, kProcessInfo2 = 0x04;
constexpr std::uint8_t kServerCommands = 0xFF, kServerOk = 0x00, kServerError = 0xFF;

template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}

std::string message(std::uint8_t command_set, std::uint8_t command, std::string_view payload) {
  std::string out(kMagic);
  put(out, static_cast<std::uint16_t>(kIpcHeaderBytes + payload.size()));
  put(out, command_set);
  put(out, command);
  put(out, std::uint16_t{0});
  out += payload;
  return out;
}

// Reads little-endian values one after another. After a failure, all further reads fail.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T value = 0;
    if (bytes_.size() < sizeof(T)) {
      good_ = false;
      return value;
    }
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes_[i])) << (8 * i));
    }
    bytes_.remove_prefix(sizeof(T));
    return value;
  }

  void skip(std::size_t bytes) {
    if (bytes_.size() < bytes) good_ = false;
    else bytes_.remove_prefix(bytes);
  }

  // Reads a UTF-16 text, preceded by its length in units (including the terminator), and converts it to UTF-8. Units
  // that are not valid UTF-16 become '?'.
  std::string text() {
    const auto units = get<std::uint32_t>();
    if (!good_ || units > bytes_.size() / 2) {
      good_ = false;
      return {};
    }
    const std::string_view text = bytes_.substr(0, std::size_t{units} * 2);
    skip(text.size());
    return utf8_of_utf16(std::as_bytes(std::span(text)));
  }

  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace

std::optional<std::string> encode_attach(const AttachRequest& request) {
  std::string payload;
  put(payload, request.timeout_ms);
  payload.append(reinterpret_cast<const char*>(request.clsid.data()), request.clsid.size());
  put(payload, static_cast<std::uint32_t>(request.profiler_path.size() + 1));
  for (const char16_t unit : request.profiler_path) put(payload, static_cast<std::uint16_t>(unit));
  put(payload, std::uint16_t{0});
  put(payload, static_cast<std::uint32_t>(request.client_data.size()));
  payload += request.client_data;
  if (payload.size() > kMaxIpcBytes - kIpcHeaderBytes) return std::nullopt;
  return message(kProfilerCommands, kAttachProfiler, payload);
}

std::string encode_process_info() { return message(kProcessCommands, kProcessInfo2, {}); }

std::optional<std::size_t> ipc_message_bytes(std::string_view header) noexcept {
  if (header.size() < kIpcHeaderBytes || !header.starts_with(kMagic)) return std::nullopt;
  const auto low = static_cast<unsigned char>(header[kMagic.size()]);
  const auto high = static_cast<unsigned char>(header[kMagic.size() + 1]);
  const std::size_t bytes = low | std::size_t{high} << 8;
  if (bytes < kIpcHeaderBytes) return std::nullopt;
  return bytes;
}

std::optional<IpcReply> decode_ipc_reply(std::string_view reply) {
  if (ipc_message_bytes(reply) != reply.size()) return std::nullopt;
  Reader reader(reply.substr(kMagic.size() + 2));
  if (reader.get<std::uint8_t>() != kServerCommands) return std::nullopt;
  const auto command = reader.get<std::uint8_t>();
  if (command != kServerOk && command != kServerError) return std::nullopt;
  IpcReply result{.ok = command == kServerOk, .payload = std::string(reply.substr(kIpcHeaderBytes))};
  reader.skip(2);
  if (result.payload.size() >= 4) result.hresult = reader.get<std::uint32_t>();
  return result;
}

std::optional<ProcessInfo> decode_process_info(std::string_view payload) {
  Reader reader(payload);
  reader.skip(8 + 16);  // process id, runtime cookie
  ProcessInfo info;
  info.command_line = reader.text();
  reader.text();  // operating system
  info.architecture = reader.text();
  reader.text();  // entry assembly
  info.runtime_version = reader.text();
  if (!reader.good()) return std::nullopt;
  info.runtime_version.resize(std::min(info.runtime_version.find('+'), info.runtime_version.size()));
  return info;
}

}  // namespace mixwalk

// Reads arbitrary bytes as an answer of a diagnostics port.

#include <cstdint>

#include "walker/session/diagnostics_ipc.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  mixwalk::ipc_message_bytes(bytes);
  if (const auto reply = mixwalk::decode_ipc_reply(bytes)) {
    mixwalk::decode_process_info(reply->payload);
  }
  mixwalk::decode_process_info(bytes);
  return 0;
}

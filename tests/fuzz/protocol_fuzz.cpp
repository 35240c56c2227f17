// Arbitrary bytes as a message of the pipe: refused, or decoded to something that encodes again.

#include <cstdint>
#include <cstdlib>

#include "walker/session/protocol.h"
#include "walker/session/snapshot_collector.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  mixwalk::decode_length(bytes);
  auto message = mixwalk::decode(bytes);
  if (!message) return 0;
  const std::string again = mixwalk::encode(*message);
  const auto decoded = mixwalk::decode(std::string_view(again).substr(mixwalk::kLengthBytes));
  if (!decoded || !(*decoded == *message)) std::abort();
  mixwalk::SnapshotCollector collector;
  collector.accept(mixwalk::Module{});
  collector.accept(std::move(*message));
  collector.finish();
  return 0;
}

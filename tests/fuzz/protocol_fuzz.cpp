// Reads arbitrary bytes as a message of the pipe: they must be refused, or decoded to a message that can be encoded
// again, and that a collector can use without further checks.

#include <cstdint>
#include <cstdlib>

#include "walker/session/protocol.h"
#include "walker/session/snapshot_collector.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto length = mixwalk::decode_length(bytes);
  check(!length || (*length != 0 && *length <= mixwalk::kMaxMessageBytes));
  auto message = mixwalk::decode(bytes);
  if (!message) return 0;
  const std::string again = mixwalk::encode(*message);
  check(mixwalk::decode(std::string_view(again).substr(mixwalk::kLengthBytes)) == message);

  mixwalk::SnapshotCollector collector;
  collector.accept(mixwalk::Module{.base = 2});
  collector.accept(mixwalk::Module{.base = 1});
  collector.accept(std::move(*message));
  for (const mixwalk::Thread& thread : collector.finish().threads) {
    const mixwalk::Stack& stack = thread.stack;
    for (const mixwalk::Frame& frame : stack.frames) {
      check(frame.module >= mixwalk::Frame::kNone && frame.module < 2);
    }
    for (const mixwalk::Run& run : stack.runs()) {
      check(std::uint64_t{run.first_frame} + run.frame_count <= stack.frames.size());
    }
  }
  return 0;
}

#include "walker/hang/function_ids.h"

#include <string_view>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

// FNV-1a, followed by a mix of the bits (Murmur's finalizer). The numbers are added and compared, never shown.
constexpr std::uint64_t kBegin = 0xcbf2'9ce4'8422'2325, kPrime = 0x100'0000'01b3;

std::uint64_t add(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return (hash ^ 0xFF) * kPrime;  // "ab" + "c" is not "a" + "bc"
}

std::uint64_t add(std::uint64_t hash, std::uint64_t number) {
  hash = (hash ^ number) * kPrime;
  hash ^= hash >> 33;
  return hash * 0xff51'afd7'ed55'8ccd;
}

}  // namespace

std::vector<std::vector<std::uint64_t>> function_ids(const Snapshot& snapshot) {
  std::vector<std::uint64_t> modules;
  for (const Module& module : snapshot.modules) modules.push_back(add(kBegin, ascii_lower(module_name(module))));
  const auto id = [&](const Frame& frame) {
    std::uint64_t hash = add(kBegin, static_cast<std::uint64_t>(frame.kind));
    if (frame.kind == FrameKind::gap) return hash;
    const bool in_image = frame.kind == FrameKind::native && frame.module != Frame::kNone;
    if (in_image) hash = add(hash, modules[static_cast<std::size_t>(frame.module)]);
    if (!frame.name.empty()) return add(add(hash, frame.name), frame.target);
    if (frame.function != 0) return add(hash, frame.function);
    if (!in_image) return add(hash, frame.address);
    return add(hash, frame.address - snapshot.modules[static_cast<std::size_t>(frame.module)].base);
  };
  std::vector<std::vector<std::uint64_t>> ids;
  ids.reserve(snapshot.threads.size());
  for (const Thread& thread : snapshot.threads) {
    std::vector<std::uint64_t>& of = ids.emplace_back();
    of.reserve(thread.stack.frames.size());
    for (const Frame& frame : thread.stack.frames) of.push_back(id(frame));
  }
  return ids;
}

}  // namespace mixwalk

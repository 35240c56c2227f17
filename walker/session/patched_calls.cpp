#include "walker/session/patched_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "unmanaged/step/call_site.h"
#include "unmanaged/step/system_call.h"
#include "walker/base/printable.h"

namespace mixwalk {
namespace {

// The system calls that mixwalk.dll makes while a thread is frozen, and those of its supervisor.
constexpr std::array<const char*, 15> kCalls = {
    "NtSuspendThread",        "NtGetContextThread",    "NtResumeThread",           "NtQueryInformationThread",
    "NtQueryVirtualMemory",   "NtWaitForSingleObject", "NtWaitForMultipleObjects", "NtSetEvent",
    "NtClearEvent",           "NtResetEvent",          "NtYieldExecution",         "NtDelayExecution",
    "NtQueryPerformanceCounter", "NtSetTimer",        "NtSetTimerEx"};
// Patches lead to a trampoline in memory near ntdll.dll, which leads to the product's DLL.
constexpr int kMaxJumps = 8;
// A patch may keep the first instructions of the stub: mov r10, rcx; mov eax, NUMBER.
constexpr std::array<std::uint32_t, 3> kPatchOffsets = {0, 3, 8};
constexpr std::size_t kMaxPath = 260;  // bytes that are shown of a path
constexpr std::size_t kMaxJumpBytes = 16;  // of the longest form that jump_at() knows

// The address to which the jump at this address leads, or 0 if there is no such jump.
std::uint64_t jump_target(const MemoryReader& memory, std::uint64_t address) {
  std::array<std::uint8_t, kMaxJumpBytes> bytes{};
  const std::size_t read = memory.read_up_to(address, bytes.data(), bytes.size());
  const Jump jump = jump_at({bytes.data(), read}, address);
  if (jump.kind == Jump::Kind::direct) return jump.address;
  if (jump.kind == Jump::Kind::slot) return memory.read_value<std::uint64_t>(jump.address).value_or(0);
  return 0;
}

std::string image_behind(const MemoryReader& memory, std::uint64_t stub, const CallPlaces& places) {
  std::uint64_t target = 0;
  for (const std::uint32_t offset : kPatchOffsets) {
    if (target == 0) target = jump_target(memory, stub + offset);
  }
  const std::string own = places.image_at(stub);
  for (int jumps = 1; target != 0 && jumps < kMaxJumps; ++jumps) {
    if (std::string image = places.image_at(target); !image.empty() && image != own) return image;
    target = jump_target(memory, target);
  }
  return {};
}

}  // namespace

std::vector<PatchedCall> find_patched_calls(const MemoryReader& memory, const CallPlaces& places) {
  std::vector<PatchedCall> found;
  for (const char* const name : kCalls) {
    const std::uint64_t stub = places.stub_of(name);
    if (stub == 0 || !memory.read_value<std::uint8_t>(stub) || is_system_call_stub(stub, memory)) continue;
    found.push_back({name, image_behind(memory, stub, places)});
  }
  return found;
}

std::string patched_calls_text(std::span<const PatchedCall> calls) {
  std::string text = "other software has patched system calls of the process";
  // One part for each image, in the order in which the images come first.
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto same_image = [&](const PatchedCall& other) { return other.image == calls[i].image; };
    if (std::ranges::any_of(calls.first(i), same_image)) continue;
    const auto count = std::ranges::count_if(calls, same_image);
    std::ptrdiff_t number = 0;
    text += i == 0 ? ": " : "; ";
    for (const PatchedCall& call : calls) {
      if (!same_image(call)) continue;
      ++number;
      text += (number == 1 ? "" : number == count ? " and " : ", ") + call.name;
    }
    text += (count == 1 ? " leads to " : " lead to ") +
            (calls[i].image.empty() ? "unknown code" : printable(calls[i].image, kMaxPath));
  }
  return text;
}

}  // namespace mixwalk

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mixwalk {

// What locks of the runtime or the whole process a thread may hold that stands in an image, or in
// something that the image called.
enum class LockRisk : std::uint8_t {
  none,
  below_system_call,  // ntdll: any, unless the thread has gone into the system from its very top
  any,                // the runtime, its JIT and GC, the C runtime
};

// Where one loaded image stands, and its RUNTIME_FUNCTION table. Target addresses.
struct ModuleSpan {
  std::uint64_t base = 0;
  std::uint32_t size = 0;         // bytes, SizeOfImage
  std::uint32_t pdata_rva = 0;    // 0: the image has no exception directory
  std::uint32_t pdata_count = 0;  // RUNTIME_FUNCTION entries
  bool has_managed_code = false;  // a ReadyToRun image: .pdata AND managed code; the CLR must be
                                  // asked about an address here, the range alone says nothing

  LockRisk lock_risk = LockRisk::none;

  bool contains(std::uint64_t address) const noexcept { return address - base < size; }
};

// The loaded images of a target at one moment: immutable, sorted by base, disjoint. Frozen-safe.
// Does not own the spans; whoever built it (ModuleMap) keeps them alive.
class ModuleView {
 public:
  ModuleView() = default;
  explicit ModuleView(std::span<const ModuleSpan> sorted) noexcept : modules_(sorted) {}

  // Null where no image covers the address: jitted code, stubs, or nothing at all.
  const ModuleSpan* find(std::uint64_t address) const noexcept;

  std::span<const ModuleSpan> modules() const noexcept { return modules_; }

 private:
  std::span<const ModuleSpan> modules_;
};

}  // namespace mixwalk

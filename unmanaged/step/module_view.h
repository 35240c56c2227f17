#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mixwalk {

// Which locks of the runtime or of the whole process a thread may hold while it is in an image, or in a function that
// the image called.
enum class LockRisk : std::uint8_t {
  none,
  below_system_call,  // ntdll: any lock, unless the thread has entered a system call at its very top
  any,                // the runtime, its JIT and GC, the C runtime
};

// A part of an image that is executed, in RVAs; the end is exclusive.
struct CodeRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool operator==(const CodeRange&) const = default;
};

// Describes where one loaded image is, and its RUNTIME_FUNCTION table. Addresses are the target's.
struct ModuleSpan {
  std::uint64_t base = 0;
  std::uint32_t size = 0;         // bytes, SizeOfImage
  std::uint32_t pdata_rva = 0;    // 0 if the image has no exception directory
  std::uint32_t pdata_count = 0;  // RUNTIME_FUNCTION entries
  bool has_managed_code = false;  // a ReadyToRun image: it has .pdata AND managed code; the CLR must be asked about an
                                  // address in it, because the range alone does not tell which of the two it is
  bool closed = false;  // the program has closed or guarded pages of its headers, code or .pdata, so nothing of it is
                        // read and no frame of it is unwound
  bool starts_threads = false;  // a library of the system in which threads and fibers begin; only a frame in such a
                                // library is the root of a stack

  LockRisk lock_risk = LockRisk::none;

  // RVA of a function to which the runtime lets a thread return while a GC waits for the thread (is_return_trap); 0 if
  // none is known.
  std::uint32_t return_trap = 0;

  // The image's sections of code. Empty ranges are unused; if all are unused, any place in the image may be code.
  std::array<CodeRange, 4> code{};
  // Pages of the image's constants that the program has closed or guarded, in RVAs. Nothing reads them, since an access
  // to a guard page removes its guard. Empty ranges are unused.
  //
  // Folklore: Exploit Protection's Export Address Filtering guards the page of the exports of ntdll.dll, kernelbase.dll
  // and kernel32.dll, and tools against tampering do the like. (Microsoft Learn, "Exploit protection reference".) If
  // that closed these images, every stack would end in a gap. Test: live_modules_test, faults_test.
  std::array<CodeRange, 4> shut{};

  bool contains(std::uint64_t address) const noexcept { return address - base < size; }
  // Returns the range of code that holds the address, or an empty range if there is none.
  CodeRange code_around(std::uint64_t address) const noexcept;
  bool is_code(std::uint64_t address) const noexcept { return code_around(address).end != 0; }
  // Adds a range; if there is no free place, the last range is extended to include it.
  void add_code(CodeRange range) noexcept;
  // Adds a range of pages. Returns false if there is no free place.
  bool add_shut(CodeRange range) noexcept;
  // Whether these bytes, which begin in the image, may be read: the image is not closed, and none of them is in a page
  // that is shut.
  bool may_read(std::uint64_t address, std::size_t bytes) const noexcept;
  bool operator==(const ModuleSpan&) const = default;
};

// The loaded images of a target at one moment: immutable, sorted by base, disjoint. Frozen-safe. Does not own the
// spans; its creator (ModuleMap) keeps them alive.
class ModuleView {
 public:
  ModuleView() = default;
  explicit ModuleView(std::span<const ModuleSpan> sorted) noexcept : modules_(sorted) {}

  // Returns null if no image covers the address, which then lies in jitted code, stubs, or no memory at all.
  const ModuleSpan* find(std::uint64_t address) const noexcept;

  std::span<const ModuleSpan> modules() const noexcept { return modules_; }

 private:
  std::span<const ModuleSpan> modules_;
};

}  // namespace mixwalk

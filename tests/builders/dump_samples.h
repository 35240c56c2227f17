#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/builders/dump_builder.h"

namespace mixwalk::test {

// Returns an image file as the loader would lay it out in memory.
std::vector<std::byte> loaded(const std::vector<std::byte>& file);

// A process with two images that all samples and tests share: "C:\app\app.exe" and "C:\windows\ntdll.dll". Each has one
// function, at RVAs 0x1000 to 0x1080, whose frame is only its return address, and one export: "work" at 0x1000 of
// app.exe, "RtlUserThreadStart" at 0x1000 of ntdll.dll.
inline constexpr std::uint64_t kAppBase = 0x1'4000'0000, kNtdllBase = 0x1'8000'0000;
inline constexpr std::uint64_t kInApp = kAppBase + 0x1020, kInNtdll = kNtdllBase + 0x1020;
std::vector<std::byte> app_image();
std::vector<std::byte> ntdll_image();
// The thread's stack, which ends at kStackEnd, has these words at its top.
inline constexpr std::uint64_t kStackEnd = 0x20'1000;
std::vector<std::byte> stack_with(const std::vector<std::uint64_t>& words);
std::uint64_t stack_of(std::size_t words);  // the start of a stack with this many words

// A dump with both images in memory, and one thread at kInApp, whose caller is at kInNtdll.
DumpBuilder two_frames();

// A dump with a second thread, in code for which the program has registered a function table of this kind
// (FunctionTableList). Its caller is at kInApp. `info`: the RVA of its unwind data. `whole`: with the whole images.
inline constexpr std::uint64_t kRegisteredCode = 0x7000'0000, kRegisteredInfo = kRegisteredCode + 0xC0;
inline constexpr std::uint64_t kRegisteredEntries = 0x7100'0000;
DumpBuilder registered_code(std::uint32_t kind, std::uint32_t info = kRegisteredInfo - kRegisteredCode,
                            bool whole = true);

// What the system puts on the stack of a thread whose instruction at `rip` has raised a fault: the registers, and the
// record of the exception. `address`: the place that the record says.
struct DispatchedFault {
  std::uint32_t code = 0xC000'0005;
  std::uint64_t rip = kInApp, address = kInApp, rsp = 0;
  std::vector<std::uint64_t> parameters = {1, 0x40};

  std::vector<std::byte> bytes() const;
};

// Dumps for tests and for the corpora of fuzz targets, by name.
std::map<std::string, std::vector<std::byte>> dump_samples();

}  // namespace mixwalk::test

#include "tests/builders/dump_samples.h"

#include <algorithm>
#include <cstring>

#include "tests/builders/function_table_list.h"
#include "tests/builders/image_builder.h"

namespace mixwalk::test {
namespace {

std::uint32_t get32(const std::vector<std::byte>& file, std::size_t at) {
  std::uint32_t value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

ImageBuilder image_with(const std::string& name) {
  ImageBuilder image;
  image.function(0x1000, 0x1080).export_name(name, 0x1000);
  // There are calls before the return addresses that the samples use. They go through a register, so they may lead
  // anywhere.
  image.put_code(0x101E, {0xFF, 0xD0});
  return image;
}

}  // namespace

std::vector<std::byte> loaded(const std::vector<std::byte>& file) {
  constexpr std::size_t kSizeOfImageAt = ImageBuilder::kMagicAt + 56, kSizeOfHeadersAt = ImageBuilder::kMagicAt + 60;
  std::vector<std::byte> memory(get32(file, kSizeOfImageAt));
  const auto copy = [&](std::size_t from, std::size_t bytes, std::size_t to) {
    bytes = std::min({bytes, file.size() - std::min(from, file.size()), memory.size() - std::min(to, memory.size())});
    std::memcpy(memory.data() + to, file.data() + from, bytes);
  };
  const std::size_t sections = static_cast<std::size_t>(file[ImageBuilder::kSectionCountAt]);
  copy(0, std::max<std::size_t>(get32(file, kSizeOfHeadersAt), ImageBuilder::kSectionTableAt + 40 * sections), 0);
  for (std::size_t i = 0; i < sections; ++i) {
    const std::size_t at = ImageBuilder::kSectionTableAt + 40 * i;
    copy(get32(file, at + 20), get32(file, at + 16), get32(file, at + 12));
  }
  return memory;
}

std::vector<std::byte> app_image() { return image_with("work").code_view(7, 1, "C:\\build\\app.pdb").build(); }
std::vector<std::byte> ntdll_image() { return image_with("RtlUserThreadStart").build(); }

std::uint64_t stack_of(std::size_t words) { return kStackEnd - 8 * words; }

std::vector<std::byte> stack_with(const std::vector<std::uint64_t>& words) {
  ByteWriter bytes;
  for (const std::uint64_t word : words) bytes.u64(word);
  return bytes.bytes();
}

namespace {

// Adds only the parts of the image that are not zero, because a fuzzer works best with files of a few KiB.
void put_parts(DumpBuilder& dump, std::uint64_t base, const std::vector<std::byte>& image) {
  constexpr std::size_t kPart = 0x80;
  for (std::size_t at = 0; at < image.size(); at += kPart) {
    const auto begin = image.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = image.begin() + static_cast<std::ptrdiff_t>(std::min(at + kPart, image.size()));
    if (std::any_of(begin, end, [](std::byte byte) { return byte != std::byte{0}; })) {
      dump.memory(base + at, std::vector<std::byte>(begin, end));
    }
  }
}

DumpBuilder two_frames(bool whole, const std::vector<std::byte>& ntdll = loaded(ntdll_image())) {
  const auto app = loaded(app_image());
  DumpBuilder dump;
  dump.module(kAppBase, static_cast<std::uint32_t>(app.size()), ImageBuilder::kTimestamp, "C:\\app\\app.exe",
              DumpBuilder::rsds(7, 1, "C:\\build\\app.pdb"));
  dump.module(kNtdllBase, static_cast<std::uint32_t>(ntdll.size()), ImageBuilder::kTimestamp,
              "C:\\windows\\ntdll.dll");
  if (whole) {
    dump.memory(kAppBase, app).memory(kNtdllBase, ntdll);
  } else {
    put_parts(dump, kAppBase, app);
    put_parts(dump, kNtdllBase, ntdll);
  }
  dump.memory(stack_of(4), stack_with({kInNtdll, 0, 0, 0}));
  dump.thread({.id = 0x1A8, .stack = stack_of(4), .stack_bytes = 32,
               .registers = DumpBuilder::at(kInApp, stack_of(4)), .name = "Ada"});
  return dump;
}

// Adds a thread in code outside the images. Its frame has 40 bytes, and a word that looks like a return address.
void add_registered_code(DumpBuilder& dump, std::uint32_t info) {
  std::vector<std::byte> code(0x100, std::byte{0x90});
  // UNWIND_INFO: version 1; prologue of 4 bytes; one code, at 4: UWOP_ALLOC_SMALL of 40 bytes.
  constexpr std::uint8_t kInfo[] = {0x01, 4, 1, 0, 4, 0x42, 0, 0};
  std::memcpy(code.data() + (kRegisteredInfo - kRegisteredCode), kInfo, sizeof kInfo);
  constexpr std::uint32_t kBegin = 0x40, kEnd = 0x80;
  dump.memory(kRegisteredCode, code)
      .memory(kRegisteredEntries, FunctionTableList::entries({kBegin, kEnd, info}))
      .memory(0x30'0000, stack_with({0, kInNtdll, 0, 0, 0, kInApp, kInNtdll, 0}))
      .thread({.id = 2, .stack = 0x30'0000, .stack_bytes = 64,
               .registers = DumpBuilder::at(kRegisteredCode + 0x60, 0x30'0000)});
}

}  // namespace

DumpBuilder registered_code(std::uint32_t kind, std::uint32_t info, bool whole) {
  FunctionTableList list;
  list.add({kRegisteredEntries, kRegisteredCode, kRegisteredCode + 0xFF, kRegisteredCode, kind, 1});
  DumpBuilder dump = two_frames(whole, list.ntdll());
  dump.memory(FunctionTableList::kNodes, list.nodes());
  add_registered_code(dump, info);
  return dump;
}

DumpBuilder two_frames() { return two_frames(true); }

std::vector<std::byte> DispatchedFault::bytes() const {
  ByteWriter bytes;
  bytes.zeros(0x30).u32(0x10'000B).zeros(4).u16(0x33).zeros(0x3E);  // a CONTEXT, up to the registers
  bytes.u64(1).u64(2).u64(3).u64(4).u64(rsp).zeros(8 * 11).u64(rip).zeros(0x4F0 - 0x100);
  bytes.u32(code).u32(0).u64(0).u64(address).u32(parameters.size()).u32(0);
  for (const std::uint64_t parameter : parameters) bytes.u64(parameter);
  return bytes.zeros(std::max<std::size_t>(0x590, bytes.bytes().size()) - bytes.bytes().size()).bytes();
}

std::map<std::string, std::vector<std::byte>> dump_samples() {
  const auto two = two_frames(false);
  DumpBuilder all = two;
  all.unloaded(0x3'0000, 0x1000, 5, "gone.dll")
      .exception(0x1A8, 0xC0000005, 0x1234, DumpBuilder::at(kInApp, stack_of(4)))
      .misc(4711, 1'699'999'000)
      .region(kAppBase + 0x1000, 0x1000, 0x1000, 0x20)
      .region(stack_of(4), 32, 0x1000, 0x04)
      .memory32(0x5000, stack_with({1, 2, 3}));
  DumpBuilder outside = two;
  outside.memory(0x7000'0000, std::vector<std::byte>(0x100, std::byte{0x90}))
      .memory(0x30'0000, stack_with({0x30'0010, 0x7000'0042, kInApp, kInNtdll, 0}))
      .thread({.id = 2, .stack = 0x30'0000, .stack_bytes = 40,
               .registers = DumpBuilder::at(0x7000'0040, 0x30'0000, 0x30'0008)});
  DumpBuilder padded = two;
  padded.padded_lists();
  DumpBuilder unlisted = two;
  unlisted.exception(0x77, 0xC0000005, kInApp, DumpBuilder::at(kInApp, stack_of(4)), {1, 0});
  // Thrown by libstdc++: the object's header is at kThrown, its type's name is "3Bad".
  constexpr std::uint64_t kThrown = 0x60'0050;
  DumpBuilder thrown;
  ByteWriter object;
  object.u64(0x61'0000).zeros(72).u64(0x474E5543'432B2B00).zeros(56).u64(1).u64(0x61'0100);
  thrown.memory(0x60'0000, object.bytes())
      .memory(0x61'0000, ByteWriter().u64(1).u64(0x61'0020).u64(0x61'0040).zeros(8).text("3Bad").bytes())
      .memory(0x61'0040, ByteWriter().u64(1).u64(0x61'0060).u64(0).zeros(8).text("St13runtime_error").bytes())
      .memory(0x61'0100, ByteWriter().text("no stock").bytes())
      .exception(0x77, 0x20474343, kInApp, DumpBuilder::at(kInApp, stack_of(4)), {kThrown});
  DumpBuilder thrown_msvc;
  thrown_msvc.memory(0x61'0000, ByteWriter().u32(0).u32(0).u32(0).u32(0x20).zeros(16).u32(1).u32(0x30).zeros(8).u32(0)
                                    .u32(0x60).zeros(40).u64(0).u64(0).text(".?AVexception@std@@").bytes())
      .memory(0x60'0000, ByteWriter().u64(1).u64(0x61'0070).bytes())
      .exception(0x77, 0xE06D7363, kInApp, DumpBuilder::at(kInApp, stack_of(4)),
                 {0x19930520, 0x60'0000, 0x61'0000, 0x61'0000});
  DumpBuilder raised_anew = two;
  const std::uint64_t faulted = 0x30'0000;
  std::vector<std::byte> stack = DispatchedFault{.rsp = faulted + 0x5A0}.bytes();
  const std::vector<std::byte> callers = stack_with({0, 0, kInNtdll, 0});
  stack.insert(stack.end(), callers.begin(), callers.end());
  raised_anew.memory(faulted, stack).exception(0x77, 0xC0000005, 0x1234, DumpBuilder::at(kInApp, faulted));
  DumpBuilder small;
  small.thread({.id = 1, .stack = 0x1000, .stack_bytes = 16, .registers = DumpBuilder::at(0x10, 0x1000)})
      .memory32(0x1000, stack_with({0x20, 0x30}));
  return {{"two_frames", two.build()},
          {"all_streams", all.build()},
          {"outside", outside.build()},
          {"padded", padded.build()},
          {"registered",
           registered_code(FunctionTableList::kGrowable, kRegisteredInfo - kRegisteredCode, false).build()},
          {"raised_anew", raised_anew.build()},
          {"small", small.build()},
          {"unlisted", unlisted.build()},
          {"thrown", thrown.build()},
          {"thrown_msvc", thrown_msvc.build()}};
}

}  // namespace mixwalk::test

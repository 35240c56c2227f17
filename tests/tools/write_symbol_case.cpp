// Writes what tests/tools/mutated-symbols looks at: a recording (in.mixwalk) and a dump file (in.dmp) whose frames lie
// all over an image, and whose names come only from the files in the folder "sym".
// usage: write_symbol_case samples FOLDER     a folder for each kind of symbol file that tests make for themselves
//        write_symbol_case IMAGE FOLDER       for an image; the files in FOLDER/sym are put there by the caller
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "symbols/image_file.h"
#include "tests/builders/debug_image_builder.h"
#include "tests/builders/dump_builder.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/pdb_samples.h"
#include "tests/builders/portable_pdb_builder.h"
#include "tests/symbols/dwarf/dwarf_builder.h"
#include "unmanaged/image/debug_directory.h"
#include "walker/store/recording_writer.h"

using namespace mixwalk;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kBase = 0x1'8000'0000, kStacks = 0x20'0000;
constexpr std::size_t kMostAddresses = 64;
using Bytes = std::vector<std::byte>;

void put(const fs::path& path, const Bytes& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// In the middle of functions that .pdata has, from the first to the last; all over the code if it has only a few.
std::vector<std::uint32_t> addresses_of(const PeImage& image) {
  std::vector<std::uint32_t> rvas;
  const auto functions = image.functions();
  const std::size_t step = functions.size() / kMostAddresses + 1;
  for (std::size_t i = 0; i < functions.size(); i += step) rvas.push_back((functions[i].begin + functions[i].end) / 2);
  if (rvas.size() >= kMostAddresses / 4) return rvas;
  for (const PeSection& section : image.sections()) {
    const std::uint32_t gap = section.file_bytes / kMostAddresses + 1;
    if (!section.executable) continue;
    for (std::uint32_t at = 0; at < section.file_bytes; at += gap) rvas.push_back(section.rva + at);
  }
  return rvas;
}

Recording recording_of(const std::vector<Frame>& frames, std::vector<Module> modules,
                       std::vector<Assembly> assemblies) {
  Recording recording;
  recording.tool_version = "0.0.0";
  recording.unix_time_ms = 1'795'239'973'761;
  recording.event = SampleEvent::wall;
  recording.period_ns = 10'000'000;
  recording.process = {4711, "C:\\app\\app.exe", ""};
  recording.runtime = {".NET", 10, 0, 0, 0};
  recording.modules = std::move(modules);
  recording.assemblies = std::move(assemblies);
  recording.threads = {{1, 0, "main"}};
  recording.frames = frames;
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    recording.nodes.push_back({Recording::kNone, i});
    recording.samples.push_back({.time_ns = i * 1000, .value = 10, .thread = 0, .stack = i});
  }
  recording.duration_ns = 1'000'000;
  return recording;
}

bool put_recording(const fs::path& folder, const Recording& recording) {
  StringSink store;
  if (!write_store(recording, store)) return false;
  std::ofstream(folder / "in.mixwalk", std::ios::binary) << store.text;
  return true;
}

// A thread at each address, whose stack has only zeros.
bool put_native(const fs::path& folder, const std::string& name, const Bytes& file,
                const std::vector<std::uint32_t>& rvas) {
  const PeImage image = PeImage::parse(file);
  if (image.error() != PeError::none) return false;
  fs::create_directories(folder);
  const std::string path = "C:\\app\\" + name;
  const std::vector<DebugEntry> entries = debug_directory(file);
  const Module module{kBase, image.size_of_image(), image.timestamp(), path, code_view_id(entries, false)};
  std::vector<Frame> frames;
  for (const std::uint32_t rva : rvas) frames.push_back({.address = kBase + rva, .module = 0});

  const auto code_view = std::ranges::find(entries, DebugEntry::kCodeView, &DebugEntry::type);
  test::DumpBuilder dump;
  dump.module(kBase, image.size_of_image(), image.timestamp(), path,
              code_view == entries.end() ? Bytes() : Bytes(code_view->data.begin(), code_view->data.end()));
  constexpr std::uint64_t kStackBytes = 0x100;
  std::uint64_t stack = kStacks;
  for (std::uint32_t i = 0; i < rvas.size(); ++i, stack += kStackBytes) {
    dump.thread({.id = i + 1,
                 .stack = stack,
                 .stack_bytes = kStackBytes,
                 .registers = test::DumpBuilder::at(kBase + rvas[i], stack)});
    dump.memory(stack, Bytes(kStackBytes));
  }
  put(folder / "in.dmp", dump.build());
  return put_recording(folder, recording_of(frames, {module}, {}));
}

// Managed frames at the places of many methods.
bool put_managed(const fs::path& folder, const std::string& name, const CodeViewId& pdb) {
  fs::create_directories(folder);
  Assembly assembly{.path = "C:\\app\\" + name};
  assembly.pdb = pdb;
  std::vector<Frame> frames;
  for (std::uint32_t i = 0; i < kMostAddresses; ++i) {
    frames.push_back({.kind = FrameKind::managed,
                      .address = 0x1234 + i,
                      .name = "Program.Main()",
                      .il = {.assembly = 0, .method = 0x0600'0001 + i / 4, .offset = i % 4 * 5}});
  }
  return put_recording(folder, recording_of(frames, {}, {assembly}));
}

// A section of DWARF as objcopy --compress-debug-sections writes it.
std::vector<std::uint8_t> packed(const std::vector<std::uint8_t>& data) {
  test::TableWriter section;
  section.bytes({'Z', 'L', 'I', 'B', 0, 0, 0, 0});
  for (int shift = 24; shift >= 0; shift -= 8) section.u8(data.size() >> shift & 0xFF);
  std::vector<std::uint8_t> zipped(compressBound(data.size()));
  uLongf bytes = zipped.size();
  compress(zipped.data(), &bytes, data.data(), data.size());
  zipped.resize(bytes);
  return section.bytes(zipped).data();
}

bool put_samples(const fs::path& folder) {
  const Bytes image = test::ImageBuilder()
                          .function(0x1000, 0x1040)
                          .function(0x1040, 0x1050)
                          .function(0x1060, 0x1070)
                          .function(0x1070, 0x1076)
                          .function(0x1080, 0x1090)
                          .function(0x1098, 0x10A0)
                          .function(0x10A0, 0x10C0)
                          .code_view(7, 1, "D:\\build\\app.pdb")
                          .build();
  const std::vector<std::uint32_t> rvas = {0x1004, 0x1012, 0x1019, 0x1044, 0x1064, 0x1072, 0x1084, 0x1098, 0x10A4};
  const auto pdb = [&](const std::string& kind, const test::PdbBuilder& builder) {
    put(folder / kind / "sym" / "app.dll", image);
    put(folder / kind / "sym" / "app.pdb", builder.build());
    return put_native(folder / kind, "app.dll", image, rvas);
  };
  test::PdbBuilder scattered = test::pdb_of_all_kinds();
  scattered.scattered = true;
  scattered.named_stream("sourcelink$1", R"({"documents": {"b*": "https://example.org/*"}})");
  scattered.named_stream("srcsrv",
                         "SRCSRV: ini -\r\nVERSION=2\r\nSRCSRV: variables -\r\nhost=https://example.org\r\n"
                         "SRCSRVTRG=%host%/%var2%\r\nSRCSRV: source files -\r\na.cpp*sub\r\nSRCSRV: end -\r\n");
  bool done = pdb("pdb", test::pdb_of_all_kinds()) && pdb("pdb-scattered", scattered);

  // What stands at the beginning of a compressed container of a PDB.
  put(folder / "msfz/sym/app.dll", image);
  Bytes container = test::ByteWriter().text("Microsoft MSFZ Container\r\n\x1a" "ALD").zeros(100).bytes();
  put(folder / "msfz/sym/app.pdb", container);
  done = done && put_native(folder / "msfz", "app.dll", image, rvas);

  put(folder / "portable/sym/app.pdb", test::sample_portable_pdb().build());
  CodeViewId id{.age = 1, .timestamp = test::ImageBuilder::kTimestamp, .portable = true, .path = "app.pdb"};
  id.guid.fill(std::byte{7});
  done = done && put_managed(folder / "portable", "app.dll", id);

  const test::DwarfTables tables;
  const std::vector<std::uint32_t> in_dwarf = {0x1000, 0x1020, 0x1047, 0x1100, 0x1145};
  const auto debug = [&](const std::string& kind, const test::DebugImageBuilder& builder) {
    const Bytes file = builder.build();
    put(folder / kind / "sym/app.exe", file);
    return put_native(folder / kind, "app.exe", file, in_dwarf);
  };
  test::DebugImageBuilder dwarf, compressed, coff;
  tables.add_to(dwarf);
  compressed.section(".zdebug_abbrev", packed(tables.abbreviations.data()));
  compressed.section(".zdebug_info", packed(tables.info.data()));
  compressed.section(".zdebug_line", packed(tables.lines.data()));
  compressed.section(".debug_ranges", tables.ranges.data());
  coff.symbol("short", 1, 0x20).symbol("a_name_of_the_string_table", 1, 0x100).symbol(".file", -2, 0, 0, 103, 1);
  return done && debug("dwarf", dwarf) && debug("compressed", compressed) && debug("coff", coff);
}

}  // namespace

int main(int count, char** values) {
  if (count != 3) return std::fprintf(stderr, "usage: write_symbol_case samples|IMAGE FOLDER\n"), 2;
  const fs::path image = values[1], folder = values[2];
  if (image == "samples") return put_samples(folder) ? 0 : 1;
  std::ifstream in(image, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  const Bytes file(begin, begin + text.size());
  const std::string name = image.filename().string();
  const auto portable = code_view_id(debug_directory(file), true);
  const bool managed = portable && PeImage::parse(file).functions().empty();
  const bool done = managed ? put_managed(folder, name, *portable)
                            : put_native(folder, name, file, addresses_of(PeImage::parse(file)));
  if (!done) std::fprintf(stderr, "mixwalk: %s: not an image, or %s cannot be written\n", values[1], values[2]);
  return done ? 0 : 1;
}

#include "walker/cli/commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/builders/image_builder.h"
#include "tests/builders/pdb_samples.h"
#include "tests/builders/portable_pdb_builder.h"
#include "tests/builders/recordings.h"
#include "tests/support/golden.h"
#include "tests/support/remove_tree.h"
#include "walker/cli/local_symbols.h"
#include "walker/export/collapsed.h"
#include "walker/model/series.h"
#include "walker/naming/symbolise.h"
#include "walker/session/recording_collector.h"
#include "walker/store/recording_reader.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using test::ImageBuilder;

constexpr std::uint64_t kBase = 0x1'8000'0000;
constexpr const char* kImagePath = "C:\\app\\app.dll";
constexpr const char* kPdbPath = "C:\\app\\app.pdb";
constexpr const char* kManifest = "app.pdb,070707070707070707070707070707071,1\n";

using Bytes = std::vector<std::byte>;

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// An image with the functions of pdb_with_inlining(), and one more that only .pdata knows, with an export at its start.
Bytes image() {
  return ImageBuilder()
      .function(0x1000, 0x1040)
      .function(0x1040, 0x1050)
      .function(0x1080, 0x10a0)
      .function(0x10c0, 0x10e0)
      .export_name("exported", 0x10c0)
      .code_view(7, 1, "D:\\build\\app.pdb")
      .build();
}

class Files final : public ImageFiles {
 public:
  explicit Files(std::map<std::string, Bytes> files) : files_(std::move(files)) {}
  std::optional<Bytes> read(const std::string& path) override {
    const auto found = files_.find(path);
    return found == files_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, Bytes> files_;
};

// What a target sends: addresses, without names of native code.
Recording sent(const Assembly& assembly = {}) {
  Recording recording;
  recording.tool_version = "0.0.0";
  recording.unix_time_ms = 1'795'239'973'761;
  recording.event = SampleEvent::wall;
  recording.period_ns = 10'000'000;
  recording.process = {4711, "C:\\app\\app.exe", ""};
  recording.runtime = {".NET", 10, 0, 0, 0};
  const PeImage pe = PeImage::parse(image());
  recording.modules = {{kBase, pe.size_of_image(), pe.timestamp(), kImagePath},
                       {kBase + 0x1000'0000, 0x1000, 1, "C:\\gone\\gone.dll"}};
  recording.assemblies = {assembly};
  recording.threads = {{1, 0, "main"}, {2, 0xC0, "worker"}};
  recording.frames = {{.kind = FrameKind::managed,
                       .address = 0x1234,
                       .name = "Program.Main()",
                       .il = {.assembly = 0, .method = 0x0600'0001, .offset = 9}}};
  for (const std::uint32_t rva : {0x1004u, 0x1010u, 0x1044u, 0x1088u, 0x10c8u}) {
    recording.frames.push_back({.address = kBase + rva, .module = 0});
  }
  recording.frames.push_back({.address = kBase + 0x1000'0010, .module = 1});
  std::uint32_t parent = Recording::kNone;
  for (std::uint32_t frame = 0; frame < recording.frames.size(); ++frame) {
    recording.nodes.push_back({parent, frame});
    parent = frame;
  }
  for (std::uint32_t i = 0; i < 20; ++i) {
    recording.samples.push_back({.time_ns = i * 1000,
                                 .value = 10,
                                 .thread = i % 2,
                                 .stack = i % static_cast<std::uint32_t>(recording.nodes.size())});
  }
  recording.duration_ns = 20'000;
  return recording;
}

// Returns a recording of sent(), as `record` makes it if these files are there.
std::string recorded(const std::map<std::string, Bytes>& there, const Assembly& assembly = {}) {
  Files files(there);
  Symboliser symboliser(files, files);
  ImageIdentities identities(files);
  RecordingCollector collector(
      [&](Frame frame, const Module& module) {
        return symbolised(std::move(frame), module, symboliser);
      },
      {}, {[&](Module& module) { identify(module, identities); }, {}});
  StringSink target, file;
  RecordingWriter writer(target);
  writer.begin(sent(assembly));
  writer.end(sent(assembly));
  EXPECT_EQ(collector.add(target.text, true), "");
  Recording& recording = collector.recording();
  recording.tool_version = "0.0.0";
  RecordingWriter store(file);
  store.begin(recording);
  store.end(recording);
  return file.text;
}

Recording read(const std::string& bytes) {
  const ReadRecording read = read_recording(bytes);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.cut, (Cut{Cut::Kind::none, 0, read.cut.chunks}));
  return read.recording.value_or(Recording());
}

struct Result {
  ExitCode code = ExitCode::internal;
  std::string out, err;
};

class SymboliseCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_TRUE(remove_tree(folder_));
    fs::create_directories(folder_ / "sym");
  }
  void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void put(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  void put(const std::string& name, const Bytes& bytes) const { put(name, text_of(bytes)); }

  // Runs symbolise on "in.mixwalk" with the output "out.mixwalk".
  Result symbolise(const std::string& symbol_path,
                   const std::string& output = "out.mixwalk") const {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const ExitCode code = run(SymboliseCommand{path("in.mixwalk"), path(output), symbol_path});
    return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
  }
  Result symbolise() const { return symbolise(path("sym")); }
  Recording result(const std::string& name = "out.mixwalk") const {
    return read(file_text(path(name)));
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "mixwalk_symbolise_test";
};

TEST_F(SymboliseCommandTest, IsTheRecordingThatHadTheSymbols) {
  put("in.mixwalk", recorded({{kImagePath, image()}}));
  put("sym/app.dll", image());
  put("sym/app.pdb", test::pdb_with_inlining().build());
  const Result done = symbolise();
  EXPECT_EQ(done.code, ExitCode::ok) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_NE(done.err.find(": native frames in images with a name: 1 of 6 before, 4 now"), std::string::npos)
      << done.err;
  const Recording expected =
      read(recorded({{kImagePath, image()}, {kPdbPath, test::pdb_with_inlining().build()}}));
  const Recording found = result();
  ASSERT_EQ(found.frames.size(), expected.frames.size());
  for (std::size_t i = 0; i < expected.frames.size(); ++i) {
    EXPECT_EQ(found.frames[i], expected.frames[i])
        << i << ' ' << found.frames[i].name << " for " << expected.frames[i].name;
  }
  EXPECT_EQ(found, expected);
  const auto is_inlined = [](const Frame& frame) { return frame.inline_depth != 0; };
  EXPECT_TRUE(std::any_of(found.frames.begin(), found.frames.end(), is_inlined));
}

TEST_F(SymboliseCommandTest, APartThatCanBeReadNeverReplacesTheWhole) {
  put("in.mixwalk", recorded({{kImagePath, image()}}));
  fs::resize_file(path("in.mixwalk"), fs::file_size(path("in.mixwalk")) - 1);
  const std::string cut = file_text(path("in.mixwalk"));
  const Result onto_itself = symbolise(path("sym"), "in.mixwalk");
  EXPECT_EQ(onto_itself.code, ExitCode::output) << onto_itself.err;
  EXPECT_EQ(file_text(path("in.mixwalk")), cut);
  EXPECT_EQ(symbolise().code, ExitCode::ok);
}

TEST_F(SymboliseCommandTest, AgainIsTheSame) {
  put("in.mixwalk", recorded({{kImagePath, image()}}));
  put("sym/app.dll", image());
  put("sym/app.pdb", test::pdb_with_inlining().build());
  EXPECT_EQ(symbolise().code, ExitCode::ok);
  const std::string once = file_text(path("out.mixwalk"));
  put("in.mixwalk", once);
  EXPECT_EQ(symbolise().code, ExitCode::ok);
  EXPECT_EQ(file_text(path("out.mixwalk")), once);
}

TEST_F(SymboliseCommandTest, GoldenStacks) {
  put("in.mixwalk", recorded({{kImagePath, image()}}));
  put("sym/app.pdb/070707070707070707070707070707071/app.pdb", test::pdb_with_inlining().build());
  const Result done = symbolise("srv*" + path("sym"));
  EXPECT_EQ(done.code, ExitCode::ok) << done.err;
  StringSink text;
  write_collapsed(result(), text);
  expect_golden("symbolised.folded", text.text);
}

// The data of each dump's moment must stay with the dump: locks, and processor times.
TEST_F(SymboliseCommandTest, ASeriesStaysASeries) {
  const PeImage pe = PeImage::parse(image());
  std::vector<Snapshot> series(3);
  for (std::uint32_t i = 0; i < series.size(); ++i) {
    Snapshot& dump = series[i];
    dump.unix_time_ms = 1'795'239'973'761 + 10'000 * i;
    dump.process = {4711, "C:\\app\\app.exe", ""};
    dump.modules = {{kBase, pe.size_of_image(), pe.timestamp(), kImagePath}};
    dump.locks = {{.address = 0x1000 + i, .type = "System.Object", .owner = 1, .held = true, .waiters = {{2, false}}}};
    for (std::uint32_t id = 1; id <= 2; ++id) {
      Thread thread{.os_id = id, .name = "worker", .cpu = 100 * i + id};
      thread.stack.frames = {Frame{.address = kBase + (i == 2 ? 0x1044u : 0x1004u), .module = 0}};
      dump.threads.push_back(thread);
    }
  }
  StringSink stored;
  RecordingWriter store(stored);
  store.begin(series_recording(series));
  store.end(series_recording(series));
  put("in.mixwalk", stored.text);
  put("sym/app.dll", image());
  put("sym/app.pdb", test::pdb_with_inlining().build());
  const Result done = symbolise();
  EXPECT_EQ(done.code, ExitCode::ok) << done.err;
  const std::vector<Snapshot> found = to_series(result());
  ASSERT_EQ(found.size(), series.size());
  for (std::uint32_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(found[i].unix_time_ms, series[i].unix_time_ms);
    EXPECT_EQ(found[i].locks, series[i].locks);
    ASSERT_EQ(found[i].threads.size(), 2u);
    for (std::uint32_t id = 1; id <= 2; ++id) {
      const Thread& thread = found[i].threads[id - 1];
      EXPECT_EQ(thread.cpu, 100 * i + id);
      EXPECT_EQ(thread.stack.frames.back().name, i == 2 ? "next" : "ns::outer");
    }
  }
}

// .pdata is missing. Functions that only .pdata gives a name keep the name that they have, and no name is guessed.
TEST_F(SymboliseCommandTest, ByThePdbAloneAsFarAsThatIsCertain) {
  test::PdbBuilder pdb = test::pdb_with_inlining();
  // One symbol is at a function that .pdata has; the length of the other is not known.
  pdb.public_symbol("?certain@@YAXXZ", 0x80);
  pdb.public_symbol("?uncertain@@YAXXZ", 0xc0);
  const std::uint16_t module = pdb.module(test::PdbModuleBuilder(), "further.obj");
  pdb.contribution(module, 0x80, 0x20, true);
  pdb.contribution(module, 0xc0, 0x20, false);
  put("in.mixwalk", recorded({{kImagePath, image()}}));
  put("sym/app.pdb", pdb.build());
  const Result done = symbolise();
  EXPECT_EQ(done.code, ExitCode::ok) << done.err;
  std::map<std::uint64_t, std::string> names;
  for (const Frame& frame : result().frames) {
    if (frame.inline_depth == 0) names[frame.address - kBase] = frame.name;
  }
  EXPECT_EQ(names[0x1004], "ns::outer");
  EXPECT_EQ(names[0x1044], "next");
  EXPECT_EQ(names[0x1088], "certain()");
  EXPECT_EQ(names[0x10c8], "exported") << "an export that .pdata made certain";
}

TEST_F(SymboliseCommandTest, AnotherImagesPdbIsRefusedWithTheReason) {
  test::PdbBuilder other = test::pdb_with_inlining();
  other.guid = 9;
  put("in.mixwalk", recorded({{kImagePath, image()}}));
  put("sym/app.pdb", other.build());
  put("sym/app.dll", "MZ, but no image");
  const Result done = symbolise();
  EXPECT_EQ(done.code, ExitCode::ok);
  EXPECT_NE(done.err.find("app.pdb: the PDB belongs to another image (its GUID differs)\n"),
            std::string::npos)
      << done.err;
  EXPECT_EQ(done.out, kManifest);
  EXPECT_EQ(result(), read(file_text(path("in.mixwalk"))));
}

TEST_F(SymboliseCommandTest, WithoutAnySymbolsItIsTheSame) {
  for (const auto& there : {std::map<std::string, Bytes>{}, {{kImagePath, image()}}}) {
    put("in.mixwalk", recorded(there));
    const Result done = symbolise();
    EXPECT_EQ(done.code, ExitCode::ok) << done.err;
    EXPECT_EQ(file_text(path("out.mixwalk")), file_text(path("in.mixwalk")));
    EXPECT_EQ(done.out, there.empty() ? "" : kManifest);
    EXPECT_NE(done.err.find("the recording does not say which PDBs they have"), std::string::npos)
        << done.err;
  }
}

// The recording was made by an earlier mixwalk, which stored no ids.
TEST_F(SymboliseCommandTest, TheImageFoundElsewhereSaysWhichPdbItHas) {
  put("in.mixwalk", recorded({}));
  put("sym/APP.DLL", "something else");
  put("sym/app.dll", image());
  EXPECT_EQ(symbolise().code, ExitCode::ok);
  ASSERT_TRUE(result().modules[0].code_view);
  EXPECT_EQ(result().modules[0].code_view->path, "D:\\build\\app.pdb");
  EXPECT_EQ(result().frames[1].name, "sub_1000");
}

TEST_F(SymboliseCommandTest, LinesOfManagedCode) {
  Assembly assembly{.path = "C:\\app\\app.dll"};
  assembly.pdb = CodeViewId{
      .age = 1, .timestamp = ImageBuilder::kTimestamp, .portable = true, .path = "app.pdb"};
  assembly.pdb->guid.fill(std::byte{7});
  put("in.mixwalk", recorded({}, assembly));
  put("sym/app.pdb", test::sample_portable_pdb().build());
  const Result done = symbolise();
  EXPECT_NE(done.err.find("; managed frames with a line: 0 of 1 before, 1 now;"), std::string::npos) << done.err;
  EXPECT_EQ(result().frames[0].file, "C:\\Other.cs");
  EXPECT_EQ(result().frames[0].line, 11u);
}

TEST_F(SymboliseCommandTest, InPlace) {
  put("in.mixwalk", recorded({{kImagePath, image()}}));
  put("sym/app.pdb", test::pdb_with_inlining().build());
  const Result done = symbolise(path("sym"), "in.mixwalk");
  EXPECT_EQ(done.code, ExitCode::ok) << done.err;
  EXPECT_NE(done.err.find("in place of the file that was there"), std::string::npos) << done.err;
  EXPECT_EQ(result("in.mixwalk").frames[1].symbol, SymbolKind::pdb);
  EXPECT_FALSE(fs::exists(path("in.mixwalk.partial")));
}

// Otherwise the recording would be emptied before it is read to its end.
TEST_F(SymboliseCommandTest, AnotherNameOfTheRecordingIsRefused) {
  const std::string bytes = recorded({{kImagePath, image()}});
  put("in.mixwalk", bytes);
  std::error_code unsupported;
  fs::create_symlink(path("in.mixwalk"), path("link.mixwalk"), unsupported);
  if (unsupported) GTEST_SKIP() << "no symbolic links here";
  const Result done = symbolise(path("sym"), "link.mixwalk");
  EXPECT_EQ(done.code, ExitCode::output);
  EXPECT_NE(done.err.find("that would empty the recording that is read"), std::string::npos) << done.err;
  EXPECT_EQ(file_text(path("in.mixwalk")), bytes);
}

TEST_F(SymboliseCommandTest, OfACutRecordingWhatThereIs) {
  const std::string whole = recorded({{kImagePath, image()}});
  put("in.mixwalk", whole.substr(0, whole.size() - 9));
  const Result done = symbolise();
  EXPECT_EQ(done.code, ExitCode::ok);
  EXPECT_NE(done.err.find("in.mixwalk\": the recording was interrupted"), std::string::npos)
      << done.err;
  EXPECT_EQ(result().samples.size(), 20u);
}

TEST_F(SymboliseCommandTest, FilesThatAreNoRecordingAreOneLine) {
  const std::string whole = recorded({{kImagePath, image()}});
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += bytes < 80 ? 1 : 37) {
    put("in.mixwalk", whole.substr(0, bytes));
    const Result done = symbolise();
    EXPECT_TRUE(done.code == ExitCode::input || done.code == ExitCode::ok) << bytes;
    if (done.code == ExitCode::ok) continue;
    EXPECT_TRUE(done.err.starts_with("mixwalk: cannot read ")) << done.err;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    EXPECT_EQ(done.out, "");
  }
  fs::remove(path("out.mixwalk"));
  for (const std::string& hostile :
       {std::string(), std::string("PK\3\4"), std::string("\x0A\x07mixwal"),
        whole.substr(0, 9) + "\x12\xff\xff\xff\xff\x7f" + std::string(1000, 'x')}) {
    put("in.mixwalk", hostile);
    const Result done = symbolise();
    EXPECT_EQ(done.code, ExitCode::input) << done.err;
    EXPECT_FALSE(fs::exists(path("out.mixwalk")));
    EXPECT_FALSE(fs::exists(path("out.mixwalk.partial")));
  }
}

TEST_F(SymboliseCommandTest, PdbsThatAreDamagedNameNothingOrWhatTheyCan) {
  const std::string pdb = text_of(test::pdb_with_inlining().build());
  put("in.mixwalk", recorded({{kImagePath, image()}}));
  for (std::size_t bytes = 0; bytes < pdb.size(); bytes += 509) {
    put("sym/app.pdb", pdb.substr(0, bytes));
    EXPECT_EQ(symbolise().code, ExitCode::ok) << bytes;
    EXPECT_EQ(result().samples.size(), 20u);
  }
}

TEST_F(SymboliseCommandTest, WhatCannotBeWritten) {
  put("in.mixwalk", recorded({}));
  const Result done = symbolise(path("sym"), "no/such/folder");
  EXPECT_EQ(done.code, ExitCode::output);
  EXPECT_NE(done.err.find("cannot write"), std::string::npos) << done.err;
}

TEST(MissingAssemblies, TheTextNamesThemAndWhatHelps) {
  EXPECT_EQ(missing_assemblies_text({}), "");
  EXPECT_EQ(missing_assemblies_text({"Shop.dll"}),
            "the assembly Shop.dll is not in the dump, so its methods have no names; name its folder with "
            "--symbol-path");
  EXPECT_EQ(missing_assemblies_text({"1", "2", "3", "4", "5", "6\x1b", "7"}),
            "the assemblies 1, 2, 3, 4, 5 and 2 more are not in the dump, so their methods have no names; name their "
            "folders with --symbol-path");
  EXPECT_NE(missing_assemblies_text({"a\x1b"}).find("a\\x1b"), std::string::npos) << "the name comes from the dump";
}

TEST(MissingImages, TheTextNamesThemAndWhatHelps) {
  EXPECT_EQ(missing_images_text({}), "");
  EXPECT_EQ(missing_images_text({"ntdll.dll"}),
            "the unwind data of the image ntdll.dll is not in the dump, so stacks end in the image; name its folder "
            "with --symbol-path");
}

// A forged dump can have 100,000 of them.
TEST(OverlappingImages, TheyAreNamedInOneLine) {
  EXPECT_EQ(overlapping_images_text({}), "");
  EXPECT_EQ(overlapping_images_text({"C:\\a.dll"}),
            "an image is left out, because it overlaps another: C:\\a.dll");
  EXPECT_EQ(overlapping_images_text({"C:\\1", "2", "3", "4", "5", "6", "7"}),
            "7 images are left out, because they overlap others: 1, 2, 3, 4, 5 and 2 more");
}

}  // namespace
}  // namespace mixwalk

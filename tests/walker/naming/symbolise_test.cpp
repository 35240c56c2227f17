#include "walker/naming/symbolise.h"

#include <gtest/gtest.h>

#include "tests/builders/assembly_builder.h"
#include "tests/builders/fake_symboliser.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/portable_pdb_builder.h"
#include "tests/builders/snapshot_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

constexpr std::uint64_t kBase = 0x1'8000'0000;
constexpr std::uint32_t kCode = ImageBuilder::kCode;

class OneImage final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string&) override {
    return ImageBuilder().function(kCode, kCode + 0x40).build();
  }
};

// `outer` is at the start of the image's code, with two calls inlined into it. The rest of the code is named by .pdata.
class Inlining final : public SymbolSource {
 public:
  explicit Inlining(std::unique_ptr<SymbolSource> rest) : rest_(std::move(rest)) {}
  std::optional<Symbol> find(std::uint32_t rva) const override {
    if (native_aot) {
      Symbol symbol = Symbol::named(SymbolKind::none, "Orders.Client.Fetch(System.String)", kCode);
      symbol.managed = true;
      return symbol;
    }
    if (rva >= kCode + 0x20) return rest_->find(rva);
    return Symbol{SymbolKind::dwarf, kCode,
                  {{"inner", "in.h", 3, "https://example.org/in.h"}, {"middle", "in.h", 12}, {"outer", file, 40}},
                  folded};
  }
  static inline bool native_aot = false;
  static inline std::uint32_t folded = 1;
  static inline std::string file = "out.cpp";

 private:
  std::unique_ptr<SymbolSource> rest_;
};

class SymboliseTest : public testing::Test {
 protected:
  // Managed code called the native frame, and the native frame called managed code.
  SymboliseTest() {
    snapshot_.modules = {
        {kBase, ImageBuilder::kSizeOfImage, ImageBuilder::kTimestamp, "C:\\built.dll"}};
    Thread& thread = snapshot_.threads.emplace_back();
    thread.stack.frames = {managed(), native(kCode + 0x10), native(kCode + 0x30), managed(), native(kCode + 0x14)};
  }
  ~SymboliseTest() override {
    Inlining::native_aot = false;
    Inlining::folded = 1;
    Inlining::file = "out.cpp";
  }

  static Frame managed() { return {.kind = FrameKind::managed, .name = "M"}; }
  static StackFrame native(std::uint32_t rva) {
    return {{.address = kBase + rva, .module = 0}, rva};
  }
  std::string text() const {
    std::string text;
    for (const Frame& frame : snapshot_.threads[0].stack.frames) {
      text += frame.name + "@" + std::to_string(frame.inline_depth) + " ";
    }
    return text;
  }

  OneImage files_;
  test::FakeSymboliser symboliser_{files_, [this](const auto& file, const LoadedImage& image) {
    return std::make_unique<Inlining>(symboliser_.open_all(file, image));
  }};
  Snapshot snapshot_;
};

TEST_F(SymboliseTest, InlinedCallsLieAboveTheirFunction) {
  symbolise(snapshot_, symboliser_);
  EXPECT_EQ(text(), "M@0 inner@2 middle@1 outer@0 sub_1000@0 M@0 inner@2 middle@1 outer@0 ");
  const auto& frames = snapshot_.threads[0].stack.frames;
  EXPECT_EQ(frames[3].displacement, 0x10u);
  EXPECT_EQ(frames[3].file, "out.cpp");
  EXPECT_EQ(frames[3].source_url, "");
  EXPECT_EQ(frames[1].source_url, "https://example.org/in.h");
  EXPECT_EQ(frames[3].line, 40u);
  EXPECT_EQ(frames[3].symbol, SymbolKind::dwarf);
  EXPECT_EQ(frames[1].stack_pointer, frames[3].stack_pointer);
  EXPECT_EQ(frames[1].displacement, 0u);
  EXPECT_EQ(frames[4].displacement, 0x30u);
  EXPECT_EQ(frames[4].symbol, SymbolKind::function_table);
}

TEST_F(SymboliseTest, MethodsOfNativeAotAreManagedFrames) {
  Inlining::native_aot = true;
  symbolise(snapshot_, symboliser_);
  const StackFrame& frame = snapshot_.threads[0].stack.frames[1];
  EXPECT_EQ(frame.kind, FrameKind::managed);
  EXPECT_EQ(frame.name, "Orders.Client.Fetch(System.String)");
  EXPECT_EQ(frame.symbol, SymbolKind::none);
  EXPECT_EQ(frame.displacement, 0u);
  EXPECT_EQ(frame.module, 0);
}

TEST_F(SymboliseTest, RunsCountWhatWasInlined) {
  symbolise(snapshot_, symboliser_);
  const auto runs = snapshot_.threads[0].stack.runs();
  EXPECT_EQ(runs[0].first_frame, 1u);
  EXPECT_EQ(runs[0].frame_count, 4u);
  EXPECT_EQ(runs[1].first_frame, 6u);
  EXPECT_EQ(runs[1].frame_count, 3u);
}

TEST_F(SymboliseTest, FoldedFunctionsSayThatTheyAreSeveral) {
  Inlining::folded = 3;
  symbolise(snapshot_, symboliser_);
  const auto& frames = snapshot_.threads[0].stack.frames;
  EXPECT_EQ(frames[3].folded, 3u);
  EXPECT_EQ(frames[2].folded, 1u) << "what is inlined into it is one";
}

TEST_F(SymboliseTest, OfALongPathTheEndIsKept) {
  Inlining::file = std::string(100'000, 'd') + "/out.cpp";
  symbolise(snapshot_, symboliser_);
  const std::string& file = snapshot_.threads[0].stack.frames[3].file;
  EXPECT_EQ(file.size(), 4096u + 3);
  EXPECT_TRUE(file.starts_with("...ddd") && file.ends_with("d/out.cpp")) << file;
}

TEST_F(SymboliseTest, AStackHasNoMoreInlinedCallsThanTheFormatHasRoomFor) {
  auto& frames = snapshot_.threads[0].stack.frames;
  frames.assign(40'000, native(kCode + 0x10));
  symbolise(snapshot_, symboliser_);
  EXPECT_EQ(frames.size(), 40'000u + (1u << 15));
}

class OneAssembly final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    if (path == "C:\\app\\app.dll") return test::assembly_file({});
    if (path != "C:\\app\\app.pdb") return std::nullopt;
    auto pdb = test::sample_portable_pdb();
    pdb.source_link(R"({"documents": {"/src/*": "https://example.org/*"}})");
    return pdb.build();
  }
};

// Only code of an assembly that may be optimised has approximate lines.
TEST_F(SymboliseTest, LinesOfManagedFramesSayWhetherTheyAreApproximate) {
  Assembly release{.path = "C:\\app\\app.dll"};
  release.mvid.fill(std::byte{9});
  Assembly debug = release;
  debug.optimised = false;
  snapshot_.assemblies = {release, debug};
  auto& frames = snapshot_.threads[0].stack.frames;
  frames = {managed(), managed(), managed(), managed()};
  frames[0].il = {0, 0x06000001, 0};
  frames[1].il = {1, 0x06000001, 9};
  frames[2].il = {1, 0x06000002, 0};  // a method without lines
  OneAssembly files;
  ManagedLines lines(files, files, {});
  add_lines(snapshot_, lines);
  EXPECT_EQ(frames[0].file, "/src/app/Main.cs");
  EXPECT_EQ(frames[0].line, 10u);
  EXPECT_TRUE(frames[0].line_approximate);
  EXPECT_EQ(frames[0].source_url, "https://example.org/app/Main.cs");
  EXPECT_EQ(frames[1].file, "C:\\Other.cs");
  EXPECT_EQ(frames[1].line, 11u);
  EXPECT_FALSE(frames[1].line_approximate);
  EXPECT_EQ(frames[1].source_url, "");
  for (const std::size_t without : {2u, 3u}) {
    EXPECT_EQ(frames[without].file, "");
    EXPECT_EQ(frames[without].line, 0u);
    EXPECT_FALSE(frames[without].line_approximate);
  }
}

TEST_F(SymboliseTest, ARecordedFrameLikewise) {
  const Frame frame{.address = kBase + kCode + 4, .module = 0};
  const auto frames = symbolised(frame, snapshot_.modules[0], symboliser_);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].name, "inner");
  EXPECT_EQ(frames[0].inline_depth, 2);
  EXPECT_EQ(frames[2].name, "outer");
  EXPECT_EQ(frames[2].inline_depth, 0);
}

// Returns `frame` with the names from the fixture's symbols: DWARF up to kCode + 0x20, and only .pdata behind that.
std::string further(Frame frame, const Module& module, Symboliser& symboliser) {
  std::string text;
  for (const Frame& one : symbolised_further(frame, module, symboliser)) text += one.name + ' ';
  return text;
}

TEST_F(SymboliseTest, ANameThatStandsIsNotReplacedByALessCertainOne) {
  const Module& module = snapshot_.modules[0];
  Frame certain{.address = kBase + kCode + 4, .module = 0}, start{.address = kBase + kCode + 0x24, .module = 0};
  EXPECT_EQ(further(certain, module, symboliser_), "inner middle outer ");
  EXPECT_EQ(further(start, module, symboliser_), "sub_1000 ");
  for (const SymbolKind kind : {SymbolKind::function_table, SymbolKind::import, SymbolKind::exported,
                                SymbolKind::coff, SymbolKind::none}) {
    certain.name = start.name = "known";
    certain.symbol = start.symbol = kind;
    EXPECT_EQ(further(certain, module, symboliser_), "inner middle outer ") << static_cast<int>(kind);
    EXPECT_EQ(further(start, module, symboliser_), "known ") << static_cast<int>(kind);
  }
  certain.symbol = SymbolKind::pdb;
  EXPECT_EQ(further(certain, module, symboliser_), "inner middle outer ") << "a public symbol, without lines";
  certain.line = 7;
  EXPECT_EQ(further(certain, module, symboliser_), "known ");
  certain = {.inline_depth = 1, .address = kBase + kCode + 4, .module = 0, .name = "called"};
  EXPECT_EQ(further(certain, module, symboliser_), "called ");
}

}  // namespace
}  // namespace mixwalk

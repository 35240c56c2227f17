#include "symbols/pdb/pdb_symbols.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/builders/image_builder.h"
#include "tests/builders/pdb_samples.h"
#include "tests/support/lazy_index_peer.h"
#include "tests/symbols/pdb/pdb_files.h"

namespace mixwalk {
namespace {

using test::PdbBuilder;
using test::PdbModuleBuilder;

constexpr std::uint32_t kCode = PdbBuilder::kCode;

test::ImageBuilder image_of(std::uint8_t guid = 7, std::uint32_t age = 1) {
  test::ImageBuilder image;
  image.code_view(guid, age, "C:\\build\\app.pdb");
  return image;
}

OpenedPdb open(const PdbBuilder& pdb, const test::ImageBuilder& image = image_of()) {
  return open_pdb(std::make_shared<test::PdbInMemory>(pdb.build()),
                  std::make_shared<const ImageFile>("app.exe", image.build()));
}

// Returns "inner a.cpp:7 < outer b.cpp:3", with "(2)" behind it if two functions are folded.
std::string at(LazyIndex& index, std::uint32_t rva) {
  SourceLocation found;
  if (!index.find(rva, found)) return "unknown";
  std::ostringstream text;
  for (const SourceFrame& frame : found.frames) {
    if (&frame != &found.frames.front()) text << " < ";
    text << frame.name << ' ' << frame.file << ':' << frame.line;
  }
  if (found.folded != 1) text << " (" << found.folded << ')';
  return text.str();
}

void expect_inlining(LazyIndex& index) {
  EXPECT_EQ(at(index, kCode), "ns::outer a.cpp:3");
  EXPECT_EQ(at(index, kCode + 0xF), "ns::outer a.cpp:3");
  EXPECT_EQ(at(index, kCode + 0x10), "ns::detail::inner a.cpp:20 < ns::outer a.cpp:5");
  EXPECT_EQ(at(index, kCode + 0x18),
            "Box<int>::get b.h:50 < ns::detail::inner a.cpp:22 < ns::outer a.cpp:5");
  EXPECT_EQ(at(index, kCode + 0x1C), "ns::detail::inner a.cpp:22 < ns::outer a.cpp:5");
  EXPECT_EQ(at(index, kCode + 0x20), "ns::outer a.cpp:5");
  EXPECT_EQ(at(index, kCode + 0x30), "ns::outer a.cpp:0");  // a number that no line has
  EXPECT_EQ(at(index, kCode + 0x40), "next b.h:8");
  EXPECT_EQ(at(index, kCode + 0x50), "unknown");
  EXPECT_EQ(at(index, kCode - 1), "unknown");
}

TEST(PdbSymbolsTest, FunctionsInlinedCallsAndLines) {
  auto opened = open(test::pdb_with_inlining());
  ASSERT_EQ(opened.error, PdbError::none);
  expect_inlining(*opened.index);
}

TEST(PdbSymbolsTest, WebAddressesOfSourceFiles) {
  PdbBuilder pdb = test::pdb_with_inlining();
  EXPECT_EQ(open(pdb).index->source_url("a.cpp"), "");
  const std::string server = "SRCSRV: variables -\r\nSRCSRVTRG=https://example.org/old/%var2%\r\n"
                             "SRCSRV: source files -\r\na.cpp*a\r\nb.h*b\r\nSRCSRV: end -\r\n";
  pdb.named_stream("srcsrv", server);
  EXPECT_EQ(open(pdb).index->source_url("a.cpp"), "https://example.org/old/a");
  EXPECT_EQ(open(pdb).index->source_url("c.cpp"), "");
  EXPECT_EQ(open(pdb).index->source_url(""), "");
  // What the linker writes itself comes first, from each file that it was given.
  pdb.named_stream("sourcelink$1", R"({"documents": {"/src/*": "https://example.org/*"}})");
  pdb.named_stream("sourcelink$2", R"({"documents": {"b.h": "https://example.org/new/b.h"}})");
  auto opened = open(pdb);
  expect_inlining(*opened.index);
  EXPECT_EQ(opened.index->source_url("a.cpp"), "https://example.org/old/a");
  EXPECT_EQ(opened.index->source_url("b.h"), "https://example.org/new/b.h");
}

TEST(PdbSymbolsTest, ScatteredStreamsOfLargerBlocks) {
  PdbBuilder pdb = test::pdb_with_inlining();
  pdb.scattered = true;
  expect_inlining(*open(pdb).index);
  for (const std::uint32_t bytes : {4096u, 65'536u}) {
    pdb.block_bytes = bytes;
    expect_inlining(*open(pdb).index);
  }
}

TEST(PdbSymbolsTest, OnlyTheImagesOwnPdb) {
  const PdbBuilder pdb = test::pdb_with_inlining();
  EXPECT_EQ(open(pdb, image_of(8)).error, PdbError::other_guid);
  EXPECT_EQ(open(pdb, image_of(7, 2)).error, PdbError::other_age);
  EXPECT_EQ(open(pdb, test::ImageBuilder()).error, PdbError::no_image_id);
  // The PDB was written again after the link.
  PdbBuilder again = test::pdb_with_inlining();
  again.info_age = 5;
  EXPECT_EQ(open(again).error, PdbError::none);
  EXPECT_EQ(open_pdb(std::make_shared<test::PdbInMemory>(std::vector<std::byte>(100)),
                     std::make_shared<const ImageFile>("", image_of().build()))
                .error,
            PdbError::not_a_pdb);
  for (int error = 0; error <= static_cast<int>(PdbError::fast_link); ++error) {
    EXPECT_NE(to_string(static_cast<PdbError>(error)), "unknown error");
  }
}

TEST(PdbSymbolsTest, ModuleIsReadWhenItIsFirstAskedFor) {
  PdbBuilder pdb = test::empty_pdb();
  for (const std::uint32_t offset : {0u, 0x100u}) {
    PdbModuleBuilder module;
    module.procedure(offset == 0 ? "first" : "second", offset, 0x20);
    module.end();
    pdb.contribution(pdb.module(module), offset, 0x20);
  }
  auto opened = open(pdb);
  EXPECT_EQ(LazyIndexTestPeer::units_read(*opened.index), 0u);
  EXPECT_EQ(at(*opened.index, kCode + 0x100), "second :0");
  EXPECT_EQ(LazyIndexTestPeer::units_read(*opened.index), 1u);
  EXPECT_EQ(at(*opened.index, kCode + 0x1F), "first :0");
}

// The linker kept the code of one of three functions. The name, the inlined calls and the lines come from the module of
// that function; the data of the other modules about that code is not mixed in.
TEST(PdbSymbolsTest, FoldedFunctionsAreOneNameAndCounted) {
  PdbBuilder pdb = test::empty_pdb();
  const std::uint32_t a = pdb.text("a.cpp"), b = pdb.text("b.cpp");
  const std::uint32_t inner = pdb.function_id(0, "inner");
  PdbModuleBuilder kept, folded;
  kept.procedure("kept", 0, 0x20);
  kept.end();
  kept.lines(0, 0x20, kept.file(a), {{0, 3}});
  const std::uint32_t file = folded.file(b);
  folded.inlinee(inner, file, 30);
  for (const char* name : {"folded", "folded_too"}) {
    folded.procedure(name, 0, 0x20);
    folded.inline_site(inner, {0x03, 0x08, 0x04, 0x08});
    folded.end_inline();
    folded.end();
  }
  folded.procedure("own", 0x20, 0x10);
  folded.end();
  folded.lines(0, 0x20, file, {{0, 7}});
  pdb.contribution(pdb.module(kept), 0, 0x20);
  pdb.contribution(pdb.module(folded), 0x20, 0x10);
  pdb.public_symbol("?kept@@YAXXZ", 0);
  pdb.public_symbol("?folded@@YAXXZ", 0);
  pdb.public_symbol("?folded_too@@YAXXZ", 0);
  pdb.public_symbol("?own@@YAXXZ", 0x20);
  auto opened = open(pdb);
  EXPECT_EQ(at(*opened.index, kCode + 0x20), "own :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x8), "kept a.cpp:3 (3)");
}

TEST(PdbSymbolsTest, FunctionsFoldedInOneModule) {
  PdbBuilder pdb = test::empty_pdb();
  PdbModuleBuilder module;
  const std::uint32_t file = module.file(pdb.text("a.cpp"));
  for (const char* name : {"one", "two", "two"}) {  // the same name again is the same function
    module.procedure(name, 0, 0x20);
    module.end();
  }
  module.lines(0, 0x20, file, {{0, 1}});
  module.lines(0, 0x20, file, {{0, 2}});
  pdb.contribution(pdb.module(module), 0, 0x20);
  EXPECT_EQ(at(*open(pdb).index, kCode), "one a.cpp:1 (2)");
}

TEST(PdbSymbolsTest, TwoNamesOfOneConstructorAreOneFunction) {
  PdbBuilder pdb = test::empty_pdb();
  PdbModuleBuilder module;
  module.procedure("Box::Box", 0, 0x20);
  module.end();
  pdb.contribution(pdb.module(module), 0, 0x20);
  pdb.public_symbol("_ZN3BoxC1Ev", 0);
  pdb.public_symbol("_ZN3BoxC2Ev", 0);
  EXPECT_EQ(at(*open(pdb).index, kCode), "Box::Box :0");
}

// The name of a function has no parameters, but its public symbol has. Of several, only that of the function counts.
TEST(PdbSymbolsTest, PublicSymbolOfAFunction) {
  PdbBuilder pdb = test::empty_pdb();
  PdbModuleBuilder module;
  for (const auto& [name, offset] : {std::pair("ns::f", 0u), {"ns::f", 0x20u}, {"g<int>", 0x40u}, {"local", 0x60u}}) {
    module.procedure(name, offset, 0x20);
    module.end();
  }
  pdb.contribution(pdb.module(module), 0, 0x80);
  pdb.public_symbol("?f@ns@@YAXH@Z", 0);
  pdb.public_symbol("?f@ns@@YAXPEBD@Z", 0x20);
  pdb.public_symbol("?other@@YAXXZ", 0x20);
  pdb.public_symbol("_Z1gIiEvT_", 0x40);
  auto opened = open(pdb);
  const auto name_at = [&](std::uint32_t offset) {
    SourceLocation found;
    EXPECT_TRUE(opened.index->find(kCode + offset, found));
    return std::string(opened.index->linkage_name(found.entry, found.frames.back().name));
  };
  EXPECT_EQ(name_at(0x10), "?f@ns@@YAXH@Z");
  EXPECT_EQ(name_at(0x30), "?f@ns@@YAXPEBD@Z");
  EXPECT_EQ(name_at(0x50), "_Z1gIiEvT_");
  EXPECT_EQ(name_at(0x70), "");
}

TEST(PdbSymbolsTest, ThunksAndSeparatedCode) {
  PdbBuilder pdb = test::empty_pdb();
  const std::uint32_t a = pdb.text("a.cpp");
  PdbModuleBuilder module;
  const std::uint32_t file = module.file(a);
  module.separated(0x80, 0x10, 0);
  module.end();
  module.procedure("hot", 0, 0x20);
  module.end();
  module.thunk("jump", 0x30, 6);
  module.end();
  module.lines(0, 0x20, file, {{0, 3}});
  module.lines(0x80, 0x10, file, {{0, 4}});
  pdb.contribution(pdb.module(module), 0, 0x100);
  auto opened = open(pdb);
  EXPECT_EQ(at(*opened.index, kCode + 0x35), "jump :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x36), "unknown");
  EXPECT_EQ(at(*opened.index, kCode + 0x8F), "hot a.cpp:4");
  EXPECT_EQ(at(*opened.index, kCode + 0x90), "unknown");
}

TEST(PdbSymbolsTest, InlinedFromAnotherModule) {
  auto opened = open(test::pdb_of_all_kinds());
  // The first piece has no length, so it reaches to the next.
  EXPECT_EQ(at(*opened.index, kCode + 0xA0), "a::Box<b::c>::~Box<b::c> c.cpp:70 < optimised :0");
  EXPECT_EQ(at(*opened.index, kCode + 0xAF), "a::Box<b::c>::~Box<b::c> c.cpp:70 < optimised :0");
  EXPECT_EQ(at(*opened.index, kCode + 0xB7), "a::Box<b::c>::~Box<b::c> c.cpp:71 < optimised :0");
  EXPECT_EQ(at(*opened.index, kCode + 0xB8), "optimised :0");
}

TEST(PdbSymbolsTest, ImportsThatLeadNowhereAreNameless) {
  for (const std::uint32_t id : {0x80000002u, 0x80100000u, 0xFFFFFFFFu}) {
    PdbBuilder pdb = test::empty_pdb();
    PdbModuleBuilder module;
    module.inlinee(id, module.file(pdb.text("c.cpp")), 70);
    module.procedure("f", 0, 0x20);
    module.inline_site(id, {0x03, 0x00, 0x04, 0x08});
    module.end_inline();
    module.end();
    module.imports(pdb.text("gone.obj"), {1, 2});
    pdb.contribution(pdb.module(module), 0, 0x20);
    EXPECT_EQ(at(*open(pdb).index, kCode), " c.cpp:70 < f :0") << id;
  }
}

TEST(PdbSymbolsTest, TwoRowsAtOneAddress) {
  PdbBuilder pdb = test::empty_pdb();
  PdbModuleBuilder module;
  module.procedure("f", 0, 0x20);
  module.end();
  module.lines(0, 0x20, module.file(pdb.text("a.cpp")),
               {{0, 3}, {0, 4}, {0, 5}, {0x10, 6}, {0x10, 7}, {0x11, 8}, {0x1F, 9}, {0x1F, 10}});
  pdb.contribution(pdb.module(module), 0, 0x20);
  auto opened = open(pdb);
  EXPECT_EQ(at(*opened.index, kCode), "f a.cpp:3");
  EXPECT_EQ(at(*opened.index, kCode + 1), "f a.cpp:5");
  EXPECT_EQ(at(*opened.index, kCode + 0x10), "f a.cpp:6");
  EXPECT_EQ(at(*opened.index, kCode + 0x11), "f a.cpp:8");
  EXPECT_EQ(at(*opened.index, kCode + 0x1F), "f a.cpp:9");  // the last byte
}

// A public symbol has no length. It is bounded by .pdata, or by the certain extent of a leaf function.
TEST(PdbSymbolsTest, PublicSymbolsNameWhatIsCertain) {
  PdbBuilder pdb = test::empty_pdb();
  PdbModuleBuilder module;
  module.procedure("known", 0, 0x20);
  module.end();
  pdb.contribution(pdb.module(module), 0, 0x60);
  pdb.public_symbol("?known@@YAXXZ", 0);
  pdb.public_symbol("inside", 0x8);       // a label in the function
  pdb.public_symbol("unwound", 0x20);
  pdb.public_symbol("leaf", 0x40);
  pdb.public_symbol("elsewhere", 0x80);   // in no contribution
  pdb.public_symbol("elsewhere2", 0x80);
  pdb.public_symbol("middle", 0xA4);      // inside a function
  test::ImageBuilder image = image_of();
  image.function(kCode + 0x20, kCode + 0x38).function(kCode + 0xA0, kCode + 0xB0);
  image.put_code(kCode + 0x44, {0xC3});
  auto opened = open(pdb, image);
  EXPECT_EQ(at(*opened.index, kCode + 0x8), "known :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x37), "unwound :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x38), "unknown");
  EXPECT_EQ(at(*opened.index, kCode + 0x44), "leaf :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x45), "unknown");
  EXPECT_EQ(at(*opened.index, kCode + 0x88), "elsewhere :0 (2)");
  EXPECT_EQ(at(*opened.index, kCode + 0xA4), "unknown");
}

// An assembler does not mark functions. Its symbols may also be labels in functions, and data among the code.
TEST(PdbSymbolsTest, PublicSymbolsOfAssemblers) {
  PdbBuilder pdb = test::empty_pdb();
  pdb.contribution(pdb.module(PdbModuleBuilder()), 0, 0x100);
  pdb.public_symbol("asm_function", 0, 0);
  pdb.public_symbol("asm_function_alias", 0, 0);
  pdb.public_symbol("label", 0x10, 0);  // in the function
  pdb.public_symbol("asm_leaf", 0x20, 0);
  pdb.public_symbol("?run@Task@@QEAAXXZ", 0x30, 0);
  pdb.public_symbol("??_C@_05COLMCDPH@hello?$AA@", 0x40, 0);
  pdb.public_symbol("?table@@3HA", 0x50, 0);
  pdb.public_symbol("__xmm@0123456789abcdef", 0x60, 0);
  pdb.public_symbol("marked", 0x70);
  pdb.public_symbol("an_alias", 0x70, 0);
  pdb.public_symbol("in_data", 0x10'000, 0);
  test::ImageBuilder image = image_of();
  image.function(kCode, kCode + 0x18);
  for (const std::uint32_t offset : {0x24u, 0x34u, 0x44u, 0x54u, 0x64u, 0x74u}) {
    image.put_code(kCode + offset, {0xC3});
  }
  auto opened = open(pdb, image);
  EXPECT_EQ(at(*opened.index, kCode + 0x8), "asm_function :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x17), "asm_function :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x24), "asm_leaf :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x25), "unknown");
  EXPECT_EQ(at(*opened.index, kCode + 0x34), "?run@Task@@QEAAXXZ :0");
  for (const std::uint32_t offset : {0x41u, 0x51u, 0x61u}) EXPECT_EQ(at(*opened.index, kCode + offset), "unknown");
  EXPECT_EQ(at(*opened.index, kCode + 0x74), "marked :0");
  // Without the image, nothing tells such functions from labels and data.
  auto alone = open_pdb(std::make_shared<test::PdbInMemory>(pdb.build()),
                        *code_view_id(debug_directory(image.build()), false), 0x10'000);
  EXPECT_EQ(at(*alone.index, kCode + 0x8), "unknown");
}

// Of an image whose code was moved after the link, only the public symbols are translated.
TEST(PdbSymbolsTest, PublicSymbolsOfARearrangedImage) {
  PdbBuilder pdb = test::pdb_with_inlining();
  pdb.public_symbol("moved", 0x20);
  pdb.public_symbol("left_out", 0x40);
  pdb.rearrange(kCode + 0x80, kCode + 0x80);
  pdb.rearrange(kCode + 0x40, 0);
  pdb.rearrange(kCode + 0x10, kCode + 0x90);
  pdb.rearrange(kCode, kCode);
  test::ImageBuilder image = image_of();
  image.function(kCode + 0xA0, kCode + 0xB0).function(kCode + 0xC0, kCode + 0xD0);
  auto opened = open(pdb, image);
  ASSERT_EQ(opened.error, PdbError::none);
  EXPECT_EQ(opened.lacks, PdbError::rearranged);
  EXPECT_EQ(at(*opened.index, kCode + 0xA8), "moved :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x20), "unknown");
  EXPECT_EQ(at(*opened.index, kCode + 0xC0), "unknown");
}

TEST(PdbSymbolsTest, PdbOfAFastLinkSaysWhatItLacks) {
  PdbBuilder pdb = test::empty_pdb();
  EXPECT_EQ(open(pdb).lacks, PdbError::none);
  pdb.fast_link = true;
  pdb.public_symbol("known", 0x20);
  test::ImageBuilder image = image_of();
  image.function(kCode + 0x20, kCode + 0x30);
  auto opened = open(pdb, image);
  EXPECT_EQ(opened.lacks, PdbError::fast_link);
  EXPECT_EQ(at(*opened.index, kCode + 0x28), "known :0");
}

TEST(PdbSymbolsTest, PublicSymbolOfAComdatHasAllOfIt) {
  PdbBuilder pdb = test::empty_pdb();
  const std::uint16_t module = pdb.module(PdbModuleBuilder());
  pdb.contribution(module, 0, 0x20, true);
  pdb.contribution(module, 0x20, 0x20, true);
  pdb.contribution(module, 0x40, 0x20);
  pdb.public_symbol("whole", 0);
  pdb.public_symbol("first", 0x20);
  pdb.public_symbol("second", 0x30);  // no compiler puts two symbols into one contribution: the first ends where this
                                      // one begins
  pdb.public_symbol("plain", 0x40);
  test::ImageBuilder image = image_of();
  for (const std::uint32_t offset : {0x4u, 0x24u, 0x34u, 0x44u}) image.put_code(kCode + offset, {0xC3});
  auto opened = open(pdb, image);
  EXPECT_EQ(at(*opened.index, kCode + 0x1F), "whole :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x2F), "first :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x34), "second :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x35), "unknown");
  EXPECT_EQ(at(*opened.index, kCode + 0x44), "plain :0");
  EXPECT_EQ(at(*opened.index, kCode + 0x45), "unknown");
}

TEST(PdbSymbolsTest, CutOffAnywhereIsAnErrorOrLess) {
  const auto whole = test::pdb_with_inlining().build();
  const auto image = std::make_shared<const ImageFile>("", image_of().build());
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    auto opened = open_pdb(std::make_shared<test::PdbInMemory>(
                               std::vector<std::byte>(whole.begin(), whole.begin() + bytes)),
                           image);
    EXPECT_EQ(opened.index == nullptr, opened.error != PdbError::none);
    if (opened.index != nullptr) LazyIndexTestPeer::read_all(*opened.index);
  }
}

TEST(PdbSymbolsTest, WrongBytesAreNoCrash) {
  const auto whole = test::pdb_with_inlining().build();
  const auto image = std::make_shared<const ImageFile>("", image_of().build());
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    auto damaged = whole;
    damaged[i] = std::byte{0xFF};
    auto opened = open_pdb(std::make_shared<test::PdbInMemory>(std::move(damaged)), image);
    if (opened.index != nullptr) LazyIndexTestPeer::read_all(*opened.index);
  }
}

}  // namespace
}  // namespace mixwalk

#include "symbols/symboliser.h"

#include <gtest/gtest.h>

#include "tests/builders/fake_symboliser.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/pdb_samples.h"
#include "tests/symbols/native_aot/native_aot_builder.h"

namespace mixwalk {
namespace {

using test::FakeSymboliser;
using test::ImageBuilder;

constexpr std::uint64_t kBase = 0x7FF800000000;
constexpr std::uint32_t kCode = ImageBuilder::kCode;

class FakeImageFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    ++reads;
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
  std::map<std::string, std::vector<std::byte>> files;
  int reads = 0;
};

class SymboliserTest : public testing::Test {
 protected:
  SymboliserTest() {
    ImageBuilder builder;
    builder.function(kCode, kCode + 0x20).function(kCode + 0x20, kCode + 0x40);
    builder.export_name("First", kCode).export_name("Second", kCode + 0x20);
    files_.files["C:\\built.dll"] = builder.build();
  }

  static std::string text(const std::optional<NamedAddress>& found) {
    return found ? found->symbol.name() + "+" + std::to_string(found->displacement) : "";
  }
  std::string name(std::uint64_t address, AddressKind kind) {
    return text(symboliser_.name(image_, {address, kind}));
  }
  std::string name_at(std::uint64_t address) {
    return name(address, AddressKind::instruction_pointer);
  }

  FakeImageFiles files_;
  FakeSymboliser symboliser_{files_};
  LoadedImage image_{"C:\\built.dll", kBase, ImageBuilder::kSizeOfImage, ImageBuilder::kTimestamp};
};

TEST_F(SymboliserTest, InstructionPointerIsNamedByWhereItStands) {
  EXPECT_EQ(name_at(kBase + kCode), "First+0");
  EXPECT_EQ(name_at(kBase + kCode + 0x24), "Second+4");
  EXPECT_NE(symboliser_.file_of(image_), nullptr);
}

// The call at the end of First never returns, so its return address is Second's first byte.
TEST_F(SymboliserTest, ReturnAddressBehindAFunctionsEndIsStillItsOwn) {
  EXPECT_EQ(name(kBase + kCode + 0x20, AddressKind::return_address), "First+32");
  EXPECT_EQ(name_at(kBase + kCode + 0x20), "Second+0");
}

TEST_F(SymboliserTest, AddressOutsideTheImageHasNoName) {
  EXPECT_EQ(name_at(kBase - 1), "");
  EXPECT_EQ(name_at(kBase + ImageBuilder::kSizeOfImage + kCode), "");
  EXPECT_EQ(name_at(kBase + (1ull << 32) + kCode), "");
  EXPECT_EQ(name(0, AddressKind::return_address), "");
}

TEST_F(SymboliserTest, FileOfAnotherTimestampNamesNothing) {
  ++image_.timestamp;
  EXPECT_EQ(name_at(kBase + kCode), "");
  EXPECT_EQ(symboliser_.file_of(image_), nullptr);
}

TEST_F(SymboliserTest, FileOfAnotherSizeNamesNothing) {
  image_.size += 0x1000;
  EXPECT_EQ(name_at(kBase + kCode), "");
  EXPECT_EQ(symboliser_.file_of(image_), nullptr);
}

TEST_F(SymboliserTest, FileThatCannotBeReadNamesNothing) {
  image_.path = "C:\\gone.dll";
  EXPECT_EQ(name_at(kBase + kCode), "");
  EXPECT_EQ(symboliser_.file_of(image_), nullptr);
}

TEST_F(SymboliserTest, ImageWithoutAPathIsNotLookedFor) {
  image_.path = "";
  EXPECT_EQ(symboliser_.file_of(image_), nullptr);
  EXPECT_EQ(files_.reads, 0);
}

TEST_F(SymboliserTest, FileThatIsNoImageNamesNothing) {
  files_.files["C:\\built.dll"].resize(100);
  EXPECT_EQ(name_at(kBase + kCode), "");
  EXPECT_EQ(symboliser_.file_of(image_), nullptr);
}

TEST_F(SymboliserTest, ImageIsReadOnce) {
  name_at(kBase + kCode);
  name_at(kBase + kCode + 0x20);
  symboliser_.file_of(image_);
  EXPECT_EQ(files_.reads, 1);
}

TEST_F(SymboliserTest, UnreadableImageIsTriedOnce) {
  image_.path = "C:\\gone.dll";
  name_at(kBase + kCode);
  name_at(kBase + kCode);
  EXPECT_EQ(files_.reads, 1);
}

TEST_F(SymboliserTest, ImagesInFoldersThatTheUserNames) {
  const auto image = files_.files["C:\\built.dll"];
  files_.files.clear();
  files_.files["/sym/built.dll"] = std::vector<std::byte>(10);
  files_.files["/store/built.dll/5EED12348000/built.dll"] = image;
  FakeSymboliser symboliser(files_, parse_symbol_path("/sym;srv*/store"));
  EXPECT_EQ(text(symboliser.name(image_, {kBase + kCode, AddressKind::instruction_pointer})), "First+0");
  ++image_.timestamp;
  EXPECT_EQ(symboliser.file_of(image_), nullptr);
}

TEST_F(SymboliserTest, WithoutTheImageWhatKnowsItsPdbIsAsked) {
  std::vector<std::string> asked;
  FakeSymboliser symboliser(files_, [&](const auto& file, const LoadedImage& image) {
    if (file == nullptr) asked.push_back(image.path);
    return FakeSymboliser::exports(file, image);
  });
  symboliser.name(image_, {kBase + kCode, AddressKind::instruction_pointer});
  EXPECT_TRUE(asked.empty());
  image_.path = "C:\\gone.dll";
  EXPECT_FALSE(symboliser.name(image_, {kBase + kCode, AddressKind::instruction_pointer}));
  EXPECT_FALSE(symboliser.name(image_, {kBase + kCode, AddressKind::instruction_pointer}));
  EXPECT_EQ(asked, std::vector<std::string>{"C:\\gone.dll"});
}

// A source that needs this many bytes once it was asked.
class LargeSource final : public SymbolSource {
 public:
  std::optional<Symbol> find(std::uint32_t rva) const override { return Symbol::named(SymbolKind::pdb, "f", rva); }
  std::size_t bytes() const noexcept override { return 1'000'000; }
  static std::unique_ptr<SymbolSource> open(const std::shared_ptr<const ImageFile>&, const LoadedImage&) {
    return std::make_unique<LargeSource>();
  }
};

TEST_F(SymboliserTest, OfManyImagesThoseThatWereNotAskedForLongestAreLetGo) {
  constexpr std::size_t kBudget = 3'500'000;
  FakeSymboliser symboliser(files_, LargeSource::open, {}, kBudget);
  const auto ask = [&](int number) {
    LoadedImage image = image_;
    image.path = "C:\\" + std::to_string(number) + ".dll";
    files_.files[image.path] = files_.files["C:\\built.dll"];
    const int before = files_.reads;
    EXPECT_TRUE(symboliser.name(image, {kBase + kCode, AddressKind::instruction_pointer}));
    EXPECT_LE(symboliser.bytes(), kBudget);
    return files_.reads - before;
  };
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ask(i), 1);
  EXPECT_EQ(ask(99), 0);
  EXPECT_EQ(ask(97), 0);
  EXPECT_EQ(ask(0), 1) << "98 is let go for it, not 97";
  EXPECT_EQ(ask(97), 0);
  EXPECT_EQ(ask(98), 1);
}

TEST_F(SymboliserTest, OneImageThatIsLargerThanTheBudgetStaysWhileItIsAsked) {
  FakeSymboliser symboliser(files_, LargeSource::open, {}, 1000);
  for (int i = 0; i < 3; ++i) symboliser.name(image_, {kBase + kCode, AddressKind::instruction_pointer});
  EXPECT_EQ(files_.reads, 1);
}

// What the product itself opens.
std::optional<Symbol> symbol_at(const ImageBuilder& builder, std::uint32_t rva) {
  FakeImageFiles files;
  files.files["built.dll"] = builder.build();
  Symboliser symboliser(files, files);
  auto named = symboliser.name({"built.dll", kBase, ImageBuilder::kSizeOfImage, ImageBuilder::kTimestamp},
                               {kBase + rva, AddressKind::instruction_pointer});
  return named ? std::optional(std::move(named->symbol)) : std::nullopt;
}

std::string name_at(const ImageBuilder& builder, std::uint32_t rva) {
  const auto symbol = symbol_at(builder, rva);
  return symbol ? symbol->name() + "+" + std::to_string(rva - symbol->rva) : "";
}

TEST(SymbolsOfAnImage, AFunctionWithoutANameIsNamedAfterItsBegin) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20).function(kCode + 0x20, kCode + 0x40);
  EXPECT_EQ(name_at(builder, kCode), "sub_1000+0");
  EXPECT_EQ(name_at(builder, kCode + 0x1F), "sub_1000+31");
  EXPECT_EQ(name_at(builder, kCode + 0x20), "sub_1020+0");
  EXPECT_EQ(symbol_at(builder, kCode)->kind, SymbolKind::function_table);
}

TEST(SymbolsOfAnImage, APartBehindItsFunctionHasTheFunctionsName) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x10).function(kCode + 0x10, kCode + 0x20);
  builder.chained(kCode + 0x40, kCode + 0x50, kCode, kCode + 0x10);
  EXPECT_EQ(name_at(builder, kCode + 0x44), "sub_1000+68");
}

TEST(SymbolsOfAnImage, APartInFrontOfItsFunctionIsNamedAfterItself) {
  ImageBuilder builder;
  builder.chained(kCode, kCode + 0x10, kCode + 0x40, kCode + 0x50);
  builder.function(kCode + 0x40, kCode + 0x50);
  EXPECT_EQ(name_at(builder, kCode + 4), "sub_1000+4");
}

TEST(SymbolsOfAnImage, CodeThatNothingNamesAndNoTableHasIsNoSymbol) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20);
  EXPECT_EQ(name_at(builder, kCode + 0x20), "");
}

TEST(SymbolsOfAnImage, AnExportIsNamedWholly) {
  ImageBuilder builder;
  builder.function(kCode, kCode + 0x20).export_name("?submit@Orders@@QEAAXH@Z", kCode);
  EXPECT_EQ(name_at(builder, kCode + 4), "Orders::submit(int)+4");
  EXPECT_EQ(symbol_at(builder, kCode)->kind, SymbolKind::exported);
}

// A program of NativeAOT: Orders.Client.Fetch at the start of its code, and behind it code of the runtime.
class NativeAotProgram : public testing::Test {
 protected:
  enum class Map { whole, damaged, none };
  enum class Exports { debug_header, nothing };

  static std::vector<std::byte> image(Map kind, Exports exports = Exports::debug_header) {
    constexpr std::uint32_t kHeader = ImageBuilder::kDebug + 2 * 28;  // behind two entries of the debug directory
    constexpr std::uint32_t kMetadata = kHeader + 16 + 2 * 24, kMapSection = 327, kOtherSection = 326;
    test::NativeAotBuilder built;
    const auto type = built.type("Client", built.space("Orders"));
    const std::uint32_t name = built.text("Fetch"), signature = built.signature({});
    const std::vector<std::byte> metadata = built.metadata();
    const auto map_rva = kMetadata + static_cast<std::uint32_t>(metadata.size());
    built.method(static_cast<std::int32_t>(kCode - map_rva - 4), type, name, signature);
    std::vector<std::byte> map = built.map();
    if (kind == Map::damaged) map.pop_back();
    test::ByteWriter data;
    data.u32(0x00525452).u16(16).u16(0).u32(0).u16(2).u8(24).u8(1);
    data.u32(313).u32(0).u64(kMetadata).u64(map_rva);
    data.u32(kind == Map::none ? kOtherSection : kMapSection).u32(0).u64(map_rva).u64(map_rva + map.size());
    data.append(metadata).append(map);
    std::vector<std::uint8_t> bytes;
    for (const std::byte one : data.bytes()) bytes.push_back(std::to_integer<std::uint8_t>(one));
    ImageBuilder builder;
    builder.function(kCode, kCode + 0x20).function(kCode + 0x20, kCode + 0x40);
    if (exports == Exports::debug_header) builder.export_name("DotNetRuntimeDebugHeader", ImageBuilder::kData);
    builder.debug_entry(100, 0, bytes).code_view(7, 1, "D:\\build\\app.pdb");
    return builder.build();
  }
  static std::vector<std::byte> pdb() {
    test::PdbBuilder pdb = test::empty_pdb();
    test::PdbModuleBuilder module;
    module.procedure("Orders_Client__Fetch", 0, 0x20);
    module.end();
    module.procedure("RhpNewFast", 0x20, 0x20);
    module.end();
    module.lines(0, 0x20, module.file(pdb.text("Client.cs")), {{0, 7}});
    pdb.contribution(pdb.module(module), 0, 0x40);
    return pdb.build();
  }

  void open(std::vector<std::byte> image) {
    size_ = PeImage::parse(image).size_of_image();
    files_.files["C:\\app.exe"] = std::move(image);
  }
  Symbol symbol_at(std::uint32_t rva) {
    const auto named = symboliser_->name({"C:\\app.exe", kBase, size_, ImageBuilder::kTimestamp},
                                        {kBase + rva, AddressKind::instruction_pointer});
    return named ? named->symbol : Symbol::named(SymbolKind::none, "", 0);
  }

  FakeImageFiles files_;
  std::optional<Symboliser> symboliser_{std::in_place, files_, files_};
  std::uint32_t size_ = 0;
};

TEST_F(NativeAotProgram, MethodsAreNamedByItsMap) {
  open(image(Map::whole));
  const Symbol method = symbol_at(kCode + 4);
  EXPECT_EQ(method.name(), "Orders.Client.Fetch()");
  EXPECT_TRUE(method.managed);
  EXPECT_EQ(method.kind, SymbolKind::none);
  EXPECT_EQ(method.rva, kCode);
  EXPECT_EQ(symbol_at(kCode + 0x24).name(), "sub_1020");
  EXPECT_FALSE(symbol_at(kCode + 0x24).managed);
  EXPECT_TRUE(symboliser_->problems().empty());
}

TEST_F(NativeAotProgram, WithItsPdbMethodsAreTheSameAndHaveLines) {
  open(image(Map::whole));
  files_.files["C:\\app.pdb"] = pdb();
  const Symbol method = symbol_at(kCode + 4);
  EXPECT_EQ(method.name(), "Orders.Client.Fetch()");
  EXPECT_TRUE(method.managed);
  EXPECT_EQ(method.frames.back().file, "Client.cs");
  EXPECT_EQ(method.frames.back().line, 7u);
  const Symbol runtime = symbol_at(kCode + 0x24);
  EXPECT_EQ(runtime.name(), "RhpNewFast");
  EXPECT_EQ(runtime.kind, SymbolKind::pdb);
  EXPECT_FALSE(runtime.managed);
}

TEST_F(NativeAotProgram, ThatHasNoMapOrADamagedOneSaysSoUnlessThereIsAPdb) {
  const std::pair<Map, std::string> kinds[] = {
      {Map::none, "C:\\app.exe: most of its methods have no names without its PDB, because it was built with "
                  "StackTraceSupport=false"},
      {Map::damaged, "C:\\app.exe: the map of its methods is damaged, so some of them have no names without its PDB"}};
  for (const auto& [kind, problem] : kinds) {
    files_.files.clear();
    open(image(kind));
    EXPECT_EQ(symbol_at(kCode + 4).name(), "sub_1000");
    EXPECT_EQ(symboliser_->problems(), std::vector{problem});
    symboliser_.emplace(files_, files_);
    files_.files["C:\\app.pdb"] = pdb();
    EXPECT_EQ(symbol_at(kCode + 4).name(), "Orders_Client__Fetch");
    EXPECT_TRUE(symboliser_->problems().empty());
    symboliser_.emplace(files_, files_);
  }
}

TEST_F(NativeAotProgram, WithoutTheExportForDebuggersItIsNone) {
  open(image(Map::whole, Exports::nothing));
  EXPECT_EQ(symbol_at(kCode + 4).name(), "sub_1000");
}

}  // namespace
}  // namespace mixwalk

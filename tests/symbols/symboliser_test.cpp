#include "symbols/symboliser.h"

#include <gtest/gtest.h>

#include "tests/support/image_builder.h"

namespace mixwalk {
namespace {

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
  Symboliser symboliser_{files_, {open_exports}};
  LoadedImage image_{"C:\\built.dll", kBase, ImageBuilder::kSizeOfImage, ImageBuilder::kTimestamp};
};

TEST_F(SymboliserTest, InstructionPointerIsNamedByWhereItStands) {
  EXPECT_EQ(name_at(kBase + kCode), "First+0");
  EXPECT_EQ(name_at(kBase + kCode + 0x24), "Second+4");
  EXPECT_EQ(symboliser_.symbols_of(image_), ImageSymbols::found);
}

// The call that ends First never returns; its return address is Second's first byte.
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
  EXPECT_EQ(symboliser_.symbols_of(image_), ImageSymbols::other_image);
}

TEST_F(SymboliserTest, FileOfAnotherSizeNamesNothing) {
  image_.size += 0x1000;
  EXPECT_EQ(name_at(kBase + kCode), "");
  EXPECT_EQ(symboliser_.symbols_of(image_), ImageSymbols::other_image);
}

TEST_F(SymboliserTest, FileThatCannotBeReadNamesNothing) {
  image_.path = "C:\\gone.dll";
  EXPECT_EQ(name_at(kBase + kCode), "");
  EXPECT_EQ(symboliser_.symbols_of(image_), ImageSymbols::unreadable);
}

TEST_F(SymboliserTest, ImageWithoutAPathIsNotLookedFor) {
  image_.path = "";
  EXPECT_EQ(symboliser_.symbols_of(image_), ImageSymbols::unreadable);
  EXPECT_EQ(files_.reads, 0);
}

TEST_F(SymboliserTest, FileThatIsNoImageNamesNothing) {
  files_.files["C:\\built.dll"].resize(100);
  EXPECT_EQ(name_at(kBase + kCode), "");
  EXPECT_EQ(symboliser_.symbols_of(image_), ImageSymbols::not_an_image);
}

TEST_F(SymboliserTest, ImageIsReadOnce) {
  name_at(kBase + kCode);
  name_at(kBase + kCode + 0x20);
  symboliser_.symbols_of(image_);
  EXPECT_EQ(files_.reads, 1);
}

TEST_F(SymboliserTest, UnreadableImageIsTriedOnce) {
  image_.path = "C:\\gone.dll";
  name_at(kBase + kCode);
  name_at(kBase + kCode);
  EXPECT_EQ(files_.reads, 1);
}

TEST_F(SymboliserTest, FirstSourceThatKnowsAnAddressNamesIt) {
  struct Precise final : SymbolSource {
    std::optional<Symbol> find(std::uint32_t rva) const override {
      if (rva < kCode + 0x20) return std::nullopt;
      return Symbol::named(SymbolKind::pdb, "static_function", kCode + 0x20);
    }
  };
  const OpenSource absent = [](std::shared_ptr<const ImageFile>) {
    return std::unique_ptr<SymbolSource>();
  };
  const OpenSource precise = [](std::shared_ptr<const ImageFile>) {
    return std::unique_ptr<SymbolSource>(std::make_unique<Precise>());
  };
  Symboliser symboliser(files_, {absent, precise, open_exports});
  EXPECT_EQ(text(symboliser.name(image_, {kBase + kCode + 1})), "First+1");
  EXPECT_EQ(text(symboliser.name(image_, {kBase + kCode + 0x21})), "static_function+1");
}

TEST_F(SymboliserTest, EveryStateHasWords) {
  for (int state = 0; state <= static_cast<int>(ImageSymbols::other_image); ++state) {
    EXPECT_NE(to_string(static_cast<ImageSymbols>(state)), "unknown state") << state;
  }
}

}  // namespace
}  // namespace mixwalk

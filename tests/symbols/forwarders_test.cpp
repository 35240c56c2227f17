#include "symbols/forwarders.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "tests/support/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

class FakeImages final : public ImageLookup {
 public:
  void add(const std::string& module, const ImageBuilder& builder) {
    files_.push_back(builder.build());
    images_.emplace(module, PeImage::parse(files_.back()));
  }
  const PeImage* image(std::string_view module) const override {
    const auto found = images_.find(std::string(module));
    return found == images_.end() ? nullptr : &found->second;
  }

 private:
  std::deque<std::vector<std::byte>> files_;
  std::map<std::string, PeImage> images_;
};

TEST(ForwardersTest, NameLeadsToTheOtherModulesFunction) {
  FakeImages images;
  images.add("NTDLL.dll", ImageBuilder().export_name("RtlFree", ImageBuilder::kCode + 8));
  const auto target = forwarder_target("NTDLL.RtlFree", images);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->module, "NTDLL.dll");
  EXPECT_EQ(target->name, "RtlFree");
  EXPECT_EQ(target->rva, ImageBuilder::kCode + 8);
}

TEST(ForwardersTest, OrdinalLeadsToTheOtherModulesFunction) {
  FakeImages images;
  images.add("OTHER.dll", ImageBuilder().export_ordinal(ImageBuilder::kCode));
  const auto target = forwarder_target("OTHER.#5", images);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->ordinal, 5u);
  EXPECT_EQ(target->name, "");
}

TEST(ForwardersTest, ForwarderToAForwarderIsFollowed) {
  FakeImages images;
  images.add("kernel32.dll", ImageBuilder().forward("A", "kernelbase.B"));
  images.add("kernelbase.dll", ImageBuilder().forward("B", "ntdll.#5"));
  images.add("ntdll.dll", ImageBuilder().export_name("C", ImageBuilder::kCode));
  const auto target = forwarder_target("kernel32.A", images);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->module, "ntdll.dll");
  EXPECT_EQ(target->name, "C");
}

TEST(ForwardersTest, CircleEnds) {
  FakeImages images;
  images.add("a.dll", ImageBuilder().forward("F", "b.G"));
  images.add("b.dll", ImageBuilder().forward("G", "a.F"));
  EXPECT_FALSE(forwarder_target("a.F", images));
}

TEST(ForwardersTest, ModuleWithAnExtensionKeepsIt) {
  FakeImages images;
  images.add("winspool.drv", ImageBuilder().export_name("Open", ImageBuilder::kCode));
  EXPECT_TRUE(forwarder_target("winspool.drv.Open", images));
}

TEST(ForwardersTest, UnknownModuleOrExportIsNothing) {
  FakeImages images;
  images.add("a.dll", ImageBuilder().export_name("F", ImageBuilder::kCode));
  EXPECT_FALSE(forwarder_target("b.F", images));
  EXPECT_FALSE(forwarder_target("a.G", images));
  EXPECT_FALSE(forwarder_target("a.#6", images));
}

TEST(ForwardersTest, TextThatIsNoForwarderIsNothing) {
  FakeImages images;
  images.add("a.dll", ImageBuilder().export_name("F", ImageBuilder::kCode));
  for (const char* text : {"", ".", "a", "a.", ".F", "a.#", "a.#5x", "a.#99999999999"}) {
    EXPECT_FALSE(forwarder_target(text, images)) << text;
  }
}

}  // namespace
}  // namespace mixwalk

#include "symbols/win/clr_metadata_source.h"

#include <gtest/gtest.h>

#include "tests/symbols/win/fake_clr.h"

namespace mixwalk {
namespace {

constexpr std::uint8_t kVoid = 0x01, kInt32 = 0x08, kString = 0x0E, kClass = 0x12, kVar = 0x13,
                       kMVar = 0x1E, kHasThis = 0x20, kGeneric = 0x10;
constexpr ULONG32 kProgram = 0x02000001, kOuter = 0x02000002, kInner = 0x02000003,
                  kIntType = 0x02000004, kCanon = 0x02000005, kElsewhere = 0x01000001,
                  kElsewhereInner = 0x01000002, kAssembly = 0x23000001;
constexpr clr::ClassID kProgramClass = 0x100, kInnerClass = 0x200, kIntClass = 0x300,
                       kCanonClass = 0x400, kArrayClass = 0x500;

class ClrMetadataSourceTest : public testing::Test {
 protected:
  ClrMetadataSourceTest() {
    clr_.metadata.types = {
        {kProgram, {L"App.Program"}},
        {kOuter, {L"App.Outer`1"}},
        {kInner, {L"Inner`1", kOuter}},
        {kIntType, {L"System.Int32"}},
        {kCanon, {L"System.__Canon"}},
        {kElsewhere, {L"Lib.Type", kAssembly}},
        {kElsewhereInner, {L"Nested", kElsewhere}},
    };
    clr_.classes = {{kProgramClass, {kProgram}},
                    {kIntClass, {kIntType}},
                    {kCanonClass, {kCanon}},
                    {kInnerClass, {kInner, {kIntClass, kCanonClass}}}};
  }
  ~ClrMetadataSourceTest() override { EXPECT_EQ(clr_.metadata.references, 0); }

  void add(clr::FunctionID id, test::FakeClr::Function function,
           test::FakeMetadata::Method method) {
    clr_.metadata.methods[function.method] = std::move(method);
    clr_.functions[id] = std::move(function);
  }
  std::string name(clr::FunctionID id) { return source_.name(id).text; }

  test::FakeClr clr_;
  ClrMetadataSource source_{clr_.info(), clr_.info8()};
};

TEST_F(ClrMetadataSourceTest, PlainMethodHasItsTypeAndParameters) {
  add(1, {kProgramClass, 0x06000001}, {L"Main", kProgram, {0, 2, kVoid, 0x1D, kString, kInt32}});
  EXPECT_EQ(name(1), "App.Program.Main(System.String[], System.Int32)");
  EXPECT_FALSE(source_.name(1).stub);
}

TEST_F(ClrMetadataSourceTest, GenericArgumentsOfTypeAndMethodAreThere) {
  add(1, {kInnerClass, 0x06000001, {kProgramClass}},
      {L"Work", kInner, {kHasThis | kGeneric, 1, 3, kVoid, kVar, 0, kVar, 1, kMVar, 0}});
  EXPECT_EQ(name(1),
            "App.Outer<System.Int32>+Inner<System.__Canon>.Work<App.Program>"
            "(System.Int32, System.__Canon, App.Program)");
}

TEST_F(ClrMetadataSourceTest, ArrayIsAnArgument) {
  clr_.classes[kArrayClass] = {.rank = 1, .element = kProgramClass};
  clr_.classes[kArrayClass + 1] = {.rank = 2, .element_kind = kInt32};
  clr_.classes[kArrayClass + 2] = {.rank = 1, .element = kArrayClass + 1};
  add(1, {kProgramClass, 0x06000001, {kArrayClass, kArrayClass + 1, kArrayClass + 2}},
      {L"M", kProgram, {kGeneric, 3, 0, kVoid}});
  EXPECT_EQ(name(1), "App.Program.M<App.Program[], System.Int32[,], System.Int32[,][]>()");
}

TEST_F(ClrMetadataSourceTest, TypeOfAnotherAssemblyHasItsFullName) {
  add(1, {kProgramClass, 0x06000001}, {L"M", kProgram, {0, 1, kVoid, kClass, 2 << 2 | 1}});
  EXPECT_EQ(name(1), "App.Program.M(Lib.Type+Nested)");
}

TEST_F(ClrMetadataSourceTest, NamesThatAreNotAsciiAreUtf8) {
  add(1, {kProgramClass, 0x06000001}, {L"Größe\x65E5", kProgram, {0, 0, kVoid}});
  EXPECT_EQ(name(1),
            "App.Program.Gr\xC3\xB6\xC3\x9F"
            "e\xE6\x97\xA5()");
}

// Compilers of other languages, and code that is made at run time, may give a method any name.
TEST_F(ClrMetadataSourceTest, MethodWhoseNameLooksLikeAGenericTypeKeepsIt) {
  add(1, {kProgramClass, 0x06000001, {kProgramClass}}, {L"A`1+B`2", kProgram, {kGeneric, 1, 0, kVoid}});
  EXPECT_EQ(name(1), "App.Program.A`1+B`2<App.Program>()");
}

TEST_F(ClrMetadataSourceTest, NameLongerThanTheBufferIsCutOff) {
  add(1, {kProgramClass, 0x06000001}, {std::wstring(5000, L'n'), kProgram, {0, 0, kVoid}});
  const std::string text = name(1);
  EXPECT_TRUE(text.starts_with("App.Program.nnnn"));
  EXPECT_TRUE(text.ends_with("nnnn…()")) << text;
  EXPECT_LT(text.size(), 1100u);
  add(2, {kProgramClass, 0x06000002}, {std::wstring(1023, L'n'), kProgram, {0, 0, kVoid}});
  EXPECT_TRUE(name(2).ends_with("nnnn()")) << "it fits";
}

TEST_F(ClrMetadataSourceTest, StubIsWhatTheRuntimeCallsIt) {
  clr_.dynamic_functions[1] = L"IL_STUB_PInvoke";
  EXPECT_EQ(name(1), "IL_STUB_PInvoke");
  EXPECT_TRUE(source_.name(1).stub);
}

TEST_F(ClrMetadataSourceTest, DynamicMethodIsNoStub) {
  clr_.dynamic_functions[1] = L"lambda_method";
  EXPECT_EQ(name(1), "lambda_method");
  EXPECT_FALSE(source_.name(1).stub);
}

TEST_F(ClrMetadataSourceTest, OlderRuntimeHasNoNameForAStub) {
  clr_.dynamic_functions[0xABC] = L"IL_STUB_PInvoke";
  ClrMetadataSource older(clr_.info(), nullptr);
  EXPECT_EQ(older.name(0xABC).text, "[unknown method 0xabc]");
}

TEST_F(ClrMetadataSourceTest, FunctionThatTheRuntimeRefusesIsUnknown) {
  EXPECT_EQ(name(0x1234), "[unknown method 0x1234]");
  add(2, {kProgramClass, 0x06000001}, {});
  clr_.metadata.methods.clear();
  EXPECT_EQ(name(2), "[unknown method 0x2]");
}

TEST_F(ClrMetadataSourceTest, ModuleWithoutMetadataLeavesTheMethodUnknown) {
  add(1, {kProgramClass, 0x06000001}, {L"Main", kProgram, {0, 0, kVoid}});
  clr_.has_metadata = false;
  EXPECT_EQ(name(1), "[unknown method 0x1]");
}

TEST_F(ClrMetadataSourceTest, DamagedSignatureLeavesTheName) {
  add(1, {kProgramClass, 0x06000001}, {L"Main", kProgram, {0, 9, kVoid}});
  EXPECT_EQ(name(1), "App.Program.Main(?)");
}

TEST_F(ClrMetadataSourceTest, ClassThatTheRuntimeRefusesIsAQuestionMark) {
  add(1, {kProgramClass, 0x06000001, {0, 0xBAD}}, {L"M", kProgram, {kGeneric, 2, 0, kVoid}});
  EXPECT_EQ(name(1), "App.Program.M<?, ?>()");
}

TEST_F(ClrMetadataSourceTest, TypeNestedInItselfEnds) {
  clr_.metadata.types[kProgram].outer = kProgram;
  add(1, {kProgramClass, 0x06000001}, {L"M", kProgram, {0, 0, kVoid}});
  EXPECT_LT(name(1).size(), 1000u);
}

TEST_F(ClrMetadataSourceTest, GlobalMethodHasNoType) {
  add(1, {0, 0x06000001}, {L"main", 0, {0, 0, kVoid}});
  EXPECT_EQ(name(1), "main()");
}

TEST_F(ClrMetadataSourceTest, RuntimeIsAskedOnce) {
  add(1, {kProgramClass, 0x06000001}, {L"Main", kProgram, {0, 0, kVoid}});
  name(1);
  name(1);
  EXPECT_EQ(clr_.questions, 1);
}

}  // namespace
}  // namespace mixwalk

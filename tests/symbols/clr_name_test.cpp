#include "symbols/clr_name.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

namespace mixwalk {
namespace {

// ELEMENT_TYPE_* of ECMA-335 II.23.1.16, for signatures written by hand.
constexpr std::uint8_t kVoid = 0x01, kBoolean = 0x02, kInt32 = 0x08, kString = 0x0E, kPtr = 0x0F,
                       kByRef = 0x10, kValueType = 0x11, kClass = 0x12, kVar = 0x13, kArray = 0x14,
                       kGenericInst = 0x15, kTypedByRef = 0x16, kIntPtr = 0x18, kUIntPtr = 0x19,
                       kFnPtr = 0x1B, kObject = 0x1C, kSzArray = 0x1D, kMVar = 0x1E,
                       kCModReqd = 0x1F, kCModOpt = 0x20, kSentinel = 0x41, kPinned = 0x45;
constexpr std::uint8_t kStatic = 0x00, kHasThis = 0x20, kVarArg = 0x05, kGeneric = 0x10;

// TypeDefOrRefOrSpecEncoded of row 1 of TypeDef, of row 2 of TypeRef, of row 3 of TypeSpec.
constexpr std::uint8_t kFooBar = 1 << 2 | 0, kList = 2 << 2 | 1, kSpec = 3 << 2 | 2;

struct FakeNames final : TypeNames {
  std::string type_name(std::uint32_t token) const override {
    const auto found = names.find(token);
    return found == names.end() ? "" : found->second;
  }
  std::map<std::uint32_t, std::string> names = {
      {0x02000001, "Foo.Bar"},         {0x01000002, "System.Collections.Generic.List`1"},
      {0x02000005, "Outer`1+Inner`2"}, {0x1B000003, "Specified"},
      {0x01000080, "FarAway"},
  };
};

std::string parameters(const std::vector<std::uint8_t>& signature,
                       const GenericArguments& arguments = {}) {
  const auto text = format_parameters(std::as_bytes(std::span(signature)), FakeNames(), arguments);
  return text.value_or("no signature");
}

// Returns the text of the only parameter of a method "void M(type)".
std::string type(std::vector<std::uint8_t> blob, const GenericArguments& arguments = {}) {
  blob.insert(blob.begin(), {kStatic, 1, kVoid});
  return parameters(blob, arguments);
}

TEST(ClrNameTest, MethodWithoutParametersHasEmptyParentheses) {
  EXPECT_EQ(parameters({kHasThis, 0, kVoid}), "()");
}

TEST(ClrNameTest, ParametersAreSeparatedByCommas) {
  EXPECT_EQ(
      parameters({kHasThis, 3, kInt32, kString, kSzArray, kInt32, kByRef, kValueType, kFooBar}),
      "(System.String, System.Int32[], ref Foo.Bar)");
}

TEST(ClrNameTest, PrimitivesHaveTheirFullNames) {
  const std::vector<std::string> names = {"Boolean", "Char",   "SByte",  "Byte",  "Int16",
                                          "UInt16",  "Int32",  "UInt32", "Int64", "UInt64",
                                          "Single",  "Double", "String"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(type({static_cast<std::uint8_t>(kBoolean + i)}), "(System." + names[i] + ")");
  }
  EXPECT_EQ(type({kIntPtr}), "(System.IntPtr)");
  EXPECT_EQ(type({kUIntPtr}), "(System.UIntPtr)");
  EXPECT_EQ(type({kObject}), "(System.Object)");
  EXPECT_EQ(type({kTypedByRef}), "(System.TypedReference)");
}

TEST(ClrNameTest, PointersAndArraysNest) {
  EXPECT_EQ(type({kPtr, kPtr, kVoid}), "(System.Void**)");
  EXPECT_EQ(type({kSzArray, kSzArray, kInt32}), "(System.Int32[][])");
  EXPECT_EQ(type({kByRef, kSzArray, kPtr, kInt32}), "(ref System.Int32*[])");
}

TEST(ClrNameTest, ArrayOfSeveralRanksHasItsCommas) {
  EXPECT_EQ(type({kArray, kInt32, 3, 0, 0}), "(System.Int32[,,])");
  // Sizes and lower bounds are read and not written.
  EXPECT_EQ(type({kArray, kInt32, 2, 2, 10, 20, 2, 0, 0}), "(System.Int32[,])");
}

TEST(ClrNameTest, ParameterBehindAnArrayIsReadFromItsEnd) {
  EXPECT_EQ(parameters({kStatic, 2, kVoid, kArray, kInt32, 2, 2, 10, 20, 2, 0, 0, kString}),
            "(System.Int32[,], System.String)");
}

TEST(ClrNameTest, GenericInstanceHasItsArguments) {
  EXPECT_EQ(type({kGenericInst, kClass, kList, 1, kString}),
            "(System.Collections.Generic.List<System.String>)");
  EXPECT_EQ(type({kGenericInst, kClass, kList, 1, kGenericInst, kClass, kList, 1, kInt32}),
            "(System.Collections.Generic.List<System.Collections.Generic.List<System.Int32>>)");
  EXPECT_EQ(type({kGenericInst, kValueType, 5 << 2, 3, kInt32, kString, kObject}),
            "(Outer<System.Int32>+Inner<System.String, System.Object>)");
}

TEST(ClrNameTest, GenericParameterIsWhatItStandsFor) {
  const std::vector<std::string> of_type = {"System.Int32"}, of_method = {"Foo", "Bar"};
  EXPECT_EQ(type({kVar, 0}, {of_type, of_method}), "(System.Int32)");
  EXPECT_EQ(type({kSzArray, kMVar, 1}, {of_type, of_method}), "(Bar[])");
}

TEST(ClrNameTest, GenericParameterThatNobodyKnowsIsWrittenAsInMetadata) {
  EXPECT_EQ(type({kVar, 2}), "(!2)");
  EXPECT_EQ(type({kMVar, 0}), "(!!0)");
}

TEST(ClrNameTest, GenericMethodsCountIsSkipped) {
  EXPECT_EQ(parameters({kHasThis | kGeneric, 2, 1, kVoid, kMVar, 1}), "(!!1)");
}

TEST(ClrNameTest, ModifiersAndPinnedAreSkipped) {
  EXPECT_EQ(type({kCModReqd, kFooBar, kCModOpt, kSpec, kInt32}), "(System.Int32)");
  EXPECT_EQ(type({kPinned, kByRef, kInt32}), "(ref System.Int32)");
}

TEST(ClrNameTest, FunctionPointerHasItsParameters) {
  EXPECT_EQ(type({kFnPtr, kStatic, 2, kVoid, kInt32, kString}),
            "(method(System.Int32, System.String))");
}

TEST(ClrNameTest, VariableArgumentsAreDots) {
  EXPECT_EQ(parameters({kVarArg, 1, kVoid, kString}), "(System.String, ...)");
  EXPECT_EQ(parameters({kVarArg, 0, kVoid}), "(...)");
  EXPECT_EQ(parameters({kVarArg, 2, kVoid, kString, kSentinel, kInt32}),
            "(System.String, System.Int32, ...)");
}

TEST(ClrNameTest, TokensOfEveryTableAreResolved) {
  EXPECT_EQ(type({kClass, kFooBar}), "(Foo.Bar)");
  EXPECT_EQ(type({kClass, kSpec}), "(Specified)");
  EXPECT_EQ(type({kClass, kList}), "(System.Collections.Generic.List)");  // an open type
}

TEST(ClrNameTest, LongTokenIsDecoded) {
  // The index is 0x80 << 2 | 1 = 0x201, written in two bytes; below, the same in four.
  EXPECT_EQ(type({kClass, 0x82, 0x01}), "(FarAway)");
  EXPECT_EQ(type({kClass, 0xC0, 0x00, 0x02, 0x01}), "(FarAway)");
}

TEST(ClrNameTest, UnknownTokenIsAQuestionMark) {
  EXPECT_EQ(type({kClass, 0x7C}), "(?)");
}

TEST(ClrNameTest, SignatureCutOffAnywhereIsNone) {
  const std::vector<std::uint8_t> whole = {kHasThis, 2,      kVoid,    kGenericInst, kClass, kList,
                                           1,        kInt32, kSzArray, kClass,       0x82,   0x01};
  ASSERT_EQ(parameters(whole), "(System.Collections.Generic.List<System.Int32>, FarAway[])");
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_EQ(parameters({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)}),
              "no signature")
        << bytes;
  }
}

TEST(ClrNameTest, SignatureOfAFieldOrOfLocalsIsNone) {
  for (const std::uint8_t kind : {0x06, 0x07, 0x08, 0x0A, 0x0B, 0x0F}) {
    EXPECT_EQ(parameters({kind, 0, kInt32}), "no signature") << int{kind};
  }
}

TEST(ClrNameTest, BadElementsAreNoSignature) {
  EXPECT_EQ(type({0x00}), "no signature");
  EXPECT_EQ(type({0x7F}), "no signature");
  EXPECT_EQ(type({kClass, 3}), "no signature");                      // there is no such table
  EXPECT_EQ(type({kClass, 0xFF}), "no signature");                   // there is no such length
  EXPECT_EQ(type({kArray, kInt32, 0, 0, 0}), "no signature");        // there is no rank
  EXPECT_EQ(type({kArray, kInt32, 33, 0, 0}), "no signature");       // more than the CLR's limit
  EXPECT_EQ(type({kArray, kInt32, 1, 2, 0, 0, 0}), "no signature");  // more sizes than ranks
  EXPECT_EQ(type({kGenericInst, kString, kList, 1, kInt32}), "no signature");
}

TEST(ClrNameTest, MoreParametersThanAnyMethodHasIsNoSignature) {
  EXPECT_EQ(parameters({kStatic, 0xDF, 0xFF, 0xFF, 0xFF, kVoid}), "no signature");
}

TEST(ClrNameTest, NestingDeeperThanCompilersNestIsNoSignature) {
  std::vector<std::uint8_t> deep(100'000, kSzArray);
  deep.push_back(kInt32);
  EXPECT_EQ(type(deep), "no signature");
}

TEST(ClrNameTest, ArgumentsThatGrowWithoutBoundAreNoSignature) {
  const std::vector<std::string> of_type = {std::string(1000, 'T')};
  std::vector<std::uint8_t> wide = {kGenericInst, kClass, kList, 100};
  for (int i = 0; i < 100; ++i) wide.insert(wide.end(), {kVar, 0});
  EXPECT_EQ(type(wide, {of_type, {}}), "no signature");
}

TEST(ClrNameTest, ArgumentsGoToTheComponentThatDeclaresThem) {
  const std::vector<std::string> arguments = {"A", "B", "C"};
  EXPECT_EQ(with_arguments("N.Outer`1+Inner`2", arguments), "N.Outer<A>+Inner<B, C>");
  EXPECT_EQ(with_arguments("N.Outer`3+Inner", arguments), "N.Outer<A, B, C>+Inner");
  EXPECT_EQ(with_arguments("N.Outer+Inner`3", arguments), "N.Outer+Inner<A, B, C>");
}

TEST(ClrNameTest, MethodsArgumentsFollowItsName) {
  const std::vector<std::string> arguments = {"System.Int32", "B"};
  EXPECT_EQ(with_arguments("Method", arguments), "Method<System.Int32, B>");
}

TEST(ClrNameTest, ArityIsCutOffWithoutArguments) {
  EXPECT_EQ(with_arguments("N.Outer`1+Inner`12", {}), "N.Outer+Inner");
  EXPECT_EQ(with_arguments("", {}), "");
}

TEST(ClrNameTest, MoreArgumentsThanDeclaredAreKept) {
  const std::vector<std::string> arguments = {"A", "B"};
  EXPECT_EQ(with_arguments("One`1", arguments), "One<A><B>");
}

TEST(ClrNameTest, FewerArgumentsThanDeclaredAreAllThereAre) {
  const std::vector<std::string> arguments = {"A"};
  EXPECT_EQ(with_arguments("Two`2+Three`3", arguments), "Two<A>+Three");
}

TEST(ClrNameTest, CompilersNamesStayAsTheyAre) {
  for (const char* name : {"<>c", "<Main>b__0_1", "<Main>g__Local|0_0", "<RunAsync>d__3",
                           "MoveNext", ".ctor", "System.IDisposable.Dispose"}) {
    EXPECT_EQ(with_arguments(name, {}), name);
  }
}

TEST(ClrNameTest, TickWithoutANumberIsPartOfTheName) {
  EXPECT_EQ(with_arguments("Odd`", {}), "Odd`");
  EXPECT_EQ(with_arguments("Odd`x", {}), "Odd`x");
  EXPECT_EQ(with_arguments("Odd`1x", {}), "Odd`1x");
}

}  // namespace
}  // namespace mixwalk

#include "symbols/demangle/demangle.h"

#include <gtest/gtest.h>

#include <chrono>


namespace mixwalk {
namespace {

TEST(DemangleTest, ItaniumNames) {
  EXPECT_EQ(demangle("_ZN3FooC2Ev"), "Foo::Foo()");
  EXPECT_EQ(demangle("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int>>::push_back(int const&)");
  EXPECT_EQ(demangle("_ZN6sample12_GLOBAL__N_16blocksEi"), "sample::(anonymous namespace)::blocks(int)");
}

TEST(DemangleTest, WhatIsNoEncodedNameStaysAsItIs) {
  for (const char* name : {"", "main", "_Z", "_Zzzzz", "?", "?x", "??", "??_C@_02BOGAIONP@ab?$AA@",
                           "_Rb_tree", "operator()", "??@0123456789abcdef0123456789abcdef@"}) {
    EXPECT_EQ(demangle(name), name);
  }
}

struct Example {
  const char *decorated, *name;
};

TEST(DemangleTest, MsvcNames) {
  const Example examples[] = {
      {"?bar@Foo@@QEAAXH@Z", "Foo::bar(int)"},
      {"?bar@Foo@@QEBAXXZ", "Foo::bar() const"},
      {"?g@S@n@@QEHAAHXZ", "n::S::g() &&"},
      {"??0Foo@@QEAA@XZ", "Foo::Foo()"},
      {"??1Foo@ns@@UEAA@XZ", "ns::Foo::~Foo()"},
      {"?push_back@?$vector@HV?$allocator@H@std@@@std@@QEAAX$$QEAH@Z",
       "std::vector<int, std::allocator<int>>::push_back(int &&)"},
      {"??$make@HU?$pair@HN@std@@@ns@@YAPEAHPEBDAEAU?$pair@HN@std@@@Z",
       "ns::make<int, std::pair<int, double>>(char const *, std::pair<int, double> &)"},
      {"?f@?A0x12345678@@YAXXZ", "`anonymous namespace'::f()"},
      {"??R<lambda_1>@?0??g@@YAHH@Z@QEBA@H@Z", "`g(int)'::`1'::<lambda_1>::operator()(int) const"},
      {"??_GFoo@@UEAAPEAXI@Z", "Foo::`scalar deleting dtor'(unsigned int)"},
      {"??HFoo@@QEBA?AV0@AEBV0@@Z", "Foo::operator+(Foo const &) const"},
      {"??BFoo@@QEBA_NXZ", "Foo::operator bool() const"},
      {"??$?BF@S@n@@QEAAAEAFXZ", "n::S::operator<short> short &()"},
      {"?x@@YAXP6AHH@Z@Z", "x(int (__cdecl *)(int))"},
      {"?m@@YAXP8Foo@@EAAXH@Z@Z", "m(void (__cdecl Foo::*)(int))"},
      {"?e@@YAXW4E@Foo@@@Z", "e(Foo::E)"},
      {"?arr@@YAXAEAY03H@Z", "arr(int (&)[4])"},
      {"??$t@$0A@$0?0$00@@YAXXZ", "t<0, -1, 1>()"},
      {"?v@@YAXHZZ", "v(int, ...)"},
      {"?noex@n@@YAXP6AXX_E@Z", "n::noex(void (__cdecl *)() noexcept)"},
      {"?call@@YAXV?$function@$$A6AXXZ@std@@@Z", "call(std::function<void __cdecl()>)"},
      {"?counter@?1??f@@YAHXZ@4HA", "`f()'::`2'::counter"},
      {"??_7Foo@@6B@", "Foo::`vftable'"},
      {"??__Efoo@@YAXXZ", "`dynamic initializer for 'foo''()"},
      {"?get@?$Box@_N@@QEBA_N_J_KM_W_S_U@Z",
       "Box<bool>::get(__int64, unsigned __int64, float, wchar_t, char16_t, char32_t) const"},
      {"??__Mn@@YA?A?<auto>@@AEBTU@0@0@Z", "n::operator<=>(n::U const &, n::U const &)"},
  };
  for (const Example& example : examples) EXPECT_EQ(demangle(example.decorated), example.name);
}

TEST(DemangleTest, MsvcNamesOfAnonymousNamespacesByBackReference) {
  EXPECT_EQ(demangle("?foo@?A0xa6a4f20e@@YAXUX@1@0@Z"),
            "`anonymous namespace'::foo(`anonymous namespace'::X, `anonymous namespace'::X)");
}

TEST(DemangleTest, RustNames) {
  EXPECT_EQ(demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(demangle("_RNvMCs4fqI2P2rA04_7mycrateNtB2_5Queue4push"), "<mycrate::Queue>::push");
  EXPECT_EQ(demangle("_RNCNvCs4fqI2P2rA04_7mycrate4main0B3_"), "mycrate::main::{closure#0}");
}

TEST(DemangleTest, NamesOfNewerCompilers) {
  EXPECT_EQ(demangle("_Z1fDF16b"), "_Z1fDF16b");  // std::bfloat16_t, which LLVM does not know yet
  EXPECT_EQ(demangle("_Z1fDB7_"), "f(_BitInt(7))");
}

TEST(DemangleTest, EveryCutOffMsvcNameIsSurvived) {
  const std::string name =
      "??$?RD@<lambda_0>@?0??f1@n@@YAHP6AHD@ZPEQS@2@HP832@EBAHH@ZAEAY02$$CBDPEAY134H@Z@QEBA?A?<auto>@@D@Z";
  EXPECT_NE(demangle(name), name);
  for (std::size_t size = 0; size < name.size(); ++size) {
    EXPECT_EQ(demangle(name.substr(0, size)), name.substr(0, size));
    EXPECT_EQ(demangle(name + name.substr(0, size) + '!'), name + name.substr(0, size) + '!');
  }
}

// Each level repeats the one before it twice, so ten more characters make the text a thousand times longer.
TEST(DemangleTest, NameThatWouldFillTheMemoryIsRefused) {
  std::string itanium = "_Z1f1AIiE";
  for (int i = 0; i < 60; ++i) {
    const auto seq = [](int n) {
      std::string text;
      for (; n >= 0; n = n / 36 - 1)
        text.insert(text.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n % 36]);
      return 'S' + text + '_';
    };
    itanium += "S_I" + seq(i) + seq(i) + 'E';
  }
  EXPECT_TRUE(demangle(itanium) == itanium);
  std::string msvc = "V?$A@H@@";
  for (int i = 0; i < 20; ++i) msvc = "V?$A@" + msvc + "V1@@@";
  msvc = "?f@@YAX" + msvc + "@Z";
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(demangle(msvc) == msvc);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
}

TEST(DemangleTest, NestingWithoutEndIsRefused) {
  for (const char* repeated : {"P", "N", "1AI", "F", "Z1f", "K"}) {
    std::string name = "_Z1f";
    for (int i = 0; i < 100'000; ++i) name += repeated;
    EXPECT_EQ(demangle(name), name);
  }
  for (const char* repeated : {"PEA", "P6A", "V?$A@", "?0??f@", "$$C", "AEAY01"}) {
    std::string name = "?f@@YAX";
    for (int i = 0; i < 100'000; ++i) name += repeated;
    EXPECT_EQ(demangle(name), name);
  }
}

TEST(ShortenedTest, DefaultsOfTheStandardLibraryAreLeftOut) {
  EXPECT_EQ(shortened("std::vector<int, std::allocator<int> >::push_back(int const&)"),
            "std::vector<int>::push_back(int const&)");
  EXPECT_EQ(
      shortened("f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)"),
      "f(std::string const&)");
  EXPECT_EQ(
      shortened("std::map<int, int, std::less<int>, std::allocator<std::pair<int const, int> > >::clear()"),
      "std::map<int, int>::clear()");
  EXPECT_EQ(shortened("A<std::allocator<int> >::f()"), "A<std::allocator<int>>::f()");
  EXPECT_EQ(shortened("std::allocator<int>::allocate(unsigned long)"),
            "std::allocator<int>::allocate(unsigned long)");
}

TEST(ShortenedTest, LongArgumentsAndParametersAreFolded) {
  EXPECT_EQ(shortened("Shop::orders<Shop::first_kind_of_order, Shop::second_kind_of_order>::submit(int)"),
            "Shop::orders<...>::submit(int)");
  EXPECT_EQ(shortened("f(Shop::first_kind_of_order, Shop::second_kind_of_order)"), "f(...)");
  EXPECT_EQ(shortened("f()"), "f()");
}

TEST(ShortenedTest, OperatorsAndAnonymousNamespacesAreNoBrackets) {
  for (const char* name :
       {"operator<(A const&, B const&)", "A::operator<<(int)", "A::operator->() const", "A::operator()(int)",
        "A::operator>>(int)", "(anonymous namespace)::f(int)", "f(int (*)(char))",
        "A<(char)62>::f()", "main::{lambda(int)#1}::operator()(int) const", "`anonymous namespace'::f()",
        "operator<=>(A, B)"}) {
    EXPECT_EQ(shortened(name), name);
  }
}

TEST(ShortenedTest, AnyTextIsSurvived) {
  for (const char* repeated : {"<", ">", "(", ")", "a<", "f(", "operator<", ",", "<(", "std::"}) {
    std::string text;
    for (int i = 0; i < 4000; ++i) text += repeated;
    EXPECT_LE(shortened(text).size(), text.size() + 16) << repeated;
  }
}

}  // namespace
}  // namespace mixwalk

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
      {"??$?R$MH04@<lambda_1>@?0??lam@@YAXXZ@QEBA?A?<auto>@@XZ", "`lam()'::`1'::<lambda_1>::operator()<5>() const"},
      {"??$any@$MPEAH1?g@@3HA@@YAXXZ", "any<&int g>()"},
      {"?bits@@YAU?$_BitInt@$0BB@@__clang@@U12@@Z", "bits(__clang::_BitInt<17>)"},
      {"?catch$3@?0??f@@YAXXZ@4HA", "`f()'::`1'::catch$3"},
      {"??__Mn@@YA?A?<auto>@@AEBTU@0@0@Z", "n::operator<=>(n::U const &, n::U const &)"},
  };
  for (const Example& example : examples) EXPECT_EQ(demangle(example.decorated), example.name);
}

TEST(DemangleTest, MsvcNamesOfClassesInLambdas) {
  EXPECT_EQ(demangle("?inside@Local@?1???R<lambda_1>@?0??f@@YAXXZ@QEBA?A?<auto>@@H@Z@QEAAXXZ"),
            "``f()'::`1'::<lambda_1>::operator()(int) const'::`2'::Local::inside()");
}

TEST(DemangleTest, MsvcNamesOfAnonymousNamespacesByBackReference) {
  const Example examples[] = {
      {"?foo@?A0xa6a4f20e@@YAXUX@1@0@Z",
       "`anonymous namespace'::foo(`anonymous namespace'::X, `anonymous namespace'::X)"},
      {"?foo@?A0xa6a4f20e@@YA?AUX@1@U21@0@Z",
       "`anonymous namespace'::foo(`anonymous namespace'::X, `anonymous namespace'::X)"},
      {"?bar@N@?A0x11111111@@YAXPEAUX@2@PEAUY@12@@Z",
       "`anonymous namespace'::N::bar(`anonymous namespace'::X *, `anonymous namespace'::N::Y *)"},
      // clang does not refer back to the namespace, and does not count it.
      {"?foo@?A0x5B3FF31B@@YA?AUX@?A0x5B3FF31B@@U1?A0x5B3FF31B@@0@Z",
       "`anonymous namespace'::foo(`anonymous namespace'::X, `anonymous namespace'::X)"},
      {"?put@?$V@UX@?A0x5B3FF31B@@@?A0x5B3FF31B@@QEAAXUX@?A0x5B3FF31B@@AEAU1?A0x5B3FF31B@@@Z",
       "`anonymous namespace'::V<`anonymous namespace'::X>::put(`anonymous namespace'::X, "
       "`anonymous namespace'::V<`anonymous namespace'::X> &)"},
      {"?foo@?A0x5B3FF31B@@YAXUX@@PEAU1@@Z", "`anonymous namespace'::foo(X, X *)"},
  };
  for (const Example& example : examples) EXPECT_EQ(demangle(example.decorated), example.name);
}

// C++/CLI, and values of classes as template arguments, of which LLVM's demangler knows nothing.
TEST(DemangleTest, MsvcNamesThatLlvmDoesNotRead) {
  const Example examples[] = {
      {"?main@@$$FYAXXZ", "main()"},
      {"?f@C@@$$FQEAAXH@Z", "C::f(int)"},
      {"?g@@$$HYAHXZ", "g()"},
      {"?f@S@@SAX_VAEAU1@@Z", "S::f(S &)"},
      {"??$point@$2UP@@H00H01@@@YAXXZ", "point<P{1, 2}>()"},
      {"??$named@$2Ufixed@@3D0GB@@0GC@@0GD@@0A@@@@@@YAXXZ", "named<fixed{{97, 98, 99, 0}}>()"},
      {"??$ptr@$2UQ@@PEAHE?g@@3HA@@@YAXXZ", "ptr<Q{&g}>()"},
      {"??$deep@$2UOuter@@2UInner@@H0?0@D01@@@YAXXZ", "deep<Outer{Inner{-1}, 2}>()"},
      {"??$fixed@$2UFixed@@$$CBH002$$CBUP@@H00H01@@@@YAXXZ", "fixed<Fixed{1, P{1, 2}}>()"},
      {"??$largest@$2UL@@_K0?0_J0?0@@@YAXXZ", "largest<L{18446744073709551615, -1}>()"},
      {"??$deep@$2UOuter@@2UInner@@H0?0@D01@@YAXXZ", "??$deep@$2UOuter@@2UInner@@H0?0@D01@@YAXXZ"},  // cut short
  };
  for (const Example& example : examples) EXPECT_EQ(demangle(example.decorated), example.name);
}

TEST(DemangleTest, RustNames) {
  EXPECT_EQ(demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(demangle("_RNvMCs4fqI2P2rA04_7mycrateNtB2_5Queue4push"), "<mycrate::Queue>::push");
  EXPECT_EQ(demangle("_RNCNvCs4fqI2P2rA04_7mycrate4main0B3_"), "mycrate::main::{closure#0}");
}

TEST(DemangleTest, OlderRustNames) {
  const Example examples[] = {
      {"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"},
      {"_ZN65_$LT$mycrate..Queue$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE",
       "<mycrate::Queue<T> as core::ops::drop::Drop>::drop"},
      {"_ZN7mycrate4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "mycrate::main::{{closure}}"},
      {"_ZN3foo9$u3b1$$C$17h0123456789abcdefE.llvm.0123ABCD", "foo::\u03b1,"},
      {"_ZN3foo3bar17h0123456789abcdefE.cold", "foo::bar.cold"},
      {"_ZN3foo5$XX$a17h0123456789abcdefE", "foo::$XX$a"},
      // C++
      {"_ZN3foo17h0123456789abcdeEv", "_ZN3foo17h0123456789abcdeEv"},
      {"_ZN3foo17h0123456789abcdefEv", "foo::h0123456789abcdef()"},
      {"_ZN3foo17g0123456789abcdefE", "foo::g0123456789abcdef"},
  };
  for (const Example& example : examples) EXPECT_EQ(demangle(example.decorated), example.name);
}

TEST(DemangleTest, FunctionsByTheirPlainNames) {
  const Example same[] = {
      {"ns::f(int)", "ns::f"},
      {"ns::Foo<std::vector<int, A<int>>>::f() const &", "ns::Foo<std::vector<int,A<int> > >::f"},
      {"void g<int (*)(char)>(int (*)(char))", "g<int (*)(char)>"},
      {"C::operator()(int (*)(char)) const", "C::operator()"},
      {"(anonymous namespace)::f(bool)", "`anonymous namespace'::f"},
      {"`main()'::`2'::<lambda_1>::operator()(int) const", "`main()'::`2'::<lambda_1>::operator()"},
  };
  for (const Example& one : same) EXPECT_TRUE(is_function_named(one.decorated, one.name)) << one.decorated;
  const Example other[] = {
      {"ns::f(int)", "f"}, {"ns::f(int)", "ns::g"}, {"f(int)", "ns::f"}, {"f", "f"}, {"f(int)", ""}, {"f(int)", " "},
      {"", "f"},           {")", "f"},               {"(", "("},          {"xf<int>(int)", "f<int>"},
  };
  for (const Example& one : other) EXPECT_FALSE(is_function_named(one.decorated, one.name)) << one.decorated;
}

TEST(DemangleTest, NamesThatMayBeOfCode) {
  std::size_t budget = kDemangleBudget;
  for (const char* name : {"main", "?f@@YAXXZ", "?f@C@@$$FQEAAXH@Z", "_ZN3fooE", "asm_label"}) {
    EXPECT_TRUE(may_name_code(name, budget)) << name;
  }
  for (const char* name : {"??_C@_05COLMCDPH@hello?$AA@", "?table@@3HA", "??_7Foo@@6B@", "??_R0H@8", "?what",
                           "__real@3ff0000000000000", "__xmm@00000001000000010000000100000001"}) {
    EXPECT_FALSE(may_name_code(name, budget)) << name;
  }
}

// A hostile file has a million names each of which takes as long as one name may.
TEST(DemangleTest, ManyNamesHaveABudgetTogether) {
  std::size_t budget = 40;
  EXPECT_EQ(demangle("?f@@YAXH@Z", budget), "f(int)");
  EXPECT_TRUE(may_name_code("?f@@YAXH@Z", budget));
  EXPECT_LT(budget, 25u);
  while (budget != 0) demangle("?f@@YAXH@Z", budget);
  EXPECT_EQ(demangle("?f@@YAXH@Z", budget), "?f@@YAXH@Z");
  EXPECT_FALSE(may_name_code("?f@@YAXH@Z", budget));
  EXPECT_TRUE(may_name_code("main", budget)) << "that is not read";
}

TEST(DemangleTest, NamesOfNewerCompilers) {
  EXPECT_EQ(demangle("_Z1fDF16b"), "f(std::bfloat16_t)");
  EXPECT_EQ(demangle("_Z1fDF16_KDF16b"), "f(_Float16, std::bfloat16_t const)");
  EXPECT_EQ(demangle("_Z1fDB7_"), "f(_BitInt(7))");
  EXPECT_EQ(demangle("_Z1fITk1CiEvT_"), "void f<int>(int)");  // a constrained template
  EXPECT_EQ(demangle("_Z1gIiEvT_Q1CIS0_E"), "void g<int>(int) requires C<int>");
  EXPECT_EQ(demangle("_ZNH1S1fERKS_i"), "S::f(this S const&, int)");  // an explicit object parameter
  EXPECT_EQ(demangle("_Z1fIXtl1PLi1ELi2EEEEvv"), "void f<P{1, 2}>()");
  EXPECT_EQ(demangle("_ZW3Foo3barv"), "bar@Foo()");  // in a module
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

// A value whose type has another value in it.
TEST(DemangleTest, ValuesOfClassesAreNestedSoDeep) {
  const auto nested = [](int levels, const std::string& field) {
    std::string text = field;
    for (int i = 0; i < levels; ++i) text = "2UB@@" + text + '@';
    return text;
  };
  const auto name = [&](int levels) {
    return "??$deep@$" + nested(levels, "U?$A@$" + nested(levels, "H00") + "@@00") + "@@YAXXZ";
  };
  EXPECT_TRUE(demangle(name(20)).starts_with("deep<B{B{")) << demangle(name(20));
  EXPECT_EQ(demangle(name(30)), name(30));
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

#include "symbols/demangle/managed_name.h"

#include <gtest/gtest.h>

#include <string>

namespace mixwalk {
namespace {

TEST(ManagedName, PlainMethodHasTypesAsCSharpWritesThem) {
  EXPECT_EQ(managed_name("Orders.Client.Check(System.Int32, System.String[], ref System.Double)"),
            "Orders.Client.Check(int, string[], ref double)");
  EXPECT_EQ(managed_name("Orders.Client.Check()"), "Orders.Client.Check()");
  EXPECT_EQ(managed_name("Orders.Client.Poke(System.Void*, System.IntPtr)"), "Orders.Client.Poke(void*, nint)");
}

TEST(ManagedName, TheTypeOfTheMethodKeepsItsOwnName) {
  EXPECT_EQ(managed_name("System.String.Concat(System.String)"), "System.String.Concat(string)");
}

TEST(ManagedName, NestedTypesAndGenericArguments) {
  EXPECT_EQ(managed_name("Outer<System.Int32>+Inner<System.__Canon>.Take<System.Char>(A+B, Outer<System.Byte>+Inner)"),
            "Outer<int>.Inner<System.__Canon>.Take<char>(A.B, Outer<byte>.Inner)");
  EXPECT_EQ(managed_name("A.B(System.Collections.Generic.Dictionary<System.String, System.Int32[]>)"),
            "A.B(System.Collections.Generic.Dictionary<string, int[]>)");
}

TEST(ManagedName, NullableAndTuple) {
  EXPECT_EQ(managed_name("A.B(System.Nullable<System.Int32>[], System.ValueTuple<System.Int32, System.String>)"),
            "A.B(int?[], (int, string))");
  EXPECT_EQ(managed_name("A.B(System.ValueTuple<System.Int32>)"), "A.B(System.ValueTuple<int>)");
}

TEST(ManagedName, RanksOfAnArrayOfArraysStandFromTheOutsideIn) {
  EXPECT_EQ(managed_name("A.B(System.Int32[,][], System.Int32[][,]*)"), "A.B(int[][,], int[,][]*)");
}

TEST(ManagedName, FunctionPointersAndUnknownTypes) {
  EXPECT_EQ(managed_name("A.B(method(System.Int32, method()), ?, !0, !!1)"), "A.B(method(int, method()), ?, !0, !!1)");
  EXPECT_EQ(managed_name("A.B(?)"), "A.B(?)");
}

TEST(ManagedName, AsyncMethodsAndIterators) {
  EXPECT_EQ(managed_name("Orders.Client+<FetchAsync>d__7.MoveNext()"), "Orders.Client.FetchAsync()");
  EXPECT_EQ(managed_name("Orders.Client+<FetchAsync>d__7<System.Int32>.MoveNext()"), "Orders.Client.FetchAsync<int>()");
  EXPECT_EQ(managed_name("Orders.Program+<<Main>$>d__0.MoveNext()"), "Orders.Program.<Main>$()");
  EXPECT_EQ(managed_name("Orders.List+<System-Collections-IEnumerable-GetEnumerator>d__1.MoveNext()"),
            "Orders.List.System.Collections.IEnumerable.GetEnumerator()");
  EXPECT_EQ(managed_name("Orders.List+<Items>d__1.System.IDisposable.Dispose()"),
            "Orders.List.Items.System.IDisposable.Dispose()");
}

TEST(ManagedName, FileLocalTypesHaveTheNameInTheSource) {
  const std::string file = "<Hangs_IDescribed>F7A37EBEBE238FE297F5F184B5465514FAEF5CAF836603DD1E32FABDA67A08B7F__";
  EXPECT_EQ(managed_name("A." + file + "Client.global::Hangs.IDescribed.Count()"),
            "A.Client.global::Hangs.IDescribed.Count()");
  EXPECT_EQ(managed_name(file + "Client..ctor(A." + file + "Part, " + file + "Part<" + file + "Item>)"),
            "Client.Client(A.Part, Part<Item>)");
  EXPECT_EQ(managed_name(file + "Client+<FetchAsync>d__7.MoveNext()"), "Client.FetchAsync()");
  // These are none.
  const std::string short_hash = file.substr(0, file.size() - 3) + "__";
  EXPECT_EQ(managed_name(short_hash + "Client.Send()"), short_hash + "Client.Send()");
  EXPECT_EQ(managed_name("A<B>F.C()"), "A<B>F.C()");
  EXPECT_EQ(managed_name(">F.C()"), ">F.C()");
}

// From InstructionDecoderTests.GetNameLambda, GetNameGenericLambda.
TEST(ManagedName, Lambdas) {
  EXPECT_EQ(managed_name("C+<>c.<M>b__0_0()"), "C.M.AnonymousMethod__0_0()");
  EXPECT_EQ(managed_name("C<System.Exception>+<>c__0<System.ArgumentException>.<M>b__0_0(System.ArgumentException)"),
            "C<System.Exception>.M.AnonymousMethod__0_0(System.ArgumentException)");
}

TEST(ManagedName, LambdasOfOneMethodStayApartFromThoseOfAnother) {
  EXPECT_EQ(managed_name("Orders.Client+<>c__DisplayClass3_0.<Check>b__1(System.Int32)"),
            "Orders.Client.Check.AnonymousMethod__3_1(int)");
  EXPECT_EQ(managed_name("Orders.Client+<>c__DisplayClass4_0.<Check>b__1(System.Int32)"),
            "Orders.Client.Check.AnonymousMethod__4_1(int)");
}

TEST(ManagedName, LocalFunctions) {
  EXPECT_EQ(managed_name("Orders.Program.<Main>g__Local|0_0(System.String)"), "Orders.Program.Main.Local(string)");
  EXPECT_EQ(managed_name("Orders.Program.<Main>g__Local|0_0<System.Int32>()"), "Orders.Program.Main.Local<int>()");
  EXPECT_EQ(managed_name("Orders.Program+<>c__DisplayClass0_0.<Main>g__Local|1()"), "Orders.Program.Main.Local()");
}

TEST(ManagedName, AsyncLambdasAndAsyncLocalFunctions) {
  EXPECT_EQ(managed_name("Orders.Program+<>c+<<Run>b__0_0>d.MoveNext()"), "Orders.Program.Run.AnonymousMethod__0_0()");
  EXPECT_EQ(managed_name("Orders.Program+<>c__DisplayClass2_0+<<Run>b__1>d.MoveNext()"),
            "Orders.Program.Run.AnonymousMethod__2_1()");
  EXPECT_EQ(managed_name("Orders.Program+<<Main>g__Local|0_0>d.MoveNext()"), "Orders.Program.Main.Local()");
}

// From InstructionDecoderTests.GetNameProperties, GetCompactName_Members.
TEST(ManagedName, PropertiesAndEvents) {
  EXPECT_EQ(managed_name("C.get_P()"), "C.P.get()");
  EXPECT_EQ(managed_name("C.set_P(System.Int32)"), "C.P.set(int)");
  EXPECT_EQ(managed_name("C.get_Item(System.Object)"), "C.this[object].get(object)");
  EXPECT_EQ(managed_name("C.set_Item(System.Object, System.Int32)"), "C.this[object].set(object, int)");
  EXPECT_EQ(managed_name("C.set_Item(System.Int32)"), "C.Item.set(int)");
  EXPECT_EQ(managed_name("C.add_E(System.EventHandler)"), "C.E.add(System.EventHandler)");
  EXPECT_EQ(managed_name("C.remove_E(System.EventHandler)"), "C.E.remove(System.EventHandler)");
  EXPECT_EQ(managed_name("C.Orders.IName.get_Name()"), "C.Orders.IName.Name.get()");
  EXPECT_EQ(managed_name("C+<>c.<get_Name>b__3_0()"), "C.Name.get.AnonymousMethod__3_0()");
  EXPECT_EQ(managed_name("C.get_()"), "C.get_()");
  EXPECT_EQ(managed_name("C.getName()"), "C.getName()");
}

// C# methods may have such names as well. An accessor of an event takes a handler; a set accessor takes a value.
TEST(ManagedName, MethodsWithOtherParametersAreNoAccessors) {
  for (const std::string name : {"C.remove_all()", "C.add_Up(int, int)", "C.set_Done()", "C.add_Now()",
                                 "C.add_One(int)", "C.remove_All(string[])", "C.get_name()", "C.set_name(int)",
                                 "C.add_it(Item)"}) {
    EXPECT_EQ(managed_name(name), name);
  }
  EXPECT_EQ(managed_name("C.get_Value<System.Int32>()"), "C.get_Value<int>()") << "no property is generic";
  EXPECT_EQ(managed_name("C+<>c.<remove_all>b__3_0()"), "C.remove_all.AnonymousMethod__3_0()");
  EXPECT_EQ(managed_name("C+<>c.<remove_All>b__3_0()"), "C.All.remove.AnonymousMethod__3_0()")
      << "of a host the parameters are not known";
}

TEST(ManagedName, ConstructorsAndFinalizers) {
  EXPECT_EQ(managed_name("Orders.Client<System.Int32>..ctor(System.Int32)"), "Orders.Client<int>.Client(int)");
  EXPECT_EQ(managed_name("Orders.Client..cctor()"), "Orders.Client.static Client()");
  EXPECT_EQ(managed_name("Orders.Client.Finalize()"), "Orders.Client.~Client()");
  EXPECT_EQ(managed_name("Orders.Client.Finalize(System.Int32)"), "Orders.Client.Finalize(int)");
  EXPECT_EQ(managed_name("Orders.Client+<>c.<.ctor>b__1_0()"), "Orders.Client.Client.AnonymousMethod__1_0()");
  EXPECT_EQ(managed_name("Orders.Client+<>c..ctor()"), "Orders.Client.<>c..ctor()");
}

TEST(ManagedName, Operators) {
  EXPECT_EQ(managed_name("C.op_UnaryPlus(C)"), "C.operator +(C)");
  EXPECT_EQ(managed_name("C.op_LessThan(C, C)"), "C.operator <(C, C)");
  EXPECT_EQ(managed_name("C.op_Implicit(C)"), "C.implicit operator(C)");
  EXPECT_EQ(managed_name("C.op_Unheard(C)"), "C.op_Unheard(C)");
  EXPECT_EQ(managed_name("C.op_CheckedDivision(C, C)"), "C.operator checked /(C, C)");
  EXPECT_EQ(managed_name("C.op_CheckedUnaryNegation(C)"), "C.operator checked -(C)");
  EXPECT_EQ(managed_name("C.op_CheckedExplicit(C)"), "C.explicit operator checked(C)");
  EXPECT_EQ(managed_name("C.op_AdditionAssignment(System.Int32)"), "C.operator +=(int)");
  EXPECT_EQ(managed_name("C.op_CheckedIncrementAssignment()"), "C.operator checked ++()");
}

// All that the compiler of C# 14 makes of checked and compound operators.
TEST(ManagedName, CheckedAndCompoundOperators) {
  const std::pair<const char*, const char*> binary[] = {
      {"Addition", "+"}, {"Subtraction", "-"}, {"Multiply", "*"}, {"Division", "/"}};
  const std::pair<const char*, const char*> compound[] = {
      {"Addition", "+="}, {"Subtraction", "-="}, {"Multiplication", "*="}, {"Division", "/="}, {"Modulus", "%="},
      {"BitwiseAnd", "&="}, {"BitwiseOr", "|="}, {"ExclusiveOr", "^="}, {"LeftShift", "<<="}, {"RightShift", ">>="},
      {"UnsignedRightShift", ">>>="}};
  const std::pair<const char*, const char*> steps[] = {{"Increment", "++"}, {"Decrement", "--"}};
  const auto shown = [](const std::string& name) { return managed_name("N.V." + name); };
  for (const auto& [name, sign] : binary) {
    EXPECT_EQ(shown(std::string("op_") + name + "(N.V, N.V)"), std::string("N.V.operator ") + sign + "(N.V, N.V)");
    EXPECT_EQ(shown(std::string("op_Checked") + name + "(N.V, N.V)"),
              std::string("N.V.operator checked ") + sign + "(N.V, N.V)");
  }
  for (std::size_t i = 0; i < std::size(compound); ++i) {
    const auto& [name, sign] = compound[i];
    EXPECT_EQ(shown(std::string("op_") + name + "Assignment(System.Int32)"),
              std::string("N.V.operator ") + sign + "(int)");
    if (i >= std::size(binary)) continue;  // the others have no checked form
    EXPECT_EQ(shown(std::string("op_Checked") + name + "Assignment(System.Int32)"),
              std::string("N.V.operator checked ") + sign + "(int)");
  }
  for (const auto& [name, sign] : steps) {
    for (const char* const rest : {"(N.V)", "Assignment()"}) {
      const std::string parameters = rest[0] == '(' ? "(N.V)" : "()";
      EXPECT_EQ(shown(std::string("op_") + name + rest), std::string("N.V.operator ") + sign + parameters);
      EXPECT_EQ(shown(std::string("op_Checked") + name + rest),
                std::string("N.V.operator checked ") + sign + parameters);
    }
  }
}

// The code of extension members is in static methods of the class around them, whose first parameter is the receiver.
TEST(ManagedName, ExtensionMembers) {
  EXPECT_EQ(managed_name("N.E.get_Third(System.String)"), "N.E.Third.get(string)");
  EXPECT_EQ(managed_name("N.E.set_Third(System.String, System.Int32)"), "N.E.Third.set(string, int)");
  EXPECT_EQ(managed_name("N.E.op_Multiply(System.String, System.Int32)"), "N.E.operator *(string, int)");
  EXPECT_EQ(managed_name("N.E+<>c__DisplayClass4_0.<Plus>b__0()"), "N.E.Plus.AnonymousMethod__4_0()");
  EXPECT_EQ(managed_name("N.E+<All>d__9<System.String>.MoveNext()"), "N.E.All<string>()");
}

// In F#, any text between two pairs of backquotes is a name.
TEST(ManagedName, NamesOfFSharp) {
  EXPECT_EQ(managed_name("Tests.Sums.2 + 2 is 4()"), "Tests.Sums.2 + 2 is 4()");
  EXPECT_EQ(managed_name("Tests.Sums+Inner.a+b(System.Int32)"), "Tests.Sums.Inner.a+b(int)");
  EXPECT_EQ(managed_name("Tests.Sums+Inner.1 + 1.5 is 2.5()"), "Tests.Sums.Inner.1 + 1.5 is 2.5()");
  EXPECT_EQ(managed_name("Tests.all of (a, b) + c()"), "Tests.all of (a, b) + c()");
  EXPECT_EQ(managed_name("Tests.a <- b()"), "Tests.a <- b()");
  EXPECT_EQ(managed_name("+.+()"), "+.+()");
  EXPECT_EQ(managed_name("Tests.it's a (very) odd name(System.String)"), "Tests.it's a (very) odd name(string)");
  EXPECT_EQ(managed_name("Program+f@10.Invoke(System.Int32)"), "Program.f@10.Invoke(int)");
  EXPECT_EQ(managed_name("Program+f@10-1..ctor()"), "Program.f@10-1.f@10-1()");
  // As F#'s compiler writes them.
  for (const std::string name : {"C++ is read()", "ends with +()", "a, b & c()", "is it <right>?()", "get_ the order()",
                                 "op_BarGreaterGreater(int, int)"}) {
    EXPECT_EQ(managed_name("Shop.Tests." + name), "Shop.Tests." + name);
  }
  EXPECT_EQ(managed_name("Shop.Tests.+ at the begin(System.Int32)"), "Shop.Tests.+ at the begin(int)");
  EXPECT_EQ(managed_name("Shop.Tests.(in brackets)(System.Int32, System.String)"),
            "Shop.Tests.(in brackets)(int, string)");
  EXPECT_EQ(managed_name("Shop.Order Line.get_Total + tax()"), "Shop.Order Line.Total + tax.get()");
  EXPECT_EQ(managed_name("Shop.Order Line.op_Addition(Shop.Order Line, Shop.Order Line)"),
            "Shop.Order Line.operator +(Shop.Order Line, Shop.Order Line)");
  EXPECT_EQ(managed_name("Shop.Tests+local - one@16-1.Invoke(System.Int32)"),
            "Shop.Tests.local - one@16-1.Invoke(int)");
}

TEST(ManagedName, ExplicitImplementationsKeepTheirInterface) {
  EXPECT_EQ(managed_name("C.System.IDisposable.Dispose()"), "C.System.IDisposable.Dispose()");
  EXPECT_EQ(managed_name("C.System.Collections.Generic.IEnumerable<T>.GetEnumerator()"),
            "C.System.Collections.Generic.IEnumerable<T>.GetEnumerator()");
}

// As in Roslyn: the interface has its arguments as C# would write them, except that keywords are not used.
TEST(ManagedName, ExplicitImplementationsOfGenericInterfaces) {
  EXPECT_EQ(managed_name("Shape<System.Int32, System.__Canon>.Orders.IShape<System.Collections.Generic.Dictionary<"
                         "System.Collections.Generic.List<A>,System.ValueTuple<B,System.Int32?>[]>>.get_Item("
                         "System.Int32)"),
            "Shape<int, System.__Canon>.Orders.IShape<System.Collections.Generic.Dictionary<"
            "System.Collections.Generic.List<A>, (B, int?)[]>>.this[int].get(int)");
  EXPECT_EQ(managed_name("C.I<System.Collections.Generic.KeyValuePair<A,B>?[]>.M()"),
            "C.I<System.Collections.Generic.KeyValuePair<A, B>?[]>.M()");
}

TEST(ManagedName, WhatIsNoSuchNameStaysAsItIs) {
  for (const std::string name :
       {"", "(", ")", "()", "IL_STUB_PInvoke", "[unknown method 0x1234]", "A.B(", "A.B)", "A<B.C()", "A>B.C()",
        "A.B(System.Int32", "A.B(,)", "A.B(C<)", "<>", "<Main>b__0_0", "Main@12-1.Invoke()", "A.<>()", "<()",
        "A.B(C<D>E)", "A.B([)"}) {
    EXPECT_EQ(managed_name(name), name);
  }
}

TEST(ManagedName, EndlessNestingStaysAsItIs) {
  std::string name = "A.B(";
  for (int i = 0; i < 1000; ++i) name += "C<";
  name += "D" + std::string(1000, '>') + ")";
  EXPECT_EQ(managed_name(name), name);
  std::string hosts;
  for (int i = 0; i < 1000; ++i) hosts += '<';
  hosts += "M";
  for (int i = 0; i < 1000; ++i) hosts += ">b__0";
  EXPECT_EQ(managed_name("A." + hosts + "()"), "A." + hosts + "()");
  const std::string large = "A." + std::string(100'000, 'B') + "(System.Int32)";
  EXPECT_EQ(managed_name(large), large);
}

}  // namespace
}  // namespace mixwalk

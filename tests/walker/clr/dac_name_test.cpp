#include "walker/clr/dac_name.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

std::string shaped(std::string_view name) { return method_of_dac_name(name, false).name; }

// Each name that is converted is one that the library gave for a real program. Each expected name is the one that the
// profiler's source gives for the same frame.
TEST(DacName, AsTheProfilerNamesTheSameFrames) {
  EXPECT_EQ(shaped("Hang.Program.Recurse(Int32)"), "Hang.Program.Recurse(System.Int32)");
  EXPECT_EQ(shaped("Interop+Kernel32.ReadFile(IntPtr, Byte*, Int32, Int32 ByRef, IntPtr)"),
            "Interop+Kernel32.ReadFile(System.IntPtr, System.Byte*, System.Int32, ref System.Int32, System.IntPtr)");
  EXPECT_EQ(shaped("System.ConsolePal+WindowsConsoleStream.Read(System.Span`1<Byte>)"),
            "System.ConsolePal+WindowsConsoleStream.Read(System.Span<System.Byte>)");
  EXPECT_EQ(shaped("System.IO.ConsoleStream.Read(Byte[], Int32, Int32)"),
            "System.IO.ConsoleStream.Read(System.Byte[], System.Int32, System.Int32)");
  EXPECT_EQ(shaped("System.Threading.Tasks.Task`1[[System.Int32, System.Private.CoreLib]].GetResultCore(Boolean)"),
            "System.Threading.Tasks.Task<System.Int32>.GetResultCore(System.Boolean)");
  EXPECT_EQ(shaped("Hang.Program+<>c.<StartStuck>b__15_0()"), "Hang.Program+<>c.<StartStuck>b__15_0()");
  EXPECT_EQ(shaped("System.Threading.Monitor.Enter_Slowpath(System.Object)"),
            "System.Threading.Monitor.Enter_Slowpath(System.Object)");
}

TEST(DacName, Generics) {
  EXPECT_EQ(shaped("A.B`2[[X.Y, L],[System.Collections.Generic.List`1[[System.Int32[], S]], S]].M[[Z+W, L]](Int32)"),
            "A.B<X.Y, System.Collections.Generic.List<System.Int32[]>>.M<Z+W>(System.Int32)");
  EXPECT_EQ(shaped("A.O`1+I`1[[X, L],[Y, L]].M()"), "A.O<X>+I<Y>.M()");
  EXPECT_EQ(shaped("A.B.M(System.Collections.Generic.Dictionary`2<Int32,System.String>, Int32[,])"),
            "A.B.M(System.Collections.Generic.Dictionary<System.Int32, System.String>, System.Int32[,])");
}

TEST(DacName, ConstructorsAndExplicitImplementations) {
  EXPECT_EQ(shaped("A.B..ctor(Int32)"), "A.B..ctor(System.Int32)");
  EXPECT_EQ(shaped("A.B..cctor()"), "A.B..cctor()");
}

TEST(DacName, WithoutMetadataTheNameAlone) {
  EXPECT_EQ(method_of_dac_name("ILStubClass.IL_STUB_CLRtoCOM(IntPtr, IntPtr)", false),
            (ClrMethod{"IL_STUB_CLRtoCOM", true}));
  EXPECT_EQ(method_of_dac_name("DynamicClass.dm_A(Int32)", true), (ClrMethod{"dm_A", false}));
  EXPECT_EQ(method_of_dac_name("DynamicClass.IL_STUB_PInvoke", true), (ClrMethod{"IL_STUB_PInvoke", true}));
}

TEST(DacName, ArgumentsByTheNamesOfMetadata) {
  const auto of = [](std::string_view name, std::string_view type, std::string_view method) {
    return dac_arguments(name, type, method);
  };
  EXPECT_EQ(of("A.B.M(Int32)", "A.B", "M"), DacArguments{});
  EXPECT_EQ(of("A.B`1[[X, L]].M[[Y`1[[Z, L]], L],[W*, L]](Int32)", "A.B`1", "M"),
            (DacArguments{{"X"}, {"Y<Z>", "W*"}}));
  EXPECT_EQ(of("A.B`1[[X\\+Y\\,Z, L]]..ctor", "A.B`1", ".ctor"), (DacArguments{{"X+Y,Z"}, {}}));
  EXPECT_EQ(of("A.B.System.IDisposable.Dispose()", "A.B", "System.IDisposable.Dispose"), DacArguments{});
  EXPECT_EQ(of("A.C.M()", "A.B", "M"), std::nullopt);
  EXPECT_EQ(of("A.B.Mine()", "A.B", "M"), std::nullopt);
  EXPECT_EQ(of("A.B`1[[X, L].M()", "A.B`1", "M"), std::nullopt);
}

TEST(DacName, OfATypeAsPeopleReadIt) {
  EXPECT_EQ(type_of_dac_name("System.Object"), "System.Object");
  EXPECT_EQ(type_of_dac_name("A.B`1[[System.String, System.Private.CoreLib]]"), "A.B<System.String>");
  EXPECT_EQ(type_of_dac_name("A.B`1+C[[X`1[[Y, L]], L]][]"), "A.B<X<Y>>+C[]");
  EXPECT_EQ(type_of_dac_name("A.B`1[[X, L]"), "A.B`1[[X, L]");  // the name is cut, so it stays unchanged
  EXPECT_EQ(type_of_dac_name(""), "");
}

TEST(DacName, AnythingElseEndsToo) {
  std::string deep = "A.B";
  for (int i = 0; i < 300'000; ++i) deep += "[[A`1";
  EXPECT_EQ(dac_arguments(deep, "A.B", "M"), std::nullopt);
  shaped(deep);
  for (const char* text : {"", "(", ")", "[[", "]]", ".", "..", "A]].B", "A.B(", "A.B(,,)", "A[[", "\\", "A[[\\"}) {
    shaped(text);
    method_of_dac_name(text, true);
    dac_arguments(text, "", "");
    dac_arguments(text, "A", "B");
  }
  shaped(std::string(100'000, '['));
  shaped("A.B(" + std::string(100'000, '<'));
}

}  // namespace
}  // namespace mixwalk

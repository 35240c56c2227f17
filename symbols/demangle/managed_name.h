#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// The name of a managed function as a C# programmer writes it, of the name that metadata gives it
// ("Namespace.Type<Arguments>.Method<Arguments>(Parameters)", see clr_name.h). It is written as the Call Stack
// window of Visual Studio does (the tests of Roslyn's CSharpInstructionDecoder have its rules), without the names
// of parameters:
//
//   Orders.Client+<FetchAsync>d__7.MoveNext()       Orders.Client.FetchAsync(): async methods, iterators
//   C+<>c__DisplayClass3_0.<Check>b__1(System.Int32)    C.Check.AnonymousMethod__3_1(int)
//   C.<Main>g__Local|0_0(System.String)                 C.Main.Local(string)
//   C.get_Name(), C.add_Done(System.EventHandler)       C.Name.get(), C.Done.add(System.EventHandler)
//   C.get_Item(System.Int32)                            C.this[int].get(int)
//   Orders.C..ctor(), Orders.C..cctor()                 Orders.C.C(), Orders.C.static C()
//   C.op_Addition(C, C), C.Finalize()                   C.operator +(C, C), C.~C()
//   A<System.Int32>+B.Take(System.Nullable<System.Char>, System.Int32[,][])
//                                                       A<int>.B.Take(char?, int[][,])
//
// In three places it is not Visual Studio's: a static constructor says that it is one, a lambda always has the
// number of its method, and a local function has only its name. The parameters of an async method or of an
// iterator are not known. So overloads of one may read alike: who counts by these names looks at the raw ones
// too (RecordedStacks). Names of other compilers (F#, Visual Basic) come back with the types as C# writes them.
//
// Pure; not frozen-safe. Any text may be given: what is no such name comes back as it is. Time and memory are
// bounded by its length.
std::string managed_name(std::string_view name);

}  // namespace mixwalk

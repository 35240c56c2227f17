#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// Converts the name of a managed function from the form of metadata
// ("Namespace.Type<Arguments>.Method<Arguments>(Parameters)", see clr_name.h) to the one that C# programmers know: that
// of Visual Studio's Call Stack window (the tests of Roslyn's CSharpInstructionDecoder have its rules), without the
// names of parameters:
//
//   Orders.Client+<FetchAsync>d__7.MoveNext()       Orders.Client.FetchAsync(): async methods, iterators
//   C+<>c__DisplayClass3_0.<Check>b__1(System.Int32)    C.Check.AnonymousMethod__3_1(int)
//   C.<Main>g__Local|0_0(System.String)                 C.Main.Local(string)
//   Orders.<Api>F0F…__Client.Send()                     Orders.Client.Send(), if Client is local to the file Api.cs
//   C.get_Name(), C.add_Done(System.EventHandler)       C.Name.get(), C.Done.add(System.EventHandler)
//   C.get_Item(System.Int32)                            C.this[int].get(int)
//   Orders.C..ctor(), Orders.C..cctor()                 Orders.C.C(), Orders.C.static C()
//   C.op_Addition(C, C), C.Finalize()                   C.operator +(C, C), C.~C()
//   A<System.Int32>+B.Take(System.Nullable<System.Char>, System.Int32[,][])
//                                                       A<int>.B.Take(char?, int[][,])
//
// It differs from Visual Studio's form in three ways: a static constructor is marked as static, a lambda always has the
// number of its method, and a local function has only its name. The parameters of an async method or of an iterator are
// not known, so their overloads may have the same name: code that counts by these names compares the raw ones too
// (ShownStacks). Names of other compilers (F#, Visual Basic) are returned with their types in C#'s form.
//
// Pure; not frozen-safe. Any text may be given: a text that is not such a name is returned unchanged. Time and memory
// are bounded by its length.
std::string managed_name(std::string_view name);

}  // namespace mixwalk

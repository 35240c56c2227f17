#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// The name of a managed function as a C# programmer writes it, of the name that metadata gives it
// ("Namespace.Type<Arguments>.Method<Arguments>(Parameters)", see clr_name.h). It is written as the Call Stack window of
// Visual Studio does (the tests of Roslyn's CSharpInstructionDecoder have its rules), without names of parameters:
//
//   Orders.Client+<FetchAsync>d__7.MoveNext()                    Orders.Client.FetchAsync()        async, iterators
//   Orders.Client+<>c__DisplayClass3_0.<Check>b__1(System.Int32) Orders.Client.Check.AnonymousMethod__3_1(int)
//   Orders.Program.<Main>g__Local|0_0(System.String)             Orders.Program.Main.Local(string)
//   Orders.Client.get_Name(), Orders.Client.add_Done(…)          Orders.Client.Name.get(), Orders.Client.Done.add(…)
//   Orders.Client.get_Item(System.Int32)                         Orders.Client.this[int].get(int)
//   Orders.Client..ctor(), Orders.Client..cctor()                Orders.Client.Client(), Orders.Client.static Client()
//   Orders.Price.op_Addition(…), Orders.File.Finalize()          Orders.Price.operator +(…), Orders.File.~File()
//   Outer<System.Int32>+Inner.Take(System.Nullable<System.Char>, System.Int32[,][])
//                                                                Outer<int>.Inner.Take(char?, int[][,])
//
// In three places it is not Visual Studio's: a static constructor says that it is one, a lambda always has the
// number of its method, and a local function has only its name. The parameters of an async method or of an iterator
// are not known. So overloads of one may read alike: who counts by these names looks at the raw ones too
// (RecordedStacks). Names of other compilers (F#, Visual Basic) come back with the types as C# writes them.
//
// Pure; not frozen-safe. Any text may be given: what is no such name comes back as it is. Time and memory are
// bounded by its length.
std::string managed_name(std::string_view name);

}  // namespace mixwalk

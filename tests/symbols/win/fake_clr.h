#pragma once

#include <windows.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "symbols/win/profiling_api.h"

namespace mixwalk::test {

// A COM object as bytes: a table of functions by slot. The slots are numbered as in the public IDL (corprof.idl, cor.h
// of the .NET sources) and not as in our headers. If our headers declare a method in the wrong place, the code under
// test calls the wrong slot, which ends the test.
template <std::size_t kSlots>
struct ComTable {
  std::array<void*, kSlots> slots;
  ComTable() {
    slots.fill(reinterpret_cast<void*>(+[]() -> HRESULT { std::abort(); }));
  }
  template <class Function>
  void set(std::size_t slot, Function* function) {
    slots[slot] = reinterpret_cast<void*>(function);
  }
};

// The metadata of the only module.
struct FakeMetadata {
  struct Method {
    std::wstring name;
    ULONG32 type = 0;
    std::vector<std::uint8_t> signature;
  };
  struct Type {
    std::wstring name;
    ULONG32 outer = 0;  // the type in which it is nested, or its scope
  };

  FakeMetadata();

  void** table;  // must come first, because a COM pointer points to it
  std::map<ULONG32, Method> methods;
  std::map<ULONG32, Type> types;  // TypeDefs and TypeRefs
  GUID mvid{};
  std::vector<std::uint8_t> debuggable;  // the value of the assembly's DebuggableAttribute
  int references = 0;
};

// A runtime whose functions and classes the test defines.
struct FakeClr {
  static constexpr clr::ModuleID kModule = 0xA000;

  struct Function {
    clr::ClassID type = 0;
    ULONG32 method = 0;
    std::vector<clr::ClassID> arguments;
  };
  struct Class {
    ULONG32 type_def = 0;
    std::vector<clr::ClassID> arguments;
    ULONG rank = 0;  // if not 0, the type is an array
    DWORD element_kind = 0;
    clr::ClassID element = 0;
  };

  // One version of a function's code.
  struct Code {
    clr::FunctionID function = 0;
    std::vector<clr::CodeInfo> pieces;
    std::vector<IlToNative> map;
  };

  FakeClr();
  clr::ICorProfilerInfo3* info() { return reinterpret_cast<clr::ICorProfilerInfo3*>(this); }
  clr::ICorProfilerInfo8* info8() { return reinterpret_cast<clr::ICorProfilerInfo8*>(this); }
  clr::ICorProfilerInfo9* info9() { return reinterpret_cast<clr::ICorProfilerInfo9*>(this); }

  void** table;  // must come first, because a COM pointer points to it
  FakeMetadata metadata;
  std::map<clr::FunctionID, Function> functions;
  std::map<clr::FunctionID, std::wstring> dynamic_functions;
  std::map<clr::ClassID, Class> classes;
  std::map<UINT_PTR, Code> code;  // by the address of its start
  std::wstring file;              // of the module
  // The module's image, and the IL of its methods, which is at its end. Memory that hot reload has allocated, if
  // `reloaded` is true.
  static constexpr BYTE kImage[16]{};
  std::vector<BYTE> reloaded_il = std::vector<BYTE>(16);
  bool reloaded = false;
  bool has_debugger = true;
  bool has_metadata = true;
  int questions = 0;  // calls of GetFunctionInfo2
};

}  // namespace mixwalk::test

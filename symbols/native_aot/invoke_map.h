#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mixwalk {

// Reads which methods a program of NativeAOT can call by reflection: its Main, the constructors of its attributes, the
// targets of delegates, and what the program itself asks for. The map of stack traces leaves these methods out, because
// the program looks here too. (dotnet/runtime: ILCompiler.Compiler, ReflectionInvokeMapNode and TypeMetadataMapNode;
// hash tables: Internal/NativeFormat.) Nothing of it is trusted. Pure; not frozen-safe.
struct InvokeMap {
  std::span<const std::byte> types, methods, references;
  std::uint32_t references_rva = 0;  // each reference is relative to its own place

  struct Row {
    std::uint32_t rva = 0;
    std::uint32_t method = 0;  // the offset of its record in the metadata
    std::uint32_t type = 0;    // the handle of its type; 0 if the type is an instance of a generic one
  };
  // Returns the methods that have code. `damaged` becomes true if some could not be read.
  std::vector<Row> rows(bool& damaged) const;
};

}  // namespace mixwalk

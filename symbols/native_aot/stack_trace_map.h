#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "symbols/image_file.h"
#include "symbols/native_aot/invoke_map.h"
#include "symbols/native_aot/native_metadata.h"

namespace mixwalk {

// The names of methods in a program that .NET's NativeAOT compiled: the map from which the program itself makes the
// texts of stack traces. (dotnet/runtime: src/coreclr/nativeaot/System.Private.StackTraceMetadata.) Not frozen-safe.
//
// The image has no directory entry for it. A header "RTR" in its data lists sections by number, and among them are the
// metadata and the map. A method that the map does not name was made by the compiler (a delegate's thunk, for example).
class StackTraceMap {
 public:
  // The parts of a map, from which tests make one too.
  struct Parts {
    std::span<const std::byte> metadata, map;
    std::uint32_t map_rva = 0;  // the places in the map are relative to their own
    unsigned kind_bits = 7;     // as of NativeMetadata
    InvokeMap reflection = {};
  };
  // Returns nothing if the image was not made by NativeAOT, or by a version that is not known. `map` is empty if it was
  // built without the map (StackTraceSupport=false); it has names of methods that reflection may call.
  static std::optional<Parts> find(const PeImage& image);

  StackTraceMap() = default;
  // The memory of the parts must outlive this object. A damaged map ends where the damage begins.
  explicit StackTraceMap(const Parts& parts);
  // Finds code that the map does not name itself: the handlers of exceptions, which have an entry of .pdata each,
  // behind that of their method, and the methods of value types behind the stubs for boxed values, to which reflection
  // leads. `file` are the bytes of the image.
  void add_code(const PeImage& image, std::span<const std::byte> file);

  bool empty() const noexcept { return methods_.empty(); }
  // Whether entries could not be read.
  bool damaged() const noexcept { return damaged_; }
  std::size_t bytes() const noexcept {
    return methods_.capacity() * sizeof(Entry) + boxed_.capacity() * 4 + handlers_.capacity() * 8;
  }
  std::size_t size() const noexcept { return methods_.size(); }
  // Returns the name of the method whose code, or one of whose handlers, begins at that RVA, in the form of clr_name.h;
  // empty if there is none.
  std::string name_at(std::uint32_t rva) const;

 private:
  struct Entry {
    std::uint32_t rva = 0;
    NativeMetadata::Method method;  // without a type, and so without a name, if it is not known which method this is
  };
  // Adds one entry for all that have the same code. If their methods differ, it is not known which of them runs, so
  // that entry has no type.
  void add_unambiguous(std::vector<Entry> entries);
  const Entry* find(std::uint32_t rva) const;
  void read_map(const Parts& parts);
  void add_reflection(const InvokeMap& map);
  void add_handlers(const PeImage& image, std::span<const std::byte> file);
  void add_unboxed(const PeImage& image);

  NativeMetadata metadata_;
  bool damaged_ = false;
  std::vector<Entry> methods_;                                     // sorted by RVA
  std::vector<std::uint32_t> boxed_;                               // of methods of value types that reflection names
  std::vector<std::pair<std::uint32_t, std::uint32_t>> handlers_;  // RVA of a handler and of its method, sorted
};

}  // namespace mixwalk

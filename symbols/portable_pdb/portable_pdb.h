#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/metadata/metadata_tables.h"
#include "symbols/portable_pdb/source_link.h"
#include "unmanaged/image/debug_directory.h"
#include "unmanaged/step/byte_memory.h"

namespace mixwalk {

// The reason why a portable PDB gives no lines.
enum class PortablePdbError : std::uint8_t {
  none,
  not_portable,  // another file, for example a Windows PDB
  damaged,       // its streams or tables lie beyond its end
  no_image_id,   // the image names no portable PDB
  missing,       // no file with that name was found
  other_image,   // made for another build of the image
  bad_embedding, // the PDB is embedded, but cannot be unpacked
  altered,       // made for this image, but its checksum is another one
};
// Returns one line without a full stop.
std::string_view to_string(PortablePdbError error) noexcept;

// A place in the source of managed code.
struct ManagedPlace {
  std::string file;  // UTF-8, as the compiler wrote it
  std::uint32_t line = 0;
  std::string url = {};  // from which the file can be read; empty if the PDB has no Source Link for it
  bool operator==(const ManagedPlace&) const = default;
};

// The lines of managed methods, from a portable PDB: its tables Document and MethodDebugInformation.
// (https://github.com/dotnet/runtime/blob/main/docs/design/specs/PortablePdb-Metadata.md; ECMA-335 II.24.) Not
// frozen-safe; const once opened.
class PortablePdb {
 public:
  struct Opened {
    std::unique_ptr<const PortablePdb> pdb;  // null if there is an error
    PortablePdbError error = PortablePdbError::none;
  };
  // `image` is the id that the image's CodeView entry has for a portable PDB, see code_view_id(). `checksums` are those
  // of the image; a file counts only if it has one of them, as far as they can be computed (SHA-256, the compilers'
  // own). If none can be, the id alone counts.
  static Opened open(std::vector<std::byte> file, const std::optional<CodeViewId>& image,
                     std::span<const PdbChecksum> checksums = {});

  // Returns the place of the code at an offset of the method's IL: the last visible sequence point at or before the
  // offset. The runtime's own stack traces print the same point. Returns nothing if the method has no such point.
  // `method` is a MethodDef token (0x06…).
  std::optional<ManagedPlace> find(std::uint32_t method, std::uint32_t il_offset) const;
  // Returns the place of an await of an async method. `method`: MoveNext of its state machine; `number`: of the await,
  // from 0 on, as <>1__state has it. Returns nothing if the PDB does not have it.
  std::optional<ManagedPlace> find_await(std::uint32_t method, std::uint32_t number) const;
  std::size_t bytes() const noexcept { return file_.capacity(); }  // memory in use

 private:
  explicit PortablePdb(std::vector<std::byte> file) : file_(std::move(file)) {}
  PortablePdbError parse();
  // Whether the file is the one that the compiler wrote, by its checksums.
  bool is_unaltered(std::span<const PdbChecksum> checksums);
  void read_source_link();
  // The value of the custom debug information of this kind.
  std::optional<std::vector<std::byte>> custom_information(std::uint32_t parent,
                                                           const std::array<std::uint8_t, 16>& kind) const;
  std::optional<std::string> document_name(std::uint32_t row) const;

  std::vector<std::byte> file_;
  ByteMemory memory_{file_};
  std::array<std::byte, 20> id_{};
  std::uint64_t id_at_ = 0;  // in the file
  std::optional<MetadataTables> tables_;
  SourceLink source_link_;
};

}  // namespace mixwalk

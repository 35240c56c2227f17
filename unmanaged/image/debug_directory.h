#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// One entry of an image's debug directory (IMAGE_DEBUG_DIRECTORY).
struct DebugEntry {
  static constexpr std::uint32_t kCodeView = 2;
  static constexpr std::uint32_t kEmbeddedPortablePdb = 17;
  static constexpr std::uint32_t kPdbChecksum = 19;

  std::uint32_t timestamp = 0;
  std::uint16_t major = 0, minor = 0;  // version
  std::uint32_t type = 0;
  std::span<const std::byte> data;  // views the file; empty if the data lies beyond the end of the file
};

// Returns the debug directory of an image file in memory, 32-bit or 64-bit, native or managed. The result is empty if
// there is no debug directory or the headers are damaged. Nothing in the file is trusted. Views point into `file`.
// Pure. (Microsoft PE and COFF specification, "The .debug section".)
std::vector<DebugEntry> debug_directory(std::span<const std::byte> file);

// Identifies the PDB that belongs to an image, by the image's CodeView entry of kind RSDS. GNU ld writes an entry
// without a path: such an entry names no PDB, and its GUID is the build id (ld manual, --build-id).
struct CodeViewId {
  std::array<std::byte, 16> guid{};
  std::uint32_t age = 0;
  std::uint32_t timestamp = 0;  // of the entry; part of a portable PDB's id
  bool portable = false;        // whether the PDB is a portable PDB
  std::string path;             // as the linker wrote it, any bytes; often a path on the machine that linked the image

  auto operator<=>(const CodeViewId&) const = default;
};

// Parses a CodeView record of kind RSDS, from an image's debug directory or from a minidump. Returns nothing if it is
// not such a record. The record contains neither the timestamp nor whether the PDB is a portable one.
std::optional<CodeViewId> parse_code_view(std::span<const std::byte> record);

// Returns the first CodeView entry that names a PDB of that kind, or nothing if there is none.
std::optional<CodeViewId> code_view_id(std::span<const DebugEntry> entries, bool portable);

// A sum of the image's portable PDB, as the compiler wrote it. The PDB's own id, 20 bytes, counts as zeros.
// (dotnet/runtime, docs/design/specs/PE-COFF.md: "PDB Checksum Debug Directory Entry".)
struct PdbChecksum {
  std::string algorithm;         // "SHA256"; letters, digits and '-'
  std::vector<std::byte> value;  // not empty

  auto operator<=>(const PdbChecksum&) const = default;
};
// Returns the sums that the image has, at most a few. Those that cannot be read are left out.
std::vector<PdbChecksum> pdb_checksums(std::span<const DebugEntry> entries);
// "SHA256:0123…;SHA512:4567…", as symbol servers read it.
std::string checksums_text(std::span<const PdbChecksum> checksums);

// Identifies an image file, by its headers and its CodeView entry.
struct ImageFileId {
  std::uint32_t timestamp = 0;      // IMAGE_FILE_HEADER.TimeDateStamp
  std::uint32_t size_of_image = 0;  // bytes
  std::optional<CodeViewId> code_view;  // of the PDB of native code, or, if there is none, of the portable PDB
  std::optional<CodeViewId> portable;   // of the portable PDB; code compiled ahead of time may have both
  std::vector<PdbChecksum> checksums = {};  // of the portable PDB
  bool has_pdb_inside = false;          // the portable PDB is a part of the file

  bool operator==(const ImageFileId&) const = default;
};
// Returns bytes of a file, or of an image in memory; fewer bytes if it ends earlier or cannot be read.
using ReadFilePart = std::function<std::vector<std::byte>(std::uint64_t offset, std::size_t bytes)>;
// How the bytes of an image lie: as in its file, or each section at its RVA.
enum class ImageLayout { file, loaded };
// Reads some kilobytes of an image, 32-bit or 64-bit, instead of all of it. Returns nothing if it is not an image or
// its headers are damaged.
std::optional<ImageFileId> read_image_file_id(const ReadFilePart& read, ImageLayout layout = ImageLayout::file);

// Returns the name of the PDB's folder in a symbol store, such as "0123456789ABCDEF0123456789ABCDEF1": the GUID in its
// usual form without dashes, and the age in hexadecimal. A portable PDB has FFFFFFFF instead of the age.
std::string symbol_store_id(const CodeViewId& id);

// Returns the GUID of an entry without a path, in the form of ld's tools: 32 lower-case hexadecimal digits. The result
// is empty if the entry names a PDB.
std::string build_id(const CodeViewId& id);

// Returns the file's name in a path of Windows or of Unix.
std::string_view file_name(std::string_view path) noexcept;

}  // namespace mixwalk

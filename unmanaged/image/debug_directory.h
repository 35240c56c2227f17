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

  std::uint32_t timestamp = 0;
  std::uint16_t major = 0, minor = 0;  // version
  std::uint32_t type = 0;
  std::span<const std::byte> data;  // views the file; empty: it lies beyond the file
};

// The debug directory of an image file in memory, 32-bit or 64-bit, native or managed; empty where there
// is none, or the headers are damaged. Nothing in the file is trusted. Views point into `file`. Pure.
// (Microsoft PE and COFF specification, "The .debug section".)
std::vector<DebugEntry> debug_directory(std::span<const std::byte> file);

// Which PDB belongs to an image: its CodeView entry, kind RSDS. GNU ld writes an entry without a path: that names no
// PDB, and its GUID is the build id (ld manual, --build-id).
struct CodeViewId {
  std::array<std::byte, 16> guid{};
  std::uint32_t age = 0;
  std::uint32_t timestamp = 0;  // of the entry; part of a portable PDB's id
  bool portable = false;        // the PDB is a portable one
  std::string path;             // as the linker wrote it, any bytes; often of the machine that linked

  auto operator<=>(const CodeViewId&) const = default;
};

// A CodeView record of kind RSDS, from an image's debug directory or from a minidump. Nothing: it is no such record.
// Whether the PDB is a portable one, and the timestamp, are not in the record.
std::optional<CodeViewId> parse_code_view(std::span<const std::byte> record);

// The first CodeView entry that names a PDB of that kind; nothing: there is none.
std::optional<CodeViewId> code_view_id(std::span<const DebugEntry> entries, bool portable);

// Which file an image is, by its headers, and its CodeView entry.
struct ImageFileId {
  std::uint32_t timestamp = 0;      // IMAGE_FILE_HEADER.TimeDateStamp
  std::uint32_t size_of_image = 0;  // bytes
  std::optional<CodeViewId> code_view;  // of native code; without such a one, that of a portable PDB

  bool operator==(const ImageFileId&) const = default;
};
// Bytes of a file; fewer where it ends before, or cannot be read.
using ReadFilePart = std::function<std::vector<std::byte>(std::uint64_t offset, std::size_t bytes)>;
// Reads some kilobytes of an image file, 32-bit or 64-bit, instead of all of it. Nothing: the file is no image, or its
// headers are damaged.
std::optional<ImageFileId> read_image_file_id(const ReadFilePart& read);

// "0123456789ABCDEF0123456789ABCDEF1": the GUID in its usual form, without dashes, and the age in hexadecimal. This is
// the name of the folder in a symbol store. A portable PDB has the age FFFFFFFF there.
std::string symbol_store_id(const CodeViewId& id);

// The GUID of an entry without a path, in the form of ld's tools: 32 lower-case hexadecimal digits. Empty where the
// entry names a PDB.
std::string build_id(const CodeViewId& id);

// The file's name in a path of Windows or of Unix.
std::string_view file_name(std::string_view path) noexcept;

}  // namespace mixwalk

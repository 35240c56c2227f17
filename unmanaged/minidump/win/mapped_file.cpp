#include "unmanaged/minidump/mapped_file.h"

#include <windows.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

// The same words as on other systems, for the errors that other systems have as well.
std::string text_of(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME: return std::generic_category().message(ENOENT);
    case ERROR_ACCESS_DENIED: return std::generic_category().message(EACCES);
    case ERROR_SHARING_VIOLATION: return "another program has the file open";
    default: return "error " + std::to_string(error) + " of Windows";
  }
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const std::wstring name = to_utf16(path);
  const DWORD attributes = GetFileAttributesW(name.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    error_ = std::generic_category().message(EISDIR);
    return;
  }
  const UniqueHandle file(CreateFileW(name.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                                      OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  LARGE_INTEGER size{};
  if (!file) {
    error_ = text_of(GetLastError());
    return;
  }
  if (GetFileType(file.get()) != FILE_TYPE_DISK) {
    error_ = "not a file";
    return;
  }
  if (!GetFileSizeEx(file.get(), &size)) {
    error_ = text_of(GetLastError());
    return;
  }
  if (size.QuadPart == 0) return;
  const UniqueHandle mapping(CreateFileMappingW(file.get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
  const void* const at = mapping ? MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, 0) : nullptr;
  if (at == nullptr) {
    error_ = text_of(GetLastError());
    return;
  }
  bytes_ = {static_cast<const std::byte*>(at), static_cast<std::size_t>(size.QuadPart)};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty() && content_.empty()) UnmapViewOfFile(bytes_.data());
}

void MappedFile::read(std::uint64_t offset, void* into, std::size_t bytes) const noexcept {
  std::memcpy(into, bytes_.data() + offset, bytes);
}

bool MappedFile::cut() const noexcept { return false; }

}  // namespace mixwalk

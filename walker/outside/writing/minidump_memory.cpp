#include "walker/outside/writing/minidump_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "unmanaged/step/page_kind.h"
#include "unmanaged/win/process_memory.h"
#include "unmanaged/win/unique_handle.h"

namespace mixwalk {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20, kPageBytes = 4096;
constexpr std::uint64_t kMaxDumpBytes = std::uint64_t{64} << 20;  // the limit for a dump without memory (some 200 KiB)
constexpr std::uint64_t kBeginBytes = 64 << 10;  // header and directory, which follows the header (some 200 bytes)

std::vector<DumpedRange> readable_ranges(HANDLE process) {
  std::vector<DumpedRange> ranges;
  MEMORY_BASIC_INFORMATION info;
  for (std::uint64_t at = 0;
       VirtualQueryEx(process, reinterpret_cast<const void*>(at), &info, sizeof info) != 0;) {
    const auto begin = reinterpret_cast<std::uint64_t>(info.BaseAddress);
    const std::uint64_t end = begin + info.RegionSize;
    if (end <= at) break;
    if (kind_of_pages(info.State, info.Protect) != MemoryKind::nothing) {
      if (!ranges.empty() && ranges.back().begin + ranges.back().bytes == begin) {
        ranges.back().bytes += info.RegionSize;
      } else {
        ranges.push_back({begin, info.RegionSize});
      }
    }
    at = end;
  }
  return ranges;
}

DWORD write_at(HANDLE file, std::uint64_t offset, std::span<const std::byte> bytes) {
  LARGE_INTEGER place{};
  place.QuadPart = static_cast<LONGLONG>(offset);
  DWORD done = 0;
  SetLastError(ERROR_SUCCESS);
  if (SetFilePointerEx(file, place, nullptr, FILE_BEGIN) &&
      WriteFile(file, bytes.data(), static_cast<DWORD>(bytes.size()), &done, nullptr) && done == bytes.size()) {
    return ERROR_SUCCESS;
  }
  const DWORD error = GetLastError();
  return error == ERROR_SUCCESS ? static_cast<DWORD>(ERROR_DISK_FULL) : error;
}

// The file of the handle, to read, and its present size. The handle is null if it cannot be read.
std::pair<UniqueHandle, std::uint64_t> open_again(HANDLE file) {
  LARGE_INTEGER size{};
  UniqueHandle again(ReOpenFile(file, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, 0));
  if (!again || !GetFileSizeEx(again.get(), &size)) return {};
  return {std::move(again), static_cast<std::uint64_t>(size.QuadPart)};
}

// The first bytes of a file; nothing if they cannot all be read.
std::vector<std::byte> first_bytes(HANDLE file, std::uint64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  DWORD done = 0;
  if (!ReadFile(file, bytes.data(), static_cast<DWORD>(bytes.size()), &done, nullptr)) return {};
  if (done != bytes.size()) return {};  // the tables begin where the dump ends
  return bytes;
}

// The present content of the handle's file. Returns nothing if it cannot be read.
std::vector<std::byte> read_back(HANDLE file) {
  const auto [again, size] = open_again(file);
  if (!again || size > kMaxDumpBytes) return {};
  return first_bytes(again.get(), size);
}

void read_piece(const ProcessMemory& memory, std::uint64_t address, std::span<std::byte> piece) {
  if (memory.read(address, piece.data(), piece.size())) return;
  for (std::size_t at = 0; at < piece.size(); at += kPageBytes) {
    const auto page = piece.subspan(at, std::min(kPageBytes, piece.size() - at));
    if (!memory.read(address + at, page.data(), page.size())) std::ranges::fill(page, std::byte{0});
  }
}

}  // namespace

DWORD append_memory(HANDLE process, HANDLE file, std::span<const DumpedName> names,
                    const std::atomic<bool>& cancelled, std::function<void()> after_first_piece) {
  const std::vector<std::byte> dump = read_back(file);
  const std::vector<DumpedRange> ranges = readable_ranges(process);
  const auto addition = add_memory(dump, dump.size(), ranges, names);
  if (!addition) return ERROR_BAD_FORMAT;
  if (const DWORD error = write_at(file, addition->tables_at, addition->tables)) return error;
  const ProcessMemory memory(process);
  std::vector<std::byte> buffer(kPieceBytes);
  std::uint64_t place = addition->tables_at + addition->tables.size();
  for (const DumpedRange& range : ranges) {
    for (std::uint64_t done = 0; done < range.bytes;) {
      if (cancelled) return ERROR_CANCELLED;
      const std::span piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), range.bytes - done));
      read_piece(memory, range.begin + done, piece);
      if (const DWORD error = write_at(file, place, piece)) return error;
      done += piece.size();
      place += piece.size();
      if (const auto call = std::exchange(after_first_piece, {})) call();
    }
  }
  return write_at(file, 0, addition->header);
}

DWORD add_names(HANDLE file, std::span<const DumpedName> names) {
  const auto [again, size] = open_again(file);
  if (!again) return ERROR_SUCCESS;
  const auto change = fill_names_room(first_bytes(again.get(), std::min(size, kBeginBytes)), names);
  if (!change) return ERROR_SUCCESS;
  if (!change->names.empty()) {
    if (const DWORD error = write_at(file, change->names_at, change->names)) return error;
  }
  return write_at(file, change->entry_at, change->entry);
}

std::uint64_t dumped_bytes(HANDLE process) {
  std::uint64_t bytes = 0;
  for (const DumpedRange& range : readable_ranges(process)) bytes += range.bytes;
  return bytes;
}

}  // namespace mixwalk

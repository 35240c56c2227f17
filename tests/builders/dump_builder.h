#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/builders/byte_writer.h"

namespace mixwalk::test {

// Writes minidumps byte by byte, from the format's description (minidumpapiset.h) and not from the reader's structures.
// The default is an x64 process of Windows 10.0.19045 with no threads, in a dump of 2023.
class DumpBuilder {
 public:
  static constexpr std::uint32_t kTime = 1'700'000'000;
  static constexpr std::uint16_t kX86 = 0, kArm = 5, kX64 = 9, kArm64 = 12;

  // In the order of the x64 numbers: Rax, Rcx, Rdx, Rbx, Rsp, Rbp, Rsi, Rdi, R8 to R15. Rip is the last value.
  using RegisterValues = std::array<std::uint64_t, 17>;
  static RegisterValues at(std::uint64_t rip, std::uint64_t rsp, std::uint64_t rbp = 0);

  struct ThreadOf {
    std::uint32_t id = 0;
    std::uint64_t teb = 0;
    std::uint64_t stack = 0, stack_bytes = 0;
    std::optional<RegisterValues> registers;
    std::uint32_t context_flags = 0x10000B;
    std::string name;  // ASCII
  };

  DumpBuilder& machine(std::uint16_t architecture);
  DumpBuilder& thread(const ThreadOf& thread);
  // `code_view` is the raw record; empty if there is none.
  DumpBuilder& module(std::uint64_t base, std::uint32_t size, std::uint32_t timestamp, const std::string& path,
                      const std::vector<std::byte>& code_view = {}, std::uint64_t file_version = 0);
  DumpBuilder& unloaded(std::uint64_t base, std::uint32_t size, std::uint32_t timestamp, const std::string& path);
  // Adds memory to the list of 64-bit ranges, or to that of 32-bit ranges.
  DumpBuilder& memory(std::uint64_t address, std::vector<std::byte> bytes);
  DumpBuilder& memory32(std::uint64_t address, std::vector<std::byte> bytes);
  // Adds a range that the list promises, and of which nothing is written.
  DumpBuilder& promised(std::uint64_t address, std::uint64_t bytes);
  DumpBuilder& region(std::uint64_t address, std::uint64_t bytes, std::uint32_t state, std::uint32_t protection,
                      std::uint32_t type = 0x20000);
  DumpBuilder& exception(std::uint32_t thread, std::uint32_t code, std::uint64_t address,
                         const RegisterValues& registers, const std::vector<std::uint64_t>& parameters = {});
  DumpBuilder& misc(std::uint32_t process_id, std::uint32_t start);
  // Adds another stream, behind all others.
  DumpBuilder& stream(std::uint32_t kind, std::vector<std::byte> bytes);
  // Puts four bytes between the number and the records of lists, as Breakpad writes them.
  DumpBuilder& padded_lists();

  // Writes no list of threads' names.
  DumpBuilder& without_names();

  std::vector<std::byte> build() const;

  static std::vector<std::byte> rsds(std::uint8_t guid, std::uint32_t age, const std::string& path);

 private:
  struct Module {
    std::uint64_t base;
    std::uint32_t size, timestamp;
    std::string path;
    std::vector<std::byte> code_view;
    std::uint64_t file_version;
  };
  struct Piece {
    std::uint64_t address;
    std::vector<std::byte> bytes;
    std::uint64_t promised;
  };
  struct Region {
    std::uint64_t address, bytes;
    std::uint32_t state, protection, type;
  };
  struct Raised {
    std::uint32_t thread, code;
    std::uint64_t address;
    RegisterValues registers;
    std::vector<std::uint64_t> parameters;
  };

  std::uint16_t machine_ = kX64;
  bool padded_ = false, with_names_ = true;
  std::vector<ThreadOf> threads_;
  std::vector<Module> modules_, unloaded_;
  std::vector<Piece> memory_, memory32_;
  std::vector<Region> regions_;
  std::optional<Raised> exception_;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> misc_;
  std::vector<std::pair<std::uint32_t, std::vector<std::byte>>> more_;
};

}  // namespace mixwalk::test

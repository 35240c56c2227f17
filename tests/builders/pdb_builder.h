#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/builders/byte_writer.h"

namespace mixwalk::test {

// Writes an MSF container from its description, not from the parser's structures.
class MsfBuilder {
 public:
  explicit MsfBuilder(std::uint32_t block_bytes = 512) : block_bytes_(block_bytes) {}

  // Returns the stream's number.
  std::uint32_t add(std::vector<std::byte> stream);
  void set(std::uint32_t number, std::vector<std::byte> stream);
  // Writes the blocks of every stream in the opposite order.
  void scatter() { scatter_ = true; }
  std::vector<std::byte> build() const;

 private:
  std::uint32_t block_bytes_;
  bool scatter_ = false;
  std::vector<std::vector<std::byte>> streams_;
};

// Writes the symbols and the lines of one module. Places are offsets in section 1.
class PdbModuleBuilder {
 public:
  // Returns the offset of the record in the stream.
  std::uint32_t procedure(const std::string& name, std::uint32_t offset, std::uint32_t bytes,
                          std::uint16_t kind = 0x1110);
  void thunk(const std::string& name, std::uint32_t offset, std::uint16_t bytes);
  void block();
  void separated(std::uint32_t offset, std::uint32_t bytes, std::uint32_t function);
  void inline_site(std::uint32_t inlinee, std::initializer_list<int> annotations, bool counted = false);
  // S_END, S_INLINESITE_END and S_PROC_ID_END.
  void end() { record(0x0006, {}); }
  void end_inline() { record(0x114E, {}); }
  void record(std::uint16_t kind, const ByteWriter& data);

  // `path` is an offset in "/names". Returns the file's own number.
  std::uint32_t file(std::uint32_t path);
  void inlinee(std::uint32_t id, std::uint32_t file, std::uint32_t line);
  // Adds a list of functions of another module; `module` is the offset of that module's name in "/names".
  void imports(std::uint32_t module, const std::vector<std::uint32_t>& functions);
  void exports(std::uint32_t own, std::uint32_t global);
  // Each row has the offset from the start, and the line.
  void lines(std::uint32_t offset, std::uint32_t bytes, std::uint32_t file,
             std::vector<std::pair<std::uint32_t, std::uint32_t>> rows, bool columns = false);

  std::vector<std::byte> symbols() const { return symbols_.bytes(); }
  std::vector<std::byte> c13() const;

 private:
  ByteWriter symbols_ = ByteWriter().u32(4);
  ByteWriter files_, inlinees_ = ByteWriter().u32(0), lines_, imports_, exports_;
};

// Writes PDBs of an image with one section of code, at RVA 0x1000.
class PdbBuilder {
 public:
  static constexpr std::uint32_t kCode = 0x1000, kCodeBytes = 0x1000;

  std::uint8_t guid = 0;  // each of its 16 bytes has this value
  std::uint32_t age = 1;
  std::uint32_t info_age = 1;
  bool fast_link = false;
  bool scattered = false;
  std::uint32_t block_bytes = 512;

  // Adds a stream of that name.
  void named_stream(const std::string& name, const std::string& content) { named_.emplace_back(name, content); }

  // Returns the text's offset in "/names".
  std::uint32_t text(const std::string& text);
  // Return numbers in the IPI stream, or in the TPI stream.
  std::uint32_t function_id(std::uint32_t scope, const std::string& name);
  std::uint32_t member_function_id(std::uint32_t type, const std::string& name);
  std::uint32_t string_id(const std::string& text);
  std::uint32_t structure(const std::string& name);

  // Returns the module's number.
  std::uint16_t module(const PdbModuleBuilder& module, const std::string& name = "module.obj");
  void contribution(std::uint16_t module, std::uint32_t offset, std::uint32_t bytes, bool comdat = false);
  // `flags` 2 is a function, 0 what an assembler writes for all symbols.
  void public_symbol(const std::string& name, std::uint32_t offset, std::uint32_t flags = 2);
  // Code of the link from `from` on lies at `to` in the image.
  void rearrange(std::uint32_t from, std::uint32_t to) { rearranged_.u32(from).u32(to); }

  std::vector<std::byte> build() const;

 private:
  struct Module {
    std::string name;
    std::vector<std::byte> symbols, c13;
  };
  // `first_named` is the number of the first of named_.
  std::vector<std::byte> info(std::uint32_t names_stream, std::uint32_t first_named) const;
  std::vector<std::byte> dbi(std::uint32_t symbols, std::uint32_t headers, std::uint32_t rearranged,
                             std::uint32_t first_module) const;

  ByteWriter texts_ = ByteWriter().u8(0);
  std::vector<std::vector<std::byte>> ids_, types_;
  std::vector<Module> modules_;
  std::vector<std::pair<std::string, std::string>> named_;
  ByteWriter contributions_ = ByteWriter().u32(0xF12EBA2D);
  ByteWriter publics_, rearranged_;
};

}  // namespace mixwalk::test

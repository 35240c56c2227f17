#include "tests/builders/pdb_builder.h"

#include <algorithm>

namespace mixwalk::test {
namespace {

using Bytes = std::vector<std::byte>;

// A record with its length before it, padded to four bytes.
Bytes record_of(std::uint16_t kind, const Bytes& data) {
  ByteWriter padded;
  padded.append(data);
  while ((padded.size() + 4) % 4 != 0) padded.u8(0);
  return ByteWriter().u16(padded.size() + 2).u16(kind).append(padded.bytes()).bytes();
}

Bytes type_stream(const std::vector<Bytes>& records) {
  ByteWriter all;
  for (const Bytes& record : records) all.append(record);
  return ByteWriter()
      .u32(20040203)
      .u32(56)
      .u32(0x1000)
      .u32(0x1000 + records.size())
      .u32(all.size())
      .zeros(36)
      .append(all.bytes())
      .bytes();
}

}  // namespace

std::uint32_t MsfBuilder::add(Bytes stream) {
  streams_.push_back(std::move(stream));
  return static_cast<std::uint32_t>(streams_.size() - 1);
}

void MsfBuilder::set(std::uint32_t number, Bytes stream) { streams_.at(number) = std::move(stream); }

Bytes MsfBuilder::build() const {
  // Block 0 is the superblock, 1 and 2 are the maps of free blocks. The streams, the directory and its map follow.
  std::vector<Bytes> blocks(3, Bytes(block_bytes_));
  const auto put = [&](const Bytes& stream, bool scatter) {
    std::vector<std::uint32_t> numbers;
    const std::size_t count = (stream.size() + block_bytes_ - 1) / block_bytes_;
    for (std::size_t i = 0; i < count; ++i) {
      numbers.push_back(static_cast<std::uint32_t>(blocks.size() + (scatter ? count - 1 - i : i)));
    }
    const std::size_t first = blocks.size();
    blocks.resize(first + count, Bytes(block_bytes_));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = i * block_bytes_,
                        bytes = std::min<std::size_t>(block_bytes_, stream.size() - at);
      std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(at), bytes, blocks[numbers[i]].begin());
    }
    return numbers;
  };
  ByteWriter directory;
  directory.u32(streams_.size());
  for (const Bytes& stream : streams_) directory.u32(stream.size());
  for (const Bytes& stream : streams_) {
    for (const std::uint32_t number : put(stream, scatter_)) directory.u32(number);
  }
  ByteWriter map;
  for (const std::uint32_t number : put(directory.bytes(), scatter_)) map.u32(number);
  const std::uint32_t map_block = put(map.bytes(), false).front();

  ByteWriter superblock;
  for (const char c : std::string("Microsoft C/C++ MSF 7.00\r\n\x1a"
                                  "DS"))
    superblock.u8(static_cast<unsigned char>(c));
  superblock.zeros(3).u32(block_bytes_).u32(1).u32(blocks.size()).u32(directory.size()).u32(0).u32(map_block);
  std::copy(superblock.bytes().begin(), superblock.bytes().end(), blocks[0].begin());
  ByteWriter file;
  for (const Bytes& block : blocks) file.append(block);
  return file.bytes();
}

void PdbModuleBuilder::record(std::uint16_t kind, const ByteWriter& data) {
  symbols_.append(record_of(kind, data.bytes()));
}

std::uint32_t PdbModuleBuilder::procedure(const std::string& name, std::uint32_t offset,
                                          std::uint32_t bytes, std::uint16_t kind) {
  const auto at = static_cast<std::uint32_t>(symbols_.size());
  record(kind, ByteWriter().zeros(12).u32(bytes).zeros(12).u32(offset).u16(1).u8(0).text(name));
  return at;
}

void PdbModuleBuilder::thunk(const std::string& name, std::uint32_t offset, std::uint16_t bytes) {
  record(0x1102, ByteWriter().zeros(12).u32(offset).u16(1).u16(bytes).u8(0).text(name));
}

void PdbModuleBuilder::block() { record(0x1103, ByteWriter().zeros(18).text("")); }

void PdbModuleBuilder::separated(std::uint32_t offset, std::uint32_t bytes, std::uint32_t function) {
  record(0x1132, ByteWriter().zeros(8).u32(bytes).u32(0).u32(offset).u32(function).u16(1).u16(1));
}

void PdbModuleBuilder::inline_site(std::uint32_t inlinee, std::initializer_list<int> annotations,
                                   bool counted) {
  ByteWriter data;
  data.zeros(8).u32(inlinee);
  if (counted) data.u32(77);
  record(counted ? 0x115D : 0x114D, data.append(annotations));
}

std::uint32_t PdbModuleBuilder::file(std::uint32_t path) {
  const auto at = static_cast<std::uint32_t>(files_.size());
  files_.u32(path).u8(0).u8(0).align(4);
  return at;
}

void PdbModuleBuilder::inlinee(std::uint32_t id, std::uint32_t file, std::uint32_t line) {
  inlinees_.u32(id).u32(file).u32(line);
}

void PdbModuleBuilder::lines(std::uint32_t offset, std::uint32_t bytes, std::uint32_t file,
                             std::vector<std::pair<std::uint32_t, std::uint32_t>> rows, bool columns) {
  ByteWriter block;
  block.u32(offset).u16(1).u16(columns ? 1 : 0).u32(bytes);
  block.u32(file).u32(rows.size()).u32(12 + rows.size() * (columns ? 12 : 8));
  for (const auto& [at, line] : rows) block.u32(at).u32(line | 0x80000000);
  if (columns) block.zeros(rows.size() * 4);
  lines_.u32(0xF2).u32(block.size()).append(block.bytes());
}

void PdbModuleBuilder::imports(std::uint32_t module, const std::vector<std::uint32_t>& functions) {
  imports_.u32(module).u32(functions.size());
  for (const std::uint32_t function : functions) imports_.u32(function);
}

void PdbModuleBuilder::exports(std::uint32_t own, std::uint32_t global) { exports_.u32(own).u32(global); }

Bytes PdbModuleBuilder::c13() const {
  ByteWriter all;
  all.u32(0xF4).u32(files_.size()).append(files_.bytes());
  all.u32(0xF6).u32(inlinees_.size()).append(inlinees_.bytes());
  if (imports_.size() != 0) all.u32(0xF7).u32(imports_.size()).append(imports_.bytes());
  if (exports_.size() != 0) all.u32(0xF8).u32(exports_.size()).append(exports_.bytes());
  return all.append(lines_.bytes()).bytes();
}

std::uint32_t PdbBuilder::text(const std::string& text) {
  const auto at = static_cast<std::uint32_t>(texts_.size());
  texts_.text(text);
  return at;
}

std::uint32_t PdbBuilder::function_id(std::uint32_t scope, const std::string& name) {
  ids_.push_back(record_of(0x1601, ByteWriter().u32(scope).u32(0).text(name).bytes()));
  return static_cast<std::uint32_t>(0x1000 + ids_.size() - 1);
}

std::uint32_t PdbBuilder::member_function_id(std::uint32_t type, const std::string& name) {
  ids_.push_back(record_of(0x1602, ByteWriter().u32(type).u32(0).text(name).bytes()));
  return static_cast<std::uint32_t>(0x1000 + ids_.size() - 1);
}

std::uint32_t PdbBuilder::string_id(const std::string& text) {
  ids_.push_back(record_of(0x1605, ByteWriter().u32(0).text(text).bytes()));
  return static_cast<std::uint32_t>(0x1000 + ids_.size() - 1);
}

std::uint32_t PdbBuilder::structure(const std::string& name) {
  // A size of 0x8000 or more has its kind before it.
  types_.push_back(
      record_of(0x1505, ByteWriter().zeros(16).u16(0x8004).u32(100'000).text(name).bytes()));
  return static_cast<std::uint32_t>(0x1000 + types_.size() - 1);
}

std::uint16_t PdbBuilder::module(const PdbModuleBuilder& module, const std::string& name) {
  modules_.push_back({name, module.symbols(), module.c13()});
  return static_cast<std::uint16_t>(modules_.size() - 1);
}

void PdbBuilder::contribution(std::uint16_t module, std::uint32_t offset, std::uint32_t bytes,
                              bool comdat) {
  contributions_.u16(1)
      .u16(0)
      .u32(offset)
      .u32(bytes)
      .u32(comdat ? 0x60001020 : 0x60000020)
      .u16(module)
      .u16(0)
      .u32(0)
      .u32(0);
}

void PdbBuilder::public_symbol(const std::string& name, std::uint32_t offset, std::uint32_t flags) {
  publics_.append(record_of(0x110E, ByteWriter().u32(flags).u32(offset).u16(1).text(name).bytes()));
}

Bytes PdbBuilder::info(std::uint32_t names_stream, std::uint32_t first_named) const {
  ByteWriter info;
  info.u32(20000404).u32(0).u32(info_age);
  for (int i = 0; i < 16; ++i) info.u8(guid);
  ByteWriter texts, entries;
  texts.text("/names");
  entries.u32(0).u32(names_stream);
  for (std::size_t i = 0; i < named_.size(); ++i) {
    entries.u32(texts.size()).u32(first_named + i);
    texts.text(named_[i].first);
  }
  const std::size_t count = 1 + named_.size();
  info.u32(texts.size()).append(texts.bytes());
  // The entries, and room for as many; all are there; none is deleted.
  info.u32(count).u32(count).u32(1).u32((1u << count) - 1).u32(0);
  info.append(entries.bytes()).u32(0).u32(20140508);
  if (fast_link) info.u32(0x494E494D);
  return info.bytes();
}

Bytes PdbBuilder::dbi(std::uint32_t symbols, std::uint32_t headers, std::uint32_t rearranged,
                      std::uint32_t first_module) const {
  ByteWriter modules;
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    modules.zeros(4 + 28 + 2).u16(first_module + i);
    modules.u32(modules_[i].symbols.size()).u32(0).u32(modules_[i].c13.size());
    modules.zeros(16).text(modules_[i].name).text("library.lib").align(4);
  }
  ByteWriter further;
  for (int i = 0; i < 11; ++i) {
    const bool is_headers = i == (rearranged_.size() != 0 ? 10 : 5);
    further.u16(is_headers ? headers : i == 4 && rearranged_.size() != 0 ? rearranged : 0xFFFF);
  }
  ByteWriter dbi;
  dbi.u32(0xFFFFFFFF).u32(19990903).u32(age).u16(0xFFFF).u16(0).u16(0xFFFF).u16(0).u16(symbols).u16(0);
  dbi.u32(modules.size()).u32(contributions_.size()).u32(0).u32(0).u32(0).u32(0);
  dbi.u32(further.size()).u32(0).u16(0).u16(0x8664).u32(0);
  return dbi.append(modules.bytes()).append(contributions_.bytes()).append(further.bytes()).bytes();
}

Bytes PdbBuilder::build() const {
  MsfBuilder msf(block_bytes);
  if (scattered) msf.scatter();
  for (int i = 0; i < 5; ++i) msf.add({});
  const std::uint32_t names = msf.add(ByteWriter()
                                          .u32(0xEFFEEFFE)
                                          .u32(1)
                                          .u32(texts_.size())
                                          .append(texts_.bytes())
                                          .bytes());
  const std::uint32_t headers = msf.add(
      ByteWriter().zeros(8).u32(kCodeBytes).u32(kCode).u32(kCodeBytes).zeros(16).u32(0x60000020).bytes());
  const std::uint32_t symbols = msf.add(publics_.bytes());
  const std::uint32_t rearranged = msf.add(rearranged_.bytes());
  const std::uint32_t first_module = rearranged + 1;
  for (const Module& module : modules_) {
    msf.add(ByteWriter().append(module.symbols).append(module.c13).u32(0).bytes());
  }
  const auto first_named = static_cast<std::uint32_t>(first_module + modules_.size());
  for (const auto& [name, content] : named_) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(content.data());
    msf.add({bytes, bytes + content.size()});
  }
  msf.set(1, info(names, first_named));
  msf.set(2, type_stream(types_));
  msf.set(3, dbi(symbols, headers, rearranged, first_module));
  msf.set(4, type_stream(ids_));
  return msf.build();
}

}  // namespace mixwalk::test

#include "tests/builders/debug_image_builder.h"

#include <algorithm>
#include <cstring>

namespace mixwalk::test {
namespace {

constexpr std::uint32_t kAlignment = 0x200, kSectionAlignment = 0x1000, kHeaderBytes = 0x600;

std::uint32_t aligned(std::uint32_t value, std::uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

TableWriter& TableWriter::number(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) data_.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  return *this;
}

TableWriter& TableWriter::uleb(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) u8(static_cast<unsigned>(value & 0x7F) | 0x80);
  return u8(static_cast<unsigned>(value));
}

TableWriter& TableWriter::sleb(std::int64_t value) {
  while (value < -64 || value > 63) {
    u8(static_cast<unsigned>(value & 0x7F) | 0x80);
    value >>= 7;
  }
  return u8(static_cast<unsigned>(value & 0x7F));
}

TableWriter& TableWriter::text(std::string_view value) {
  data_.insert(data_.end(), value.begin(), value.end());
  return u8(0);
}

TableWriter& TableWriter::bytes(const std::vector<std::uint8_t>& value) {
  data_.insert(data_.end(), value.begin(), value.end());
  return *this;
}

void TableWriter::set32(std::size_t at, std::uint64_t value) {
  for (int i = 0; i < 4; ++i)
    data_[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> 8 * i);
}

DebugImageBuilder::DebugImageBuilder() {
  strings_.u32(0);  // the table's own size, filled in at the end
  sections_.push_back({".text", std::vector<std::uint8_t>(kCodeBytes, 0x90)});
}

DebugImageBuilder& DebugImageBuilder::put_code(std::uint32_t rva, const std::vector<std::uint8_t>& bytes) {
  std::copy(bytes.begin(), bytes.end(), sections_[0].data.begin() + (rva - kCode));
  return *this;
}

int DebugImageBuilder::section(const std::string& name, const std::vector<std::uint8_t>& data) {
  std::string field = name;
  if (name.size() > 8) {
    field = '/' + std::to_string(strings_.size());
    strings_.text(name);
  }
  sections_.push_back({field, data});
  return static_cast<int>(sections_.size());
}

DebugImageBuilder& DebugImageBuilder::symbol(const std::string& name, int section, std::uint32_t value,
                                             unsigned type, unsigned kind, unsigned auxiliary) {
  if (name.size() > 8) {
    symbols_.u32(0).u32(strings_.size());
    strings_.text(name);
  } else {
    for (std::size_t i = 0; i < 8; ++i) symbols_.u8(i < name.size() ? static_cast<std::uint8_t>(name[i]) : 0);
  }
  symbols_.u32(value).u16(static_cast<unsigned>(section) & 0xFFFF).u16(type).u8(kind).u8(auxiliary);
  // An auxiliary record that would be a function if it were a symbol.
  for (unsigned i = 0; i < auxiliary; ++i) {
    symbols_.bytes(std::vector<std::uint8_t>(8, 'x')).u32(i).u16(1).u16(0x20).u8(2).u8(0);
  }
  symbol_count_ += 1 + auxiliary;
  return *this;
}

std::vector<std::byte> DebugImageBuilder::build(bool debug_only) const {
  TableWriter body, headers;
  std::uint32_t rva = kCode;
  for (const Section& section : sections_) {
    const bool code = section.name == ".text", kept = !code || !debug_only;
    const auto bytes = static_cast<std::uint32_t>(section.data.size());
    for (std::size_t i = 0; i < 8; ++i) {
      headers.u8(i < section.name.size() ? static_cast<std::uint8_t>(section.name[i]) : 0);
    }
    headers.u32(bytes).u32(rva).u32(kept ? aligned(bytes, kAlignment) : 0);
    headers.u32(kept ? kHeaderBytes + body.size() : 0)
        .u32(0)
        .u32(0)
        .u32(0)
        .u32(code ? 0x60000020 : 0x42000040);
    if (kept) {
      body.bytes(section.data);
      body.bytes(std::vector<std::uint8_t>(aligned(body.size(), kAlignment) - body.size(), 0));
    }
    rva += aligned(bytes == 0 ? 1 : bytes, kSectionAlignment);
  }
  TableWriter file;
  file.u16(0x5A4D).bytes(std::vector<std::uint8_t>(58, 0)).u32(0x80);  // e_lfanew
  file.bytes(std::vector<std::uint8_t>(0x40, 0)).u32(0x4550);
  file.u16(0x8664).u16(static_cast<unsigned>(sections_.size())).u32(kTimestamp);
  file.u32(kHeaderBytes + body.size()).u32(symbol_count_).u16(240).u16(0x22);
  file.u16(0x20B)
      .bytes(std::vector<std::uint8_t>(22, 0))
      .u64(kImageBase)
      .u32(kSectionAlignment)
      .u32(kAlignment);
  file.bytes(std::vector<std::uint8_t>(16, 0)).u32(rva).u32(kHeaderBytes);
  file.bytes(std::vector<std::uint8_t>(44, 0)).u32(16).bytes(std::vector<std::uint8_t>(128, 0));
  file.bytes(headers.data());
  file.bytes(std::vector<std::uint8_t>(kHeaderBytes - file.size(), 0))
      .bytes(body.data())
      .bytes(symbols_.data());
  TableWriter strings = strings_;
  strings.set32(0, strings.size());
  file.bytes(strings.data());

  std::vector<std::byte> result(file.size());
  std::memcpy(result.data(), file.data().data(), file.size());
  return result;
}

}  // namespace mixwalk::test

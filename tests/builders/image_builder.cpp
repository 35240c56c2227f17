#include "tests/builders/image_builder.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mixwalk::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kFileAlignment = 0x200;
constexpr std::size_t kHeaderBytes = 0x400;

void add8(Bytes& to, unsigned value) {
  to.push_back(static_cast<std::uint8_t>(value));
}
void add16(Bytes& to, unsigned value) {
  add8(to, value & 0xFF);
  add8(to, value >> 8 & 0xFF);
}
void add32(Bytes& to, std::uint32_t value) {
  add16(to, value & 0xFFFF);
  add16(to, value >> 16);
}
void add_text(Bytes& to, const std::string& text) {
  to.insert(to.end(), text.begin(), text.end());
  to.push_back(0);
}
void set32(Bytes& in, std::size_t at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) in[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
}
void add_entry(Bytes& to, std::uint32_t begin, std::uint32_t end, std::uint32_t unwind) {
  add32(to, begin);
  add32(to, end);
  add32(to, unwind);
}
// Rounds up to the file alignment of sections.
std::size_t aligned(std::size_t bytes) {
  return (bytes + kFileAlignment - 1) / kFileAlignment * kFileAlignment;
}

}  // namespace

ImageBuilder& ImageBuilder::put_code(std::uint32_t rva, const Bytes& bytes) {
  Bytes& section = rva < kMoreCode ? code_ : more_code_;
  const std::size_t at = rva - (rva < kMoreCode ? kCode : kMoreCode);
  section.resize(std::max(section.size(), at + bytes.size()), 0x90);
  std::copy(bytes.begin(), bytes.end(), section.begin() + static_cast<std::ptrdiff_t>(at));
  return *this;
}

ImageBuilder& ImageBuilder::function(std::uint32_t begin, std::uint32_t end) {
  raw_function(begin, end, next_unwind());
  add32(xdata_, 0x00000001);  // version 1, no flags, no prologue, no codes, no frame register
  return *this;
}

ImageBuilder& ImageBuilder::chained(std::uint32_t begin, std::uint32_t end,
                                    std::uint32_t parent_begin, std::uint32_t parent_end,
                                    std::uint8_t codes, std::uint32_t parent_unwind) {
  if (parent_unwind == 0) {
    parent_unwind = next_unwind();
    add32(xdata_, 0x00000001);
  }
  raw_function(begin, end, next_unwind());
  add8(xdata_, 1 | 4 << 3);  // version 1, UNW_FLAG_CHAININFO
  add8(xdata_, 0);
  add8(xdata_, codes);
  add8(xdata_, 0);
  for (int i = 0; i < codes + codes % 2; ++i) add16(xdata_, 0x0200);
  add_entry(xdata_, parent_begin, parent_end, parent_unwind);
  return *this;
}

ImageBuilder& ImageBuilder::raw_function(std::uint32_t begin, std::uint32_t end,
                                         std::uint32_t unwind) {
  add_entry(pdata_, begin, end, unwind);
  return *this;
}

ImageBuilder& ImageBuilder::export_name(const std::string& name, std::uint32_t rva) {
  slots_.push_back({rva, "", {name}});
  return *this;
}

ImageBuilder& ImageBuilder::export_alias(const std::string& name) {
  slots_.back().names.push_back(name);
  return *this;
}

ImageBuilder& ImageBuilder::export_ordinal(std::uint32_t rva) {
  slots_.push_back({rva, "", {}});
  return *this;
}

ImageBuilder& ImageBuilder::forward(const std::string& name, const std::string& to) {
  slots_.push_back({0, to, {name}});
  return *this;
}

ImageBuilder& ImageBuilder::clr(bool ready_to_run) {
  clr_.assign(72, 0);
  set32(clr_, 0, 72);
  if (ready_to_run) {
    set32(clr_, 64, kClr);
    set32(clr_, 68, 16);
  }
  return *this;
}

Bytes ImageBuilder::export_section() const {
  std::vector<std::pair<std::string, std::size_t>> names;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    for (const std::string& name : slots_[slot].names) names.emplace_back(name, slot);
  }
  std::sort(names.begin(), names.end());
  const auto slot_count = static_cast<std::uint32_t>(slots_.size());
  const auto name_count = static_cast<std::uint32_t>(names.size());
  const std::uint32_t addresses = 40;
  const std::uint32_t name_pointers = addresses + slot_count * 4;
  const std::uint32_t ordinals = name_pointers + name_count * 4;
  const std::uint32_t texts = ordinals + name_count * 2;

  Bytes text;
  const auto add_string = [&](const std::string& string) {
    const auto rva = kExports + texts + static_cast<std::uint32_t>(text.size());
    add_text(text, string);
    return rva;
  };
  Bytes section;
  add32(section, 0);
  add32(section, 0);
  add32(section, 0);
  add32(section, add_string("built.dll"));
  add32(section, kOrdinalBase);
  add32(section, slot_count);
  add32(section, name_count);
  add32(section, kExports + addresses);
  add32(section, kExports + name_pointers);
  add32(section, kExports + ordinals);
  for (const Slot& slot : slots_) {
    add32(section, slot.forwarder.empty() ? slot.rva : add_string(slot.forwarder));
  }
  for (const auto& [name, slot] : names) add32(section, add_string(name));
  for (const auto& [name, slot] : names) add16(section, static_cast<unsigned>(slot));
  section.insert(section.end(), text.begin(), text.end());
  return section;
}

ImageBuilder& ImageBuilder::debug_entry(std::uint32_t type, std::uint16_t minor, const Bytes& data,
                                        std::uint32_t timestamp) {
  debug_.push_back({type, minor, data, timestamp});
  return *this;
}

ImageBuilder& ImageBuilder::code_view(std::uint8_t guid, std::uint32_t age, const std::string& path,
                                      bool portable) {
  Bytes data = {'R', 'S', 'D', 'S'};
  data.resize(20, guid);
  add32(data, age);
  add_text(data, path);
  return debug_entry(kCodeView, portable ? 0x504D : 0, data);
}

// Returns the directory, followed by the data of its entries.
Bytes ImageBuilder::debug_section(std::size_t file_offset) const {
  Bytes section, data;
  const std::size_t data_at = debug_.size() * 28;
  for (const DebugEntry& entry : debug_) {
    const std::size_t at = data_at + data.size();
    add32(section, 0);
    add32(section, entry.timestamp);
    add16(section, 0);
    add16(section, entry.minor);
    add32(section, entry.type);
    add32(section, static_cast<std::uint32_t>(entry.data.size()));
    add32(section, static_cast<std::uint32_t>(kDebug + at));
    add32(section, static_cast<std::uint32_t>(file_offset + at));
    data.insert(data.end(), entry.data.begin(), entry.data.end());
  }
  section.insert(section.end(), data.begin(), data.end());
  return section;
}

ImageBuilder& ImageBuilder::import(const std::string& image, const std::string& name) {
  imports_.push_back({image, name, 0, false, 0});
  return *this;
}

ImageBuilder& ImageBuilder::import_ordinal(const std::string& image, std::uint16_t ordinal) {
  imports_.push_back({image, "", ordinal, false, 0});
  return *this;
}

ImageBuilder& ImageBuilder::import_delayed(const std::string& image, const std::string& name,
                                           std::uint32_t loader) {
  imports_.push_back({image, name, 0, true, loader});
  return *this;
}

// Each function has tables of its own: at import_slot() a slot and the zero that ends its table, the same for its name,
// and a descriptor. The strings come last.
Bytes ImageBuilder::data_section(std::uint32_t (&directories)[16][2]) const {
  if (imports_.empty()) return Bytes(16);
  const auto names = import_slot(kMaxImports) - kData, descriptors = names + kMaxImports * 0x10;
  const auto delayed = descriptors + (kMaxImports + 1) * 20, strings = delayed + (kMaxImports + 1) * 32;
  Bytes data(strings);
  const auto add_string = [&](const std::string& text) {
    const auto at = static_cast<std::uint32_t>(kData + data.size());
    add_text(data, text);
    return at;
  };
  std::uint32_t next = descriptors, next_delayed = delayed;
  for (std::uint32_t i = 0; i < imports_.size(); ++i) {
    const ImportedFunction& from = imports_[i];
    const std::uint32_t image = add_string(from.image);
    const std::uint32_t name_table = kData + names + i * 0x10;
    std::uint32_t name = from.ordinal;
    if (!from.name.empty()) {
      name = static_cast<std::uint32_t>(kData + data.size());
      add16(data, 0);  // the hint
      add_text(data, from.name);
    } else {
      set32(data, names + i * 0x10 + 4, 0x80000000);
    }
    set32(data, names + i * 0x10, name);
    set32(data, import_slot(i) - kData, from.delayed ? from.loader : name);  // the preferred base is 0
    if (from.delayed) {
      for (const std::uint32_t field : {1u, image, 0u, import_slot(i), name_table}) {
        set32(data, next_delayed, field);
        next_delayed += 4;
      }
      next_delayed += 12;
      directories[13][0] = kData + delayed;
      directories[13][1] = next_delayed - delayed + 32;
    } else {
      for (const std::uint32_t field : {name_table, 0u, 0u, image, import_slot(i)}) {
        set32(data, next, field);
        next += 4;
      }
      directories[1][0] = kData + descriptors;
      directories[1][1] = next - descriptors + 20;
    }
  }
  return data;
}

std::vector<std::byte> ImageBuilder::build() const {
  struct Section {
    const char* name;
    std::uint32_t rva;
    Bytes bytes;
    std::uint32_t flags;
  };
  std::uint32_t directories[16][2] = {};
  std::vector<Section> sections = {{".text", kCode, code_, 0x60000020},
                                   {".more", kMoreCode, more_code_, 0x60000020},
                                   {".data", kData, data_section(directories), 0xC0000040}};
  const auto add_table = [&](int directory, const char* name, std::uint32_t rva,
                             const Bytes& bytes) {
    if (bytes.empty()) return;
    if (directory >= 0) {
      directories[directory][0] = rva;
      directories[directory][1] = static_cast<std::uint32_t>(bytes.size());
    }
    sections.push_back({name, rva, bytes, 0x40000040});
  };
  if (!slots_.empty()) add_table(0, ".edata", kExports, export_section());
  add_table(3, ".pdata", kPdata, pdata_);
  add_table(-1, ".xdata", kXdata, xdata_);
  add_table(14, ".clr", kClr, clr_);
  if (!debug_.empty()) {
    std::size_t offset = kHeaderBytes;
    for (const Section& section : sections) offset += aligned(section.bytes.size());
    add_table(6, ".debug", kDebug, debug_section(offset));
    directories[6][1] = static_cast<std::uint32_t>(debug_.size() * 28);
  }

  Bytes file = {'M', 'Z'};
  file.resize(0x3C);
  add32(file, kPeAt);
  file.resize(kPeAt);
  add32(file, 0x4550);  // "PE\0\0"
  add16(file, 0x8664);
  add16(file, static_cast<unsigned>(sections.size()));
  add32(file, kTimestamp);
  add32(file, 0);
  add32(file, 0);
  add16(file, 240);     // optional header
  add16(file, 0x2022);  // executable, large addresses, DLL
  add16(file, 0x20B);   // PE32+
  file.resize(kMagicAt + 56);
  add32(file, debug_.empty() ? kSizeOfImage : kDebug + 0x1000);
  add32(file, kHeaderBytes);
  file.resize(kMagicAt + 108);
  add32(file, 16);
  for (const auto& directory : directories) {
    add32(file, directory[0]);
    add32(file, directory[1]);
  }
  std::size_t offset = kHeaderBytes;
  for (const Section& section : sections) {
    Bytes name(section.name, section.name + std::string(section.name).size());
    name.resize(8);
    file.insert(file.end(), name.begin(), name.end());
    add32(file, static_cast<std::uint32_t>(section.bytes.size()));
    add32(file, section.rva);
    add32(file, static_cast<std::uint32_t>(aligned(section.bytes.size())));
    add32(file, static_cast<std::uint32_t>(offset));
    add32(file, 0);
    add32(file, 0);
    add32(file, 0);
    add32(file, section.flags);
    offset += aligned(section.bytes.size());
  }
  if (file.size() > kHeaderBytes) throw std::logic_error("the headers do not fit");
  file.resize(kHeaderBytes);
  for (const Section& section : sections) {
    file.insert(file.end(), section.bytes.begin(), section.bytes.end());
    file.resize(aligned(file.size()));
  }
  std::vector<std::byte> result(file.size());
  std::transform(file.begin(), file.end(), result.begin(),
                 [](std::uint8_t value) { return std::byte{value}; });
  return result;
}

void ImageBuilder::put32(std::vector<std::byte>& file, std::size_t at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) file.at(at + i) = static_cast<std::byte>(value >> 8 * i);
}

void ImageBuilder::put16(std::vector<std::byte>& file, std::size_t at, std::uint16_t value) {
  for (int i = 0; i < 2; ++i) file.at(at + i) = static_cast<std::byte>(value >> 8 * i);
}

std::size_t ImageBuilder::offset_of(const std::vector<std::byte>& file, std::uint32_t rva) {
  const auto get32 = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(file.at(at + i)) << 8 * i;
    return value;
  };
  const std::size_t count = static_cast<std::size_t>(file.at(kSectionCountAt));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t header = kSectionTableAt + i * 40;
    const std::uint32_t begin = get32(header + 12);
    if (rva >= begin && rva - begin < get32(header + 16)) return get32(header + 20) + rva - begin;
  }
  throw std::logic_error("no section has this RVA");
}

}  // namespace mixwalk::test

#include "walker/clr/contracts/method_il.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "symbols/byte_cursor.h"
#include "symbols/metadata/compressed_number.h"
#include "unmanaged/image/data_directory.h"

namespace mixwalk {
namespace {

using T = MetadataTable;
using Kind = ClrIlStep::Kind;

constexpr std::size_t kImageHeaderBytes = 4096;
constexpr std::uint32_t kMaxCodeBytes = 1u << 20, kMaxHandlers = 4096, kMaxSwitch = 4096, kMaxMethods = 20'000;
// The header of a method body (II.25.4.2 to II.25.4.6).
constexpr std::uint8_t kFormat = 3, kTiny = 2, kFatHeader = 3, kMoreSections = 8;
constexpr std::uint8_t kHandlerTable = 1, kFatTable = 0x40;

template <class V>
V read_or_zero(const MemoryReader& memory, std::uint64_t address) {
  return memory.read_value<V>(address).value_or(V{});
}

void read_handlers(const MemoryReader& memory, std::uint64_t at, MethodIl& il) {
  const auto kind = read_or_zero<std::uint8_t>(memory, at);
  if ((kind & kHandlerTable) == 0) return;
  const bool fat = (kind & kFatTable) != 0;
  const std::uint32_t bytes = fat ? read_or_zero<std::uint32_t>(memory, at) >> 8
                                  : read_or_zero<std::uint8_t>(memory, at + 1);
  const std::uint32_t each = fat ? 24 : 12;
  for (std::uint32_t i = 0; i < std::min(bytes / each, kMaxHandlers); ++i) {
    const std::uint64_t entry = at + 4 + std::uint64_t{each} * i;
    const auto read = [&](std::uint64_t of_fat, std::uint64_t of_small) -> std::uint32_t {
      if (fat) return read_or_zero<std::uint32_t>(memory, entry + of_fat);
      return read_or_zero<std::uint16_t>(memory, entry + of_small);
    };
    il.handlers.push_back({read(4, 2), read(12, 5)});
  }
}

std::optional<MethodIl> body_at(const MemoryReader& memory, std::uint64_t at) {
  const auto first = memory.read_value<std::uint16_t>(at);
  if (!first) return std::nullopt;
  std::uint32_t bytes = 0;
  std::uint64_t code = at + 1;
  const bool fat = (*first & kFormat) == kFatHeader;
  if (fat) {
    if (*first >> 12 != 3) return std::nullopt;
    bytes = read_or_zero<std::uint32_t>(memory, at + 4);
    code = at + 12;
  } else if ((*first & kFormat) == kTiny) {
    bytes = (*first & 0xFF) >> 2;
  }
  if (bytes == 0 || bytes > kMaxCodeBytes) return std::nullopt;
  MethodIl il{.code = std::vector<std::byte>(bytes), .handlers = {}};
  if (!memory.read(code, il.code.data(), bytes)) return std::nullopt;
  if (fat && (*first & kMoreSections) != 0) read_handlers(memory, (code + bytes + 3) & ~3ull, il);
  return il;
}

// How many bytes the operand of an instruction has; 0xFF: it is none.
std::uint8_t operand_bytes(std::uint8_t code) {
  const auto in = [&](std::uint8_t first, std::uint8_t last) { return code >= first && code <= last; };
  if (in(0x0E, 0x13) || code == 0x1F || in(0x2B, 0x37) || code == 0xDE) return 1;
  if (code == 0x21 || code == 0x23) return 8;
  if (code == 0x20 || code == 0x22 || in(0x27, 0x29) || in(0x38, 0x45) || in(0x6F, 0x75) || code == 0x79 ||
      in(0x7B, 0x81) || code == 0x8C || code == 0x8D || code == 0x8F || in(0xA3, 0xA5) || code == 0xC2 ||
      code == 0xC6 || code == 0xD0 || code == 0xDD) {
    return 4;
  }
  const bool plain = in(0x00, 0x0D) || in(0x14, 0x1E) || in(0x25, 0x26) || code == 0x2A || in(0x46, 0x6E) ||
                     code == 0x76 || code == 0x7A || in(0x82, 0x8B) || code == 0x8E || in(0x90, 0xA2) ||
                     in(0xB3, 0xBA) || code == 0xC3 || in(0xD1, 0xDC) || in(0xDF, 0xE0);
  return plain ? 0 : 0xFF;
}

std::uint8_t operand_bytes_after_prefix(std::uint8_t code) {
  if (code == 0x06 || code == 0x07 || code == 0x15 || code == 0x16 || code == 0x1C) return 4;
  if (code >= 0x09 && code <= 0x0E) return 2;
  if (code == 0x12 || code == 0x19) return 1;
  return code <= 0x1E ? 0 : 0xFF;
}

class Steps {
 public:
  Steps(const MethodIl& il, const MetadataNames& names) : il_(il), names_(names) {}

  std::vector<ClrIlStep> read() {
    ByteCursor cursor(il_.code);
    std::size_t at = 0;
    while (at < il_.code.size()) {
      ByteCursor rest(std::span(il_.code).subspan(at));
      std::uint8_t code = rest.u8();
      const bool prefixed = code == 0xFE;
      if (prefixed) code = rest.u8();
      const std::uint8_t bytes = prefixed ? operand_bytes_after_prefix(code) : operand_bytes(code);
      if (bytes == 0xFF) break;
      const std::int64_t operand = bytes == 1   ? rest.read<std::int8_t>()
                                   : bytes == 2 ? rest.read<std::int16_t>()
                                   : bytes == 4 ? rest.read<std::int32_t>()
                                                : 0;
      if (bytes == 8) rest.skip(8);
      std::size_t length = (prefixed ? 2u : 1u) + bytes;
      if (rest.failed()) break;
      if (!prefixed && code == 0x45) {
        if (operand < 0 || operand > kMaxSwitch) break;
        length += 4 * static_cast<std::size_t>(operand);
        for (std::int64_t i = 0; i < operand; ++i) {
          const std::int64_t target = static_cast<std::int64_t>(at + length) + rest.read<std::int32_t>();
          targets_.push_back({static_cast<std::uint32_t>(at), target});
        }
        if (rest.failed()) {
          targets_.resize(targets_.size() - static_cast<std::size_t>(operand));
          break;
        }
      }
      ClrIlStep step;
      step.begin = static_cast<std::uint32_t>(at);
      step.end = static_cast<std::uint32_t>(at + length);
      prefixed ? describe_prefixed(step, code, operand) : describe(step, code, operand);
      steps_.push_back(std::move(step));
      at += length;
    }
    for (const auto& [from, to] : targets_) add_branch(from, to);
    for (const MethodIl::Handler& handler : il_.handlers) add_branch(handler.protects, handler.begin, Kind::handler);
    return std::move(steps_);
  }

 private:
  void add_branch(std::uint32_t from, std::int64_t to, Kind kind = Kind::branch) {
    steps_.push_back({.kind = kind, .begin = from, .end = from, .number = to, .name = {}});
  }

  static void number(ClrIlStep& step, Kind kind, std::int64_t value) {
    step.kind = kind;
    step.number = value;
  }

  void describe(ClrIlStep& step, std::uint8_t code, std::int64_t operand) {
    if (code >= 0x02 && code <= 0x05) return number(step, Kind::load_argument, code - 0x02);
    if (code >= 0x06 && code <= 0x09) return number(step, Kind::load_local, code - 0x06);
    if (code >= 0x0A && code <= 0x0D) return number(step, Kind::store_local, code - 0x0A);
    if (code >= 0x15 && code <= 0x1E) return number(step, Kind::constant, code - 0x16);
    if ((code >= 0x2B && code <= 0x44) || code == 0xDD || code == 0xDE) {
      return number(step, Kind::branch, std::int64_t{step.end} + operand);
    }
    const auto token = static_cast<std::uint32_t>(operand);
    switch (code) {
      case 0x0E: return number(step, Kind::load_argument, operand & 0xFF);
      case 0x0F:
      case 0x10: return number(step, Kind::store_argument, operand & 0xFF);
      case 0x11: return number(step, Kind::load_local, operand & 0xFF);
      // A local variable whose address is known may change in any call.
      case 0x12:
      case 0x13: return number(step, Kind::store_local, operand & 0xFF);
      case 0x1F:
      case 0x20: return number(step, Kind::constant, operand);
      case 0x28:
      case 0x6F:
      case 0x73: return name_call(step, token);
      case 0x7B:
      case 0x7C: return name_field(step, Kind::load_field, token);
      case 0x7D: return name_field(step, Kind::store_field, token);
      case 0x7E:
      case 0x7F: return name_field(step, Kind::load_static, token);
      case 0x80: return name_field(step, Kind::store_static, token);
      default: return;
    }
  }

  static void describe_prefixed(ClrIlStep& step, std::uint8_t code, std::int64_t operand) {
    if (code == 0x09) number(step, Kind::load_argument, operand & 0xFFFF);
    if (code == 0x0A || code == 0x0B) number(step, Kind::store_argument, operand & 0xFFFF);
    if (code == 0x0C) number(step, Kind::load_local, operand & 0xFFFF);
    if (code == 0x0D || code == 0x0E) number(step, Kind::store_local, operand & 0xFFFF);
  }

  std::string text(T table, std::uint32_t row, unsigned column) const {
    const auto index = names_.tables().cell(table, row, column);
    return index ? names_.tables().text(*index).value_or("") : std::string();
  }

  // "Namespace.Type.Member" of a MemberRef; only the member's name if the type is generic.
  std::string member_ref(std::uint32_t row) const {
    constexpr unsigned kParent = 0, kName = 1;
    const std::string type = names_.type_name(names_.tables().cell(T::member_ref, row, kParent).value_or(0));
    const std::string name = text(T::member_ref, row, kName);
    return type.empty() ? name : type + '.' + name;
  }

  void name_call(ClrIlStep& step, std::uint32_t token) const {
    constexpr unsigned kSpecified = 0, kSignatureOfRef = 2;
    step.kind = Kind::call;
    step.number = -1;
    if (is_of_table(token, T::method_spec)) {
      token = names_.tables().cell(T::method_spec, row_of(token), kSpecified).value_or(0);
    }
    std::vector<std::byte> signature;
    if (is_of_table(token, T::member_ref)) {
      step.name = member_ref(row_of(token));
      const auto blob = names_.tables().cell(T::member_ref, row_of(token), kSignatureOfRef);
      if (blob) signature = names_.tables().blob(*blob).value_or(std::vector<std::byte>());
    } else if (auto method = names_.method(token)) {
      step.name = names_.type_name(method->type) + '.' + method->name;
      signature = std::move(method->signature);
    }
    ByteCursor cursor(signature);
    constexpr std::uint8_t kGeneric = 0x10, kHasThis = 0x20;  // II.23.2.1
    const std::uint8_t convention = cursor.u8();
    if ((convention & kGeneric) != 0) read_compressed(cursor);
    step.instance = (convention & kHasThis) != 0;
    const std::uint32_t arguments = read_compressed(cursor);
    if (!cursor.failed()) step.number = arguments;
  }

  void name_field(ClrIlStep& step, Kind kind, std::uint32_t token) const {
    constexpr unsigned kFlags = 0, kFields = 4;
    constexpr std::uint32_t kInitOnly = 0x20;  // FieldAttributes, II.23.1.5
    step.kind = kind;
    if ((kind == Kind::store_field || kind == Kind::store_static) && is_of_table(token, T::field)) {
      step.number = (names_.tables().cell(T::field, row_of(token), kFlags).value_or(0) & kInitOnly) != 0 ? 1 : 0;
    }
    const bool is_static = kind == Kind::load_static || kind == Kind::store_static;
    if (is_of_table(token, T::member_ref)) {
      // Each instantiation of a generic type has static fields of its own, and the name does not say which it is.
      constexpr unsigned kParent = 0;
      const auto parent = names_.tables().cell(T::member_ref, row_of(token), kParent).value_or(0);
      if (is_static && names_.type_name(parent).empty()) return;
      step.name = is_static ? member_ref(row_of(token)) : text(T::member_ref, row_of(token), 1);
      return;
    }
    step.name = names_.field_name(token);
    if (!is_static) return;
    const std::uint32_t type = names_.tables().last_row_up_to(T::type_def, kFields, row_of(token));
    step.name = names_.type_name(metadata_token(T::type_def, type)) + '.' + step.name;
  }

  const MethodIl& il_;
  const MetadataNames& names_;
  std::vector<ClrIlStep> steps_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> targets_;  // of switches
};

}  // namespace

MethodIl method_il(const MemoryReader& memory, std::uint64_t base, std::uint32_t rva) {
  if (rva == 0) return {};
  std::array<std::byte, kImageHeaderBytes> bytes;
  const auto headers = std::span(bytes).first(memory.read_up_to(base, bytes.data(), bytes.size()));
  // Of the two layouts, the one counts in which the CLI header is where it must be.
  constexpr unsigned kCliHeader = 14;
  constexpr std::uint32_t kCliBytes = 72;
  const DirectoryRva cli = rva_of_directory(headers, kCliHeader);
  if (cli.bytes == 0) return {};
  std::uint64_t at = base + rva;
  if (memory.read_value<std::uint32_t>(base + cli.rva) != kCliBytes) {
    const FileRange place = place_of_rva(headers, rva, 1);
    if (place.bytes == 0) return {};
    at = base + place.offset;
  }
  return body_at(memory, at).value_or(MethodIl{});
}

std::vector<ClrIlStep> il_steps(const MethodIl& il, const MetadataNames& names) { return Steps(il, names).read(); }

std::uint32_t method_of_type(const MetadataNames& names, std::uint32_t type, std::string_view name) {
  constexpr unsigned kMethods = 5;
  const MetadataTables& tables = names.tables();
  if (!is_of_table(type, T::type_def)) return 0;
  const auto first = tables.cell(T::type_def, row_of(type), kMethods);
  const auto next = tables.cell(T::type_def, row_of(type) + 1, kMethods);
  if (!first || *first == 0) return 0;
  const std::uint32_t end = std::min(next.value_or(tables.rows(T::method_def) + 1), *first + kMaxMethods);
  std::uint32_t found = 0;
  for (std::uint32_t row = *first; row < end; ++row) {
    const std::uint32_t token = metadata_token(T::method_def, row);
    const auto method = names.method(token);
    if (!method || method->name != name) continue;
    if (found != 0) return 0;
    found = token;
  }
  return found;
}

}  // namespace mixwalk

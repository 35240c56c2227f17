#include "symbols/pdb/inlinee_names.h"

#include "symbols/byte_cursor.h"

namespace mixwalk {
namespace {

// Kinds of records (LF_*), https://llvm.org/docs/PDB/CodeViewTypes.html.
constexpr std::uint16_t kFunctionId = 0x1601, kMemberFunctionId = 0x1602, kSubstringList = 0x1604,
                        kStringId = 0x1605;
constexpr std::uint16_t kClass = 0x1504, kStructure = 0x1505, kUnion = 0x1506, kEnum = 0x1507,
                        kInterface = 0x1519;
constexpr std::uint32_t kMaxParts = 32;  // the limit for the parts of a text; real texts have two

// Skips a number before a name. It is either the value itself, or a kind and the value.
void skip_number(ByteCursor& cursor) {
  const std::uint16_t kind = cursor.u16();
  if (kind < 0x8000) return;
  switch (kind) {
    case 0x8000: return cursor.skip(1);
    case 0x8001:
    case 0x8002: return cursor.skip(2);
    case 0x8003:
    case 0x8004: return cursor.skip(4);
    case 0x8009:
    case 0x800A: return cursor.skip(8);
    default: cursor.fail();  // not the size of a class
  }
}

// "a::b<c::d>" → "b<c::d>".
std::string last_part(std::string_view name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 1;) {
    if (name[i] == '>') ++depth;
    if (name[i] == '<') --depth;
    if (depth == 0 && name[i] == ':' && name[i - 1] == ':') return std::string(name.substr(i + 1));
  }
  return std::string(name);
}

}  // namespace

NameId InlineeNames::name(std::uint32_t id, IndexBuilder& names) {
  const auto [at, fresh] = known_.try_emplace(id, kNoName);
  if (fresh && text_bytes_ < kMaxText) {
    const std::string whole = text(id);
    text_bytes_ += whole.size();
    at->second = names.name(whole);
  }
  return at->second;
}

std::string InlineeNames::text(std::uint32_t id) {
  const TypeRecords::Record record = ids_.at(id);
  if (record.kind != kFunctionId && record.kind != kMemberFunctionId) return {};
  ByteCursor cursor(record.data);
  const std::uint32_t scope = cursor.u32();
  cursor.skip(4);  // its type
  const std::string_view own = cursor.text();
  if (cursor.failed()) return {};
  std::string whole;
  if (record.kind == kMemberFunctionId) {
    whole = type_name(scope);
    // MSVC writes these words of its own for constructors and destructors, and for everything else the names of C++.
    if (!whole.empty() && own == "{ctor}") return whole += "::" + last_part(whole);
    if (!whole.empty() && own == "{dtor}") return whole += "::~" + last_part(whole);
  } else if (scope != 0) {
    add_scope(scope, whole);
  }
  if (!whole.empty()) whole += "::";
  whole += own;
  return whole;
}

// A long text has its beginning in a list of further texts. One level of such lists is read.
void InlineeNames::add_scope(std::uint32_t id, std::string& to) {
  const TypeRecords::Record record = ids_.at(id);
  if (record.kind != kStringId) return;
  ByteCursor cursor(record.data);
  const TypeRecords::Record list = ids_.at(cursor.u32());
  if (list.kind == kSubstringList) {
    ByteCursor parts(list.data);
    const std::uint32_t count = parts.u32();
    for (std::uint32_t i = 0; i < count && i < kMaxParts && parts.left() >= 4; ++i) {
      const TypeRecords::Record part = ids_.at(parts.u32());
      if (part.kind != kStringId || to.size() > NamePool::kMaxName) continue;
      ByteCursor text(part.data);
      text.skip(4);
      to += text.text();
    }
  }
  to += cursor.text();
}

std::string_view InlineeNames::type_name(std::uint32_t type) {
  const TypeRecords::Record record = types_.at(type);
  ByteCursor cursor(record.data);
  switch (record.kind) {
    case kClass:
    case kStructure:
    case kInterface:
      cursor.skip(2 + 2 + 4 + 4 + 4);  // members, properties, their list, base, table of functions
      skip_number(cursor);
      break;
    case kUnion:
      cursor.skip(2 + 2 + 4);
      skip_number(cursor);
      break;
    case kEnum:
      cursor.skip(2 + 2 + 4 + 4);
      break;
    default:
      return {};
  }
  return cursor.text();
}

}  // namespace mixwalk

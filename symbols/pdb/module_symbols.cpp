#include "symbols/pdb/module_symbols.h"

#include "symbols/byte_cursor.h"

namespace mixwalk {
namespace {

// Kinds of records (S_*).
enum Kind : std::uint16_t {
  kEnd = 0x0006,
  kThunk = 0x1102,
  kBlock = 0x1103,
  kWith = 0x1104,
  kLocalProcedure = 0x110F,
  kGlobalProcedure = 0x1110,
  kManagedGlobalProcedure = 0x112A,
  kManagedLocalProcedure = 0x112B,
  kSeparatedCode = 0x1132,
  kLocalProcedureId = 0x1146,
  kGlobalProcedureId = 0x1147,
  kInlineSite = 0x114D,
  kInlineSiteEnd = 0x114E,
  kProcedureIdEnd = 0x114F,
  kLocalProcedureDpc = 0x1155,
  kLocalProcedureDpcId = 0x1156,
  kInlineSite2 = 0x115D,
};

class Reader {
 public:
  Reader(std::uint32_t base, const PdbSections& sections) : base_(base), sections_(sections) {}

  void read(std::span<const std::byte> records) {
    ByteCursor cursor(records);
    while (cursor.left() >= 4) {
      // A function's record says where the function ends, so scopes of an unknown kind cannot extend beyond that end.
      if (function_end_ != 0 && cursor.at() + base_ >= function_end_) end_function();
      ByteCursor record(cursor.take(cursor.u16()));
      const std::uint16_t kind = record.u16();
      if (cursor.failed() || record.failed()) return;
      one(kind, record);
    }
  }
  PdbModuleSymbols take() { return std::move(symbols_); }

 private:
  void one(std::uint16_t kind, ByteCursor& record) {
    switch (kind) {
      case kLocalProcedure:
      case kGlobalProcedure:
      case kLocalProcedureId:
      case kGlobalProcedureId:
      case kLocalProcedureDpc:
      case kLocalProcedureDpcId:
        return procedure(record);
      case kThunk:
        return thunk(record);
      case kSeparatedCode:
        return separated(record);
      case kInlineSite:
      case kInlineSite2:
        return inline_site(record, kind == kInlineSite2);
      case kBlock:
      case kWith:
      case kManagedGlobalProcedure:
      case kManagedLocalProcedure:
        return open(current_site());
      case kEnd:
      case kInlineSiteEnd:
      case kProcedureIdEnd:
        if (!scopes_.empty()) scopes_.pop_back();
        if (scopes_.empty()) end_function();
        return;
      default:
        return;
    }
  }

  void open(std::uint32_t site) { scopes_.push_back(site); }
  std::uint32_t current_site() const { return scopes_.empty() ? 0 : scopes_.back(); }
  void end_function() {
    scopes_.clear();
    function_end_ = 0;
    in_function_ = false;
  }

  void add(std::string_view name, std::uint16_t section, std::uint32_t offset, std::uint32_t bytes) {
    const auto begin = sections_.rva(section, offset);
    in_function_ = begin.has_value() && bytes != 0 && bytes <= UINT32_MAX - *begin;
    if (!in_function_) return;
    symbols_.functions.push_back(
        {name, *begin, *begin + bytes, static_cast<std::uint32_t>(symbols_.sites.size()), 0});
  }

  void procedure(ByteCursor& record) {
    end_function();
    record.skip(4);  // parent
    const std::uint32_t end = record.u32();
    record.skip(4);  // next
    const std::uint32_t bytes = record.u32();
    record.skip(4 + 4 + 4);  // behind the prologue, before the epilogue, type
    const std::uint32_t offset = record.u32();
    const std::uint16_t section = record.u16();
    record.skip(1);  // flags
    const std::string_view name = record.text();
    open(0);
    if (record.failed()) return;
    add(name, section, offset, bytes);
    function_end_ = end;
  }

  void thunk(ByteCursor& record) {
    record.skip(4 + 4 + 4);  // parent, end, next
    const std::uint32_t offset = record.u32();
    const std::uint16_t section = record.u16();
    const std::uint16_t bytes = record.u16();
    record.skip(1);  // its kind
    const std::string_view name = record.text();
    end_function();
    open(0);
    if (!record.failed()) add(name, section, offset, bytes);
  }

  void separated(ByteCursor& record) {
    record.skip(4 + 4);  // parent, end
    const std::uint32_t bytes = record.u32();
    record.skip(4);  // flags
    const std::uint32_t offset = record.u32();
    const std::uint32_t function_offset = record.u32();
    const std::uint16_t section = record.u16();
    const std::uint16_t function_section = record.u16();
    open(current_site());
    const auto begin = sections_.rva(section, offset);
    const auto function = sections_.rva(function_section, function_offset);
    if (record.failed() || !begin || !function || bytes > UINT32_MAX - *begin) return;
    symbols_.separated.push_back({*begin, *begin + bytes, *function});
  }

  void inline_site(ByteCursor& record, bool counted) {
    record.skip(4 + 4);  // parent, end
    const std::uint32_t inlinee = record.u32();
    if (counted) record.skip(4);  // how often it was called
    const std::uint32_t parent = current_site();
    if (record.failed() || !in_function_) return open(parent);
    symbols_.sites.push_back({parent, inlinee, record.rest()});
    open(++symbols_.functions.back().site_count);
  }

  std::uint32_t base_;
  const PdbSections& sections_;
  PdbModuleSymbols symbols_;
  // The inlined call to which each open scope belongs; 0 is the function itself.
  std::vector<std::uint32_t> scopes_;
  std::uint32_t function_end_ = 0;  // offset in the stream; 0 if unknown
  bool in_function_ = false;        // the last of symbols_.functions is open
};

}  // namespace

PdbModuleSymbols read_module_symbols(std::span<const std::byte> records, std::uint32_t base,
                                     const PdbSections& sections) {
  Reader reader(base, sections);
  reader.read(records);
  return reader.take();
}

}  // namespace mixwalk

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "symbols/index/index_builder.h"
#include "symbols/pdb/type_records.h"

namespace mixwalk {

// Finds the names of inlined functions, by their number in the IPI stream, with the namespace or the class to which
// they belong. Not frozen-safe. `msf` must outlive this object.
class InlineeNames {
 public:
  explicit InlineeNames(const MsfFile& msf) noexcept
      : ids_(msf, TypeRecords::kIds), types_(msf, TypeRecords::kTypes) {}

  // Returns kNoName if nothing gives the name. Every call must pass the same `names`.
  NameId name(std::uint32_t id, IndexBuilder& names);

 private:
  // The limit in bytes for all names together; later functions get no name. Many functions may refer to one long class
  // name, and a small file must not expand into much memory.
  static constexpr std::size_t kMaxText = 256u << 20;

  std::string text(std::uint32_t id);
  void add_scope(std::uint32_t id, std::string& to);
  std::string_view type_name(std::uint32_t type);

  TypeRecords ids_, types_;
  std::unordered_map<std::uint32_t, NameId> known_;
  std::size_t text_bytes_ = 0;
};

}  // namespace mixwalk

#include "walker/clr/tasks/managed_objects.h"

#include <algorithm>
#include <utility>

#include "unmanaged/user_address.h"
#include "walker/clr/heap_walk.h"

namespace mixwalk {
namespace {

// The limit for types that are kept. A large program has some ten thousand.
constexpr std::size_t kMaxTypes = 100'000, kMaxFields = 2'000'000;
constexpr int kMaxBases = 64;
constexpr std::uint64_t kAlignment = 8;
// The number of an array's elements, and its first element, or the first field of another object.
constexpr std::uint64_t kElementCount = 8, kFirstElement = 16, kFirstField = 8;
constexpr std::uint64_t kHeaderBytes = 8;  // the size of an object counts the header before it
constexpr std::string_view kTaskType = "System.Threading.Tasks.Task", kListBegin = "System.Collections.Generic.List<";

bool may_be_address(std::uint64_t address) { return is_user_address(address) && address % kAlignment == 0; }

}  // namespace

const ClrField* ManagedType::field(std::string_view name) const {
  const auto found = std::find_if(clr.fields.rbegin(), clr.fields.rend(),
                                  [&](const ClrField& field) { return field.name == name; });
  return found != clr.fields.rend() ? &*found : nullptr;
}

bool ManagedType::is(std::string_view name) const {
  return clr.name == name || std::ranges::find(bases, name) != bases.end();
}

std::uint64_t ManagedObjects::method_table_of(std::uint64_t object) const {
  if (!may_be_address(object)) return 0;
  const std::uint64_t table = memory_.read_value<std::uint64_t>(object).value_or(0) & ~kCollectorMarks;
  return may_be_address(table) ? table : 0;
}

// The base types are needed as well, so that each round asks for those of the round before.
void ManagedObjects::ask(std::vector<std::uint64_t> method_tables) {
  std::vector<std::pair<std::uint64_t, ClrType>> answers;  // of this call, not kept yet
  std::unordered_map<std::uint64_t, std::size_t> asked;
  for (int round = 0; round < kMaxBases && !method_tables.empty(); ++round) {
    std::ranges::sort(method_tables);
    method_tables.erase(std::unique(method_tables.begin(), method_tables.end()), method_tables.end());
    std::erase_if(method_tables, [&](std::uint64_t table) {
      return !may_be_address(table) || types_.contains(table) || asked.contains(table);
    });
    if (types_.size() + answers.size() + method_tables.size() > kMaxTypes || fields_ > kMaxFields) return;
    std::vector<ClrType> types = clr_.types(method_tables);
    types.resize(method_tables.size());
    std::vector<std::uint64_t> parents;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!types[i].name.empty()) parents.push_back(types[i].parent);
      fields_ += types[i].fields.size();
      asked.emplace(method_tables[i], answers.size());
      answers.emplace_back(method_tables[i], std::move(types[i]));
    }
    method_tables = std::move(parents);
  }
  // Base types were asked last, and are kept first.
  for (std::size_t i = answers.size(); i-- != 0;) {
    const std::uint64_t table = answers[i].first;
    if (answers[i].second.name.empty() && answers[i].second.base_bytes == 0) {
      types_.emplace(table, nullptr);
      continue;
    }
    auto type = std::make_unique<ManagedType>();
    std::uint64_t parent = answers[i].second.parent;
    for (int depth = 0; depth < kMaxBases && parent != 0; ++depth) {
      if (const auto known = types_.find(parent); known != types_.end()) {
        if (known->second) {
          type->bases.push_back(known->second->clr.name);
          type->bases.insert(type->bases.end(), known->second->bases.begin(), known->second->bases.end());
        }
        break;
      }
      const auto also = asked.find(parent);
      if (also == asked.end()) break;
      const ClrType& base = answers[also->second].second;
      type->bases.push_back(base.name);
      parent = base.parent;
    }
    if (type->bases.size() > kMaxBases) type->bases.resize(kMaxBases);
    type->clr = answers[i].second;
    type->task = type->is(kTaskType);
    types_.emplace(table, std::move(type));
  }
}

const ManagedType* ManagedObjects::type(std::uint64_t method_table) {
  auto known = types_.find(method_table);
  if (known == types_.end()) {
    ask({method_table});
    known = types_.find(method_table);
  }
  return known != types_.end() ? known->second.get() : nullptr;
}

const ManagedType* ManagedObjects::type_of(std::uint64_t object) {
  const std::uint64_t table = method_table_of(object);
  return table != 0 ? type(table) : nullptr;
}

void ManagedObjects::expect(std::span<const std::uint64_t> objects) {
  std::vector<std::uint64_t> tables;
  for (const std::uint64_t object : objects) {
    if (const std::uint64_t table = method_table_of(object); table != 0) tables.push_back(table);
  }
  ask(std::move(tables));
}

std::uint64_t ManagedObjects::reference(std::uint64_t at, const ManagedType& type, std::string_view field) const {
  const std::uint64_t object = value(at, type, field).value_or(0);
  return may_be_address(object) ? object : 0;
}

std::optional<ManagedArray> ManagedObjects::array(std::uint64_t object) {
  const ManagedType* const type = type_of(object);
  const auto length = memory_.read_value<std::uint32_t>(object + kElementCount);
  if (type == nullptr || type->clr.component_bytes == 0 || !length) return std::nullopt;
  return ManagedArray{object + kFirstElement, *length, type->clr.component_bytes};
}

std::vector<std::uint64_t> ManagedObjects::words(std::uint64_t object, std::size_t most) {
  std::uint64_t begin = object + kFirstField, bytes = 0;
  if (const auto elements = array(object)) {
    // References are in whole words, so elements of other sizes have none.
    if (elements->element_bytes % sizeof(std::uint64_t) != 0) return {};
    begin = elements->data;
    bytes = std::uint64_t{elements->element_bytes} * elements->length;
  } else if (const ManagedType* const type = type_of(object)) {
    const std::uint64_t size = type->clr.base_bytes;
    bytes = size > kFirstField + kHeaderBytes ? size - kFirstField - kHeaderBytes : 0;
  }
  std::vector<std::uint64_t> found(static_cast<std::size_t>(std::min<std::uint64_t>(bytes / 8, most)));
  found.resize(memory_.read_up_to(begin, found.data(), found.size() * 8) / 8);
  std::erase_if(found, [](std::uint64_t word) { return !may_be_address(word); });
  return found;
}

ManagedObjects::References ManagedObjects::references_of(std::uint64_t list, std::size_t most) {
  References found;
  const ManagedType* const type = type_of(list);
  if (type == nullptr) return found;
  std::optional<std::uint32_t> size;
  if (type->clr.name.starts_with(kListBegin)) {
    size = value<std::uint32_t>(list, *type, "_size");
    list = reference(list, *type, "_items");
    if (!size) return found;
  }
  const auto elements = array(list);
  if (!elements || elements->element_bytes != sizeof(std::uint64_t)) return found;
  found.all = std::min(elements->length, size.value_or(elements->length));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(found.all, most); ++i) {
    const auto object = memory_.read_value<std::uint64_t>(elements->data + 8 * i);
    if (!object) break;
    if (may_be_address(*object)) found.objects.push_back(*object);
  }
  return found;
}

}  // namespace mixwalk

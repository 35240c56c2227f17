// One unit of a program with much debug information (tests/bench/symbols): the standard library, instantiated for types
// of its own. MIXWALK_UNIT distinguishes the units. The program is never run for its result.

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#define MIXWALK_JOINED_(a, b) a##b
#define MIXWALK_JOINED(a, b) MIXWALK_JOINED_(a, b)
#define MIXWALK_NAMESPACE MIXWALK_JOINED(unit_, MIXWALK_UNIT)

namespace MIXWALK_NAMESPACE {

template <int kKind>
struct Key {
  std::string text;
  int number = kKind;
  auto operator<=>(const Key&) const = default;
};

template <int kKind>
struct Hash {
  std::size_t operator()(const Key<kKind>& key) const {
    return std::hash<std::string>()(key.text) ^ static_cast<std::size_t>(key.number);
  }
};

template <int kKind>
int work(int count) {
  using K = Key<kKind>;
  std::map<K, std::vector<K>> tree;
  std::unordered_map<K, std::set<K>, Hash<kKind>> table;
  std::deque<std::variant<K, std::string, int>> queue;
  std::list<std::tuple<K, std::optional<K>, std::unique_ptr<K>>> list;
  for (int i = 0; i < count; ++i) {
    const K key{std::to_string(i), i};
    tree[key].push_back(key);
    table[key].insert(key);
    queue.emplace_back(key);
    queue.emplace_front(i);
    list.emplace_back(key, key, std::make_unique<K>(key));
  }
  std::vector<K> all;
  for (const auto& [key, values] : tree) all.insert(all.end(), values.begin(), values.end());
  std::sort(all.begin(), all.end(), [](const K& left, const K& right) { return right < left; });
  std::stable_sort(all.begin(), all.end());
  std::ostringstream out;
  for (const auto& item : queue) {
    std::visit([&](const auto& value) {
      if constexpr (requires { out << value; }) out << value;
    }, item);
  }
  std::function<int(int)> later = [&](int x) { return x + static_cast<int>(all.size() + table.size()); };
  list.sort();
  return later(static_cast<int>(out.str().size() + list.size())) +
         static_cast<int>(std::regex_match(out.str(), std::regex("a*[b-c]+(d|e)?")));
}

template <int... kKinds>
int work_all(int count, std::integer_sequence<int, kKinds...>) {
  return (work<kKinds>(count) + ... + 0);
}

int run(int count) {
  return work_all(count, std::make_integer_sequence<int, 12>());
}

}  // namespace MIXWALK_NAMESPACE

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "walker/export/string_table.h"
#include "walker/shown/shown_stacks.h"

namespace mixwalk {

// The category of a frame in the Firefox Profiler. `other` is its default, and the category of gaps. `idle` and
// `waiting` are those of the leaf of a thread with such a standing.
enum class FirefoxCategory : std::uint8_t { other, managed, native, stub, runtime, idle, waiting };
struct FirefoxCategoryWords {
  const char* name;
  const char* color;
};
inline constexpr std::array<FirefoxCategoryWords, 7> kFirefoxCategories = {{{"Other", "grey"},
                                                                            {"Managed", "green"},
                                                                            {"Native", "blue"},
                                                                            {"Stub", "purple"},
                                                                            {"Runtime", "orange"},
                                                                            {"Idle thread", "darkgrey"},
                                                                            {"Waiting", "lightblue"}}};

// The tables of a Firefox profile to which frames refer: functions, their images, symbols, strings.
class FirefoxTables {
 public:
  struct Function {
    std::uint32_t name = 0;      // index of a string
    std::int32_t resource = -1;  // index into resources; -1 for code outside every image
    std::int32_t source = -1;    // index into sources; -1 if unknown
  };
  struct NativeSymbol {
    std::int32_t module = 0;
    std::uint64_t rva = 0;
    std::uint32_t name = 0;
  };
  struct FrameRow {
    std::int64_t address = -1;  // RVA inside the instruction that runs; -1 for code outside every image
    std::uint32_t inline_depth = 0;
    FirefoxCategory category = FirefoxCategory::other;
    std::uint32_t function = 0;
    std::uint32_t line = 0;  // 0 if unknown
    std::optional<std::uint32_t> native_symbol;
  };

  FirefoxTables(const Recording& recording, const ShownStacks& stacks);

  // In the order of ShownStacks::frames(), followed by the leaves of idle and of waiting threads.
  const std::vector<FrameRow>& frames() const noexcept { return frames_; }
  // In the order of ShownStacks::nodes(), followed by those of these leaves.
  const std::vector<Recording::Node>& nodes() const noexcept { return nodes_; }
  // The leaf node of each sample.
  const std::vector<std::uint32_t>& leaves() const noexcept { return leaves_; }
  const std::vector<Function>& functions() const noexcept { return functions_; }
  const std::vector<std::int32_t>& resources() const noexcept { return resources_; }  // modules
  const std::vector<std::uint32_t>& sources() const noexcept { return sources_; }  // indices of file names
  const std::vector<NativeSymbol>& symbols() const noexcept { return symbols_; }
  StringTable& strings() noexcept { return strings_; }

 private:
  void add_standings(const ShownStacks& stacks);
  FrameRow row(const ShownStacks::Frame& frame);
  std::uint32_t function(const ShownStacks::Frame& frame);
  std::int32_t source(const std::string& file);
  std::optional<std::uint32_t> native_symbol(const Frame& frame);
  std::int32_t resource(std::int32_t module);
  const Module& module_of(const Frame& frame) const;

  const Recording& recording_;
  const std::vector<bool> is_runtime_;  // by module
  StringTable strings_;
  std::vector<FrameRow> frames_;
  std::vector<Recording::Node> nodes_;
  std::vector<std::uint32_t> leaves_;
  std::vector<Function> functions_;
  std::map<std::tuple<std::string, std::string, std::int32_t>, std::uint32_t> function_of_;  // label, file, module
  std::vector<std::int32_t> resources_;
  std::map<std::int32_t, std::int32_t> resource_of_;
  std::vector<NativeSymbol> symbols_;
  std::vector<std::uint32_t> sources_;
  std::unordered_map<std::string, std::int32_t> source_of_;
  std::map<std::pair<std::int32_t, std::uint64_t>, std::uint32_t> symbol_of_;
};

}  // namespace mixwalk

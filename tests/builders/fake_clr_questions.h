#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "walker/clr/clr_questions.h"

namespace mixwalk::test {

// A fake of a runtime's debugging library, whose answers come from the test.
class FakeClrQuestions final : public ClrQuestions {
 public:
  void add_code(const ClrCode& code) { codes_.push_back(code); }
  void add_method(std::uint64_t method, ClrMethod name) { methods_[method] = std::move(name); }

  std::optional<ClrCode> code_at(std::uint64_t ip) override {
    for (const ClrCode& code : codes_) {
      if (ip - code.start < code.hot_bytes || ip - code.cold_start < code.cold_bytes) return code;
    }
    return std::nullopt;
  }
  ClrMethod method(std::uint64_t method) override {
    const auto known = methods_.find(method);
    return known != methods_.end() ? known->second : ClrMethod{};
  }
  std::string code_name(std::uint64_t address) override { return code_names[address]; }
  std::vector<ClrThread> threads() override { return clr_threads; }
  std::vector<ClrThreadExceptions> handled_exceptions() override { return handled; }
  std::optional<ClrSyncBlocks> sync_blocks(std::uint32_t first) override {
    return first - 1 < sync_block_answers.size() ? std::optional(sync_block_answers[first - 1]) : std::nullopt;
  }
  std::vector<std::string> object_types(std::span<const std::uint64_t> objects) override {
    std::vector<std::string> types;
    for (const std::uint64_t object : objects) types.push_back(type_of ? type_of(object) : objects_of[object]);
    return types;
  }
  std::vector<ClrType> types(std::span<const std::uint64_t> method_tables) override {
    std::vector<ClrType> types;
    for (const std::uint64_t table : method_tables) {
      const auto known = types_of.find(table);
      types.push_back(known != types_of.end() ? known->second : ClrType{});
    }
    return types;
  }
  ManagedHeap heap() override { return {.parts = heap_parts, .types = {}}; }
  std::vector<std::string> heap_object_types(std::span<const std::uint64_t> addresses) override {
    std::vector<std::string> types = object_types(addresses);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (left_behind.contains(addresses[i])) types[i].clear();
    }
    return types;
  }
  std::vector<std::optional<ClrLock>> lock_objects(std::span<const std::uint64_t> objects) override {
    lock_questions.push_back(objects.size());
    std::vector<std::optional<ClrLock>> locks;
    for (const std::uint64_t object : objects) {
      const auto known = locks_of.find(object);
      locks.push_back(known != locks_of.end() ? std::optional(known->second) : std::nullopt);
    }
    return locks;
  }
  ClrIlPlaces il_places(std::span<const std::uint64_t> ips) override {
    ClrIlPlaces found{.assemblies = assemblies};
    for (const std::uint64_t ip : ips) {
      const auto known = places.find(ip);
      found.places.push_back(known != places.end() ? known->second : ClrIlPlaces::Place{});
    }
    return found;
  }
  std::vector<ClrIlStep> il_of(std::uint64_t method) override { return il_of_methods[{method, ""}]; }
  std::vector<ClrIlStep> il_of(std::uint64_t type, std::string_view name) override {
    return il_of_methods[{type, std::string(name)}];
  }
  void target_ran() override {
    if (on_run) on_run();
  }
  std::string obstacle() const override { return {}; }

  std::map<std::uint64_t, std::string> code_names;
  std::vector<ClrThread> clr_threads;
  std::vector<ClrThreadExceptions> handled;
  std::vector<ClrSyncBlocks> sync_block_answers;    // the answers to first = 1, 2, …
  std::map<std::uint64_t, std::string> objects_of;  // the objects' types
  std::function<std::string(std::uint64_t)> type_of;  // in place of objects_of
  std::set<std::uint64_t> left_behind;              // look like objects, but are not in the heap
  std::map<std::uint64_t, ClrType> types_of;        // by MethodTable
  std::vector<HeapPart> heap_parts;
  std::map<std::uint64_t, ClrLock> locks_of;        // by address
  std::vector<std::size_t> lock_questions;          // the number of objects in each question
  // By the method, or by its type and name.
  std::map<std::pair<std::uint64_t, std::string>, std::vector<ClrIlStep>> il_of_methods;
  std::vector<Assembly> assemblies;
  std::map<std::uint64_t, ClrIlPlaces::Place> places;  // in IL, by address
  std::function<void()> on_run;                     // what a live target does meanwhile

 private:
  std::vector<ClrCode> codes_;
  std::map<std::uint64_t, ClrMethod> methods_;
};

}  // namespace mixwalk::test

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "walker/base/failure.h"
#include "walker/clr/contracts/code_block.h"
#include "walker/clr/contracts/explicit_frames.h"
#include "walker/clr/contracts/runtime_modules.h"
#include "walker/clr/contracts/runtime_names.h"
#include "walker/clr/contracts/runtime_reader.h"
#include "walker/clr/object_questions.h"
#include "walker/target/target.h"

namespace mixwalk {

// The answers that the data of a target's runtime give themselves, by the runtime's data contracts. In contrast to the
// debugging library, they need no file of that very runtime, no other process and no Windows. Not frozen-safe; one
// thread at a time.
class ContractQuestions final : public ObjectQuestions {
 public:
  // A failure says in one line why the runtime's data cannot be read: it has no contracts, or unknown ones, or its data
  // fail the check (the map of code must find the code of System.Private.CoreLib). `target` must outlive this object.
  static Outcome<std::unique_ptr<ContractQuestions>> open(const Target& target);

  std::optional<ClrCode> code_at(std::uint64_t ip) override;
  ClrMethod method(std::uint64_t method) override;
  std::string code_name(std::uint64_t address) override;
  std::vector<ClrThread> threads() override;
  std::vector<ClrThreadExceptions> handled_exceptions() override;
  std::optional<ClrSyncBlocks> sync_blocks(std::uint32_t first) override;
  ClrIlPlaces il_places(std::span<const std::uint64_t> ips) override;
  ClrIlPlaces machine_places(std::span<const std::uint64_t> method_tables) override;
  std::vector<ClrIlStep> il_of(std::uint64_t method) override;
  std::vector<ClrIlStep> il_of(std::uint64_t type, std::string_view name) override;
  std::vector<RuntimeCall> calls_of(std::uint32_t os_id, const StackCopy& stack) override;
  void note_calls() override {
    newest_frames_.note(reader_);
    reader_.drop();
  }
  void target_ran() override;
  std::vector<std::string> missing_assemblies() const override { return modules_.without_metadata(); }

 private:
  ContractQuestions(const Target& target, ContractDescriptor descriptor);
  const std::optional<CodeBlock>& block_at(std::uint64_t ip);
  const MemoryReader& memory() const override { return reader_.memory(); }
  std::string object_type(std::uint64_t object) override;
  ManagedHeap read_heap(HeapDeadline deadline) override;
  std::string type_name(std::uint64_t method_table) override { return names_.type_name(method_table); }
  ClrType read_type(std::uint64_t method_table) override;

  std::vector<ClrIlStep> il_of_token(std::uint64_t module, std::uint32_t token);

  RuntimeReader reader_;
  RuntimeModules modules_;
  RuntimeNames names_{reader_, modules_};
  std::unordered_map<std::uint64_t, std::optional<CodeBlock>> blocks_;  // by address
  std::unordered_map<std::uint64_t, ClrMethod> methods_;                // by MethodDesc
  NewestFrames newest_frames_;
};

}  // namespace mixwalk

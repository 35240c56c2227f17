#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "walker/clr/clr_questions.h"
#include "walker/clr/win/worker_process.h"

namespace mixwalk {

// How long the runtime's debugging library may take for its start, and for each message of questions. Real answers take
// milliseconds, and the first one of a large dump some hundred milliseconds. On a machine with a load of 15 on two
// cores, the start of the worker and the loading of the library took more than 5 s (from_outside_test), and another
// time an answer took more than 10 s (hangs_test). No thread of the target is suspended meanwhile.
inline constexpr std::uint32_t kClrAnswerMs = 30'000;

// Questions to a runtime's debugging library that runs in a worker. If the library hangs, crashes or gives invalid
// answers, the worker is ended, obstacle() says why, and all later answers are missing. Earlier answers are kept.
class WorkerQuestions final : public ClrQuestions {
 public:
  struct Settings {
    std::wstring program;  // mixwalk.exe
    std::string dac_path;  // UTF-8; has been checked (dac_check.h)
    std::uint64_t runtime_base = 0;
    // The source that is read: a process with the rights of LiveTarget::open(), or else a dump.
    HANDLE process = nullptr;
    std::string dump_path;  // UTF-8
    std::string symbol_path;  // UTF-8: for images that the dump does not contain
    std::uint32_t answer_ms = kClrAnswerMs;
    std::uint32_t open_ms = kClrAnswerMs;  // for the start of the worker and the library
  };
  explicit WorkerQuestions(const Settings& settings);

  std::optional<ClrCode> code_at(std::uint64_t ip) override;
  ClrMethod method(std::uint64_t method) override;
  std::string code_name(std::uint64_t address) override;
  std::vector<ClrThread> threads() override;
  std::optional<ClrSyncBlocks> sync_blocks(std::uint32_t first) override;
  std::vector<std::string> object_types(std::span<const std::uint64_t> objects) override;
  std::vector<ClrType> types(std::span<const std::uint64_t> method_tables) override;
  ManagedHeap heap() override;
  std::vector<std::string> heap_object_types(std::span<const std::uint64_t> addresses) override;
  std::vector<std::optional<ClrLock>> lock_objects(std::span<const std::uint64_t> objects) override;
  ClrIlPlaces il_places(std::span<const std::uint64_t> ips) override;
  ClrIlPlaces machine_places(std::span<const std::uint64_t> method_tables) override;
  void expect_methods(std::span<const std::uint64_t> methods) override;
  void target_ran() override;
  std::string obstacle() const override { return obstacle_; }

  DWORD worker_id() const noexcept { return worker_ ? worker_->id() : 0; }

 private:
  // The answer, or null if none came that fits the question. Valid until the next question.
  template <class Question>
  const typename Question::Answer* ask(const Question& question, std::uint32_t deadline_ms);
  template <class Question>
  const typename Question::Answer* ask(const Question& question) {
    return ask(question, answer_ms_);
  }
  // One value for each address. Messages ask for so many of them at most.
  template <class Question, class Value>
  std::vector<Value> ask_in_parts(std::span<const std::uint64_t> addresses, std::size_t most);
  template <class Question>
  ClrIlPlaces ask_places(std::span<const std::uint64_t> addresses);
  void keep(std::uint64_t ip, const std::optional<ClrCode>& code);

  std::uint32_t answer_ms_ = kClrAnswerMs;
  std::unique_ptr<WorkerProcess> worker_;
  std::optional<QuestionMessage> answer_;
  std::string obstacle_;
  // pieces_: pieces of code by where they begin. single_: addresses that are in no such piece, with their answers.
  std::map<std::uint64_t, std::pair<std::uint64_t, ClrCode>> pieces_;
  std::unordered_map<std::uint64_t, std::optional<ClrCode>> single_;
  std::unordered_map<std::uint64_t, ClrMethod> methods_;
  std::unordered_map<std::uint64_t, std::string> code_names_;
};

}  // namespace mixwalk

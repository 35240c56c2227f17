#include "walker/clr/win/worker_questions.h"

#include <algorithm>
#include <chrono>

namespace mixwalk {
namespace {

// The limit for the code of one method. The runtime compiles no larger one.
constexpr std::uint64_t kMaxCodeBytes = 64 << 20;
// The limit for cached answers. A malicious library could otherwise fill the memory.
constexpr std::size_t kMaxKept = 1'000'000;
constexpr std::size_t kMaxAssemblies = 10'000;
// The time limit for the places in IL of all frames together. Some thousand of them take some hundred milliseconds.
constexpr std::chrono::seconds kIlPlacesTime{10};

// A copy of the process's handle, for the worker; null if no process is read.
UniqueHandle inheritable(HANDLE process) {
  HANDLE copy = nullptr;
  if (process != nullptr) {
    DuplicateHandle(GetCurrentProcess(), process, GetCurrentProcess(), &copy, 0, TRUE, DUPLICATE_SAME_ACCESS);
  }
  return UniqueHandle(copy);
}

// Whether an answer fits its question: it has one entry for each address, except for the questions that name none.
template <class Question>
bool fits(const Question& question, const typename Question::Answer& answer) {
  const auto& [asked] = question;
  const auto& [entries] = answer;
  return entries.size() == asked.size();
}
bool fits(const OpenClr&, const Opened&) { return true; }
bool fits(const TargetRan&, const Opened&) { return true; }
bool fits(const AskThreads&, const ThreadsAnswer&) { return true; }
bool fits(const AskHeap&, const HeapAnswer& answer) {
  return std::ranges::is_sorted(answer.parts, {}, &HeapPart::begin);
}
bool fits(const AskSyncBlocks& question, const SyncBlocksAnswer& answer) {
  return answer.blocks.next == 0 || answer.blocks.next > question.first;
}
bool fits(const AskIlPlaces& question, const IlPlacesAnswer& answer) {
  return answer.places.places.size() == question.ips.size();
}
bool fits(const AskMachinePlaces& question, const IlPlacesAnswer& answer) {
  return answer.places.places.size() == question.method_tables.size();
}

}  // namespace

WorkerQuestions::WorkerQuestions(const Settings& settings) : answer_ms_(settings.answer_ms) {
  UniqueHandle process = inheritable(settings.process);
  const auto value = reinterpret_cast<std::uint64_t>(process.get());
  auto worker = WorkerProcess::start(settings.program, std::move(process));
  if (!worker) {
    obstacle_ = worker.failure().message;
    return;
  }
  worker_ = std::move(*worker);
  ask(OpenClr{kQuestionsVersion, settings.dac_path, value, settings.dump_path, settings.symbol_path,
              settings.runtime_base},
      settings.open_ms);
}

template <class Question>
const typename Question::Answer* WorkerQuestions::ask(const Question& question, std::uint32_t deadline_ms) {
  if (!obstacle_.empty()) return nullptr;
  answer_ = worker_->ask(question, deadline_ms);
  if (!answer_) {
    obstacle_ = worker_->failure();
    return nullptr;
  }
  const auto* wanted = std::get_if<typename Question::Answer>(&*answer_);
  if (wanted != nullptr && fits(question, *wanted)) return wanted;
  const auto* refusal = std::get_if<NotOpened>(&*answer_);
  const std::string why = refusal != nullptr ? refusal->why : std::string();
  worker_->reject_answer();
  obstacle_ = !why.empty() ? why : worker_->failure();
  return nullptr;
}

void WorkerQuestions::keep(std::uint64_t ip, const std::optional<ClrCode>& code) {
  if (pieces_.size() + single_.size() > kMaxKept) {
    pieces_.clear();
    single_.clear();
  }
  if (!code) {
    single_[ip] = std::nullopt;
    return;
  }
  const auto add = [&](std::uint64_t begin, std::uint64_t bytes) {
    if (ip < begin || ip - begin >= bytes || bytes > kMaxCodeBytes) return false;
    pieces_[begin] = {begin + bytes, *code};
    return true;
  };
  // An answer whose range does not contain the address of the question counts for that address only.
  if (!add(code->start, code->hot_bytes) && !add(code->cold_start, code->cold_bytes)) single_[ip] = code;
}

std::optional<ClrCode> WorkerQuestions::code_at(std::uint64_t ip) {
  const auto next = pieces_.upper_bound(ip);
  if (next != pieces_.begin() && ip < std::prev(next)->second.first) return std::prev(next)->second.second;
  if (const auto known = single_.find(ip); known != single_.end()) return known->second;
  const auto* answer = ask(AskCode{{ip}});
  if (answer == nullptr) return std::nullopt;
  const std::optional<ClrCode> code = answer->codes.front();
  keep(ip, code);
  return code;
}

void WorkerQuestions::expect_methods(std::span<const std::uint64_t> methods) {
  std::vector<std::uint64_t> wanted(methods.begin(), methods.end());
  std::ranges::sort(wanted);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::erase_if(wanted, [&](std::uint64_t method) { return method == 0 || methods_.contains(method); });
  if (methods_.size() > kMaxKept) methods_.clear();
  for (std::size_t at = 0; at < wanted.size(); at += kMaxNamesAsked) {
    const auto part = std::span(wanted).subspan(at, std::min(kMaxNamesAsked, wanted.size() - at));
    const auto* answer = ask(AskMethods{{part.begin(), part.end()}});
    if (answer == nullptr) return;
    for (std::size_t i = 0; i < part.size(); ++i) methods_[part[i]] = answer->methods[i];
  }
}

ClrMethod WorkerQuestions::method(std::uint64_t method) {
  expect_methods({&method, 1});
  const auto known = methods_.find(method);
  return known != methods_.end() ? known->second : ClrMethod{};
}

std::string WorkerQuestions::code_name(std::uint64_t address) {
  const auto known = code_names_.find(address);
  if (known != code_names_.end()) return known->second;
  const auto* answer = ask(AskCodeNames{{address}});
  if (answer == nullptr) return {};
  if (code_names_.size() > kMaxKept) code_names_.clear();
  return code_names_[address] = answer->names.front();
}

std::vector<ClrThread> WorkerQuestions::threads() {
  const auto* answer = ask(AskThreads{});
  return answer != nullptr ? answer->threads : std::vector<ClrThread>();
}

std::optional<ClrSyncBlocks> WorkerQuestions::sync_blocks(std::uint32_t first) {
  const auto* answer = ask(AskSyncBlocks{first});
  return answer != nullptr ? std::optional(answer->blocks) : std::nullopt;
}

template <class Question, class Value>
std::vector<Value> WorkerQuestions::ask_in_parts(std::span<const std::uint64_t> addresses, std::size_t most) {
  std::vector<Value> values;
  for (std::size_t at = 0; at < addresses.size(); at += most) {
    const auto part = addresses.subspan(at, std::min(most, addresses.size() - at));
    const auto* answer = ask(Question{{part.begin(), part.end()}});
    if (answer == nullptr) break;
    const auto& [entries] = *answer;
    values.insert(values.end(), entries.begin(), entries.end());
  }
  values.resize(addresses.size());
  return values;
}

std::vector<std::string> WorkerQuestions::object_types(std::span<const std::uint64_t> objects) {
  return ask_in_parts<AskObjectTypes, std::string>(objects, kMaxNamesAsked);
}

std::vector<ClrType> WorkerQuestions::types(std::span<const std::uint64_t> method_tables) {
  return ask_in_parts<AskTypes, ClrType>(method_tables, kMaxTypesAsked);
}

ManagedHeap WorkerQuestions::heap() {
  ManagedHeap heap;
  const auto* answer = ask(AskHeap{});
  if (answer == nullptr) return heap;
  heap.parts = answer->parts;
  for (const HeapAnswer::Room& room : answer->rooms) heap.types.free_room.emplace(room.begin, room.next);
  return heap;
}

std::vector<std::string> WorkerQuestions::heap_object_types(std::span<const std::uint64_t> addresses) {
  return ask_in_parts<AskHeapObjectTypes, std::string>(addresses, kMaxNamesAsked);
}

std::vector<std::optional<ClrLock>> WorkerQuestions::lock_objects(std::span<const std::uint64_t> objects) {
  return ask_in_parts<AskLockObjects, std::optional<ClrLock>>(objects, kMaxAsked);
}

template <class Question>
ClrIlPlaces WorkerQuestions::ask_places(std::span<const std::uint64_t> ips) {
  ClrIlPlaces found;
  const auto end = std::chrono::steady_clock::now() + kIlPlacesTime;
  for (std::size_t at = 0; at < ips.size() && std::chrono::steady_clock::now() < end; at += kMaxNamesAsked) {
    const auto part = ips.subspan(at, std::min(kMaxNamesAsked, ips.size() - at));
    const auto* answer = ask(Question{{part.begin(), part.end()}});
    if (answer == nullptr) break;
    if (found.assemblies.size() + answer->places.assemblies.size() > kMaxAssemblies) break;
    std::vector<std::int32_t> places;  // for each assembly of the answer, its index in found.assemblies
    for (const Assembly& assembly : answer->places.assemblies) places.push_back(place_of(assembly, found.assemblies));
    for (ClrIlPlaces::Place place : answer->places.places) {
      if (place.il.assembly >= 0) place.il.assembly = places[static_cast<std::size_t>(place.il.assembly)];
      found.places.push_back(place);
    }
  }
  found.places.resize(ips.size());
  return found;
}

ClrIlPlaces WorkerQuestions::il_places(std::span<const std::uint64_t> ips) { return ask_places<AskIlPlaces>(ips); }

ClrIlPlaces WorkerQuestions::machine_places(std::span<const std::uint64_t> method_tables) {
  return ask_places<AskMachinePlaces>(method_tables);
}

void WorkerQuestions::target_ran() {
  // Earlier answers are kept if no other answers can come.
  if (ask(TargetRan{}) == nullptr) return;
  pieces_.clear();
  single_.clear();
  // A MethodDesc's address may belong to another method by now.
  methods_.clear();
  code_names_.clear();
}

}  // namespace mixwalk

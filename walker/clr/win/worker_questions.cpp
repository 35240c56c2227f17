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
  ask<Opened>(OpenClr{kQuestionsVersion, settings.dac_path, value, settings.dump_path, settings.symbol_path,
                      settings.runtime_base},
              settings.open_ms);
}

template <class Answer>
const Answer* WorkerQuestions::ask(const QuestionMessage& question, std::uint32_t deadline_ms) {
  if (!obstacle_.empty()) return nullptr;
  answer_ = worker_->ask(question, deadline_ms);
  if (!answer_) {
    obstacle_ = worker_->failure();
    return nullptr;
  }
  if (const auto* wanted = std::get_if<Answer>(&*answer_)) return wanted;
  const auto* refusal = std::get_if<NotOpened>(&*answer_);
  const std::string why = refusal != nullptr ? refusal->why : std::string();
  worker_->reject_answer();
  obstacle_ = !why.empty() ? why : worker_->failure();
  return nullptr;
}

void WorkerQuestions::reject() {
  worker_->reject_answer();
  obstacle_ = worker_->failure();
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
  const auto* answer = ask<CodeAnswer>(AskCode{{ip}});
  if (answer == nullptr) return std::nullopt;
  if (answer->codes.size() != 1) {
    reject();
    return std::nullopt;
  }
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
    const auto* answer = ask<MethodsAnswer>(AskMethods{{part.begin(), part.end()}});
    if (answer == nullptr) return;
    if (answer->methods.size() != part.size()) {
      reject();
      return;
    }
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
  const auto* answer = ask<CodeNamesAnswer>(AskCodeNames{{address}});
  if (answer == nullptr) return {};
  if (answer->names.size() != 1) {
    reject();
    return {};
  }
  if (code_names_.size() > kMaxKept) code_names_.clear();
  return code_names_[address] = answer->names.front();
}

std::vector<ClrThread> WorkerQuestions::threads() {
  const auto* answer = ask<ThreadsAnswer>(AskThreads{});
  return answer != nullptr ? answer->threads : std::vector<ClrThread>();
}

std::optional<ClrSyncBlocks> WorkerQuestions::sync_blocks(std::uint32_t first) {
  const auto* answer = ask<SyncBlocksAnswer>(AskSyncBlocks{first});
  if (answer == nullptr) return std::nullopt;
  if (answer->blocks.next != 0 && answer->blocks.next <= first) {
    reject();
    return std::nullopt;
  }
  return answer->blocks;
}

template <class Ask>
std::vector<std::string> WorkerQuestions::ask_types(std::span<const std::uint64_t> addresses) {
  std::vector<std::string> types;
  for (std::size_t at = 0; at < addresses.size(); at += kMaxNamesAsked) {
    const auto part = addresses.subspan(at, std::min(kMaxNamesAsked, addresses.size() - at));
    const auto* answer = ask<ObjectTypesAnswer>(Ask{{part.begin(), part.end()}});
    if (answer != nullptr && answer->types.size() != part.size()) {
      reject();
      answer = nullptr;
    }
    if (answer == nullptr) break;
    types.insert(types.end(), answer->types.begin(), answer->types.end());
  }
  types.resize(addresses.size());
  return types;
}

std::vector<std::string> WorkerQuestions::object_types(std::span<const std::uint64_t> objects) {
  return ask_types<AskObjectTypes>(objects);
}

std::vector<std::string> WorkerQuestions::heap_object_types(std::span<const std::uint64_t> addresses) {
  return ask_types<AskHeapObjectTypes>(addresses);
}

std::vector<std::optional<ClrLock>> WorkerQuestions::lock_objects(std::span<const std::uint64_t> objects) {
  std::vector<std::optional<ClrLock>> locks;
  for (std::size_t at = 0; at < objects.size(); at += kMaxAsked) {
    const auto part = objects.subspan(at, std::min(kMaxAsked, objects.size() - at));
    const auto* answer = ask<LockObjectsAnswer>(AskLockObjects{{part.begin(), part.end()}});
    if (answer != nullptr && answer->locks.size() != part.size()) {
      reject();
      answer = nullptr;
    }
    if (answer == nullptr) break;
    locks.insert(locks.end(), answer->locks.begin(), answer->locks.end());
  }
  locks.resize(objects.size());
  return locks;
}

ClrIlPlaces WorkerQuestions::il_places(std::span<const std::uint64_t> ips) {
  ClrIlPlaces found;
  const auto end = std::chrono::steady_clock::now() + kIlPlacesTime;
  for (std::size_t at = 0; at < ips.size() && std::chrono::steady_clock::now() < end; at += kMaxNamesAsked) {
    const auto part = ips.subspan(at, std::min(kMaxNamesAsked, ips.size() - at));
    const auto* answer = ask<IlPlacesAnswer>(AskIlPlaces{{part.begin(), part.end()}});
    if (answer != nullptr && answer->places.places.size() != part.size()) {
      reject();
      answer = nullptr;
    }
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

void WorkerQuestions::target_ran() {
  // Earlier answers are kept if no other answers can come.
  if (ask<Opened>(TargetRan{}) == nullptr) return;
  pieces_.clear();
  single_.clear();
  // A MethodDesc's address may belong to another method by now.
  methods_.clear();
  code_names_.clear();
}

}  // namespace mixwalk

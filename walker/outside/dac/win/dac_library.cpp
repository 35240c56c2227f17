#include "walker/outside/dac/win/dac_library.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "walker/outside/dac_name.h"
#include "unmanaged/win/utf8.h"
#include "walker/outside/question_messages.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

constexpr unsigned kNameUnits = 4096;
// Whose metadata is kept open; a large program has some thousand.
constexpr std::size_t kMaxModules = 10'000;
// For one question for sync blocks: an answer must not be late.
constexpr std::chrono::milliseconds kSyncBlocksTime{250};
constexpr std::uint32_t kLastSyncBlock = 0x03FF'FFFF;  // an object's header has 26 bits for the number

// A name that the library wrote: up to its end, wherever the library says that is.
std::string text_of(const std::array<WCHAR, kNameUnits>& name) {
  const auto end = std::find(name.begin(), name.end() - 1, L'\0');
  return to_utf8({name.data(), static_cast<std::size_t>(end - name.begin())});
}

std::string code_of(HRESULT result) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08lX", static_cast<unsigned long>(result));
  return text;
}

}  // namespace

Outcome<std::unique_ptr<DacLibrary>> DacLibrary::load(const std::string& path, const MemoryReader& memory,
                                                      std::uint64_t runtime_base) {
  std::unique_ptr<DacLibrary> loaded(new DacLibrary(memory, runtime_base));
  // What the library itself needs comes from its own folder and the system's, never from the current one.
  loaded->library_ = LoadLibraryExW(to_utf16(path).c_str(), nullptr,
                                    LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (loaded->library_ == nullptr) {
    return Failure{ExitCode::internal, "cannot load " + path + ": " + last_error()};
  }
  const auto create = reinterpret_cast<dac::CreateInstance>(
      reinterpret_cast<void*>(GetProcAddress(loaded->library_, "CLRDataCreateInstance")));
  if (create == nullptr) return Failure{ExitCode::internal, path + " is no debugging library of .NET"};
  const HRESULT result = create(dac::kIidClrProcess, &loaded->target_,
                                reinterpret_cast<void**>(loaded->process_.put()));
  if (FAILED(result) || !loaded->process_) {
    return Failure{ExitCode::internal, path + " does not accept the target's runtime (" + code_of(result) + ")"};
  }
  if (!loaded->sos_.query(loaded->process_.get(), dac::kIidSosDac)) {
    return Failure{ExitCode::internal, path + " answers no questions (ISOSDacInterface)"};
  }
  return loaded;
}

DacLibrary::~DacLibrary() {
  metadata_.clear();
  sos_.reset();
  process_.reset();
}

std::optional<ClrCode> DacLibrary::code_at(std::uint64_t ip) {
  dac::CodeHeaderData data;
  if (FAILED(sos_->GetCodeHeaderData(ip, &data)) || data.method == 0 || data.start == 0) return std::nullopt;
  return ClrCode{data.method,     data.start,   data.hot_bytes,
                 data.cold_start, data.cold_bytes, data.gc_info,
                 data.jit_type == dac::kJitted};
}

ClrMethod DacLibrary::method(std::uint64_t method) {
  std::array<WCHAR, kNameUnits> name{};
  unsigned units = 0;
  if (FAILED(sos_->GetMethodDescName(method, kNameUnits, name.data(), &units))) return {};
  dac::MethodDescData data;
  const bool dynamic = SUCCEEDED(sos_->GetMethodDescData(method, 0, &data, 0, nullptr, nullptr)) &&
                       data.is_dynamic != 0;
  const std::string text = text_of(name);
  ClrMethod found = method_of_dac_name(text, dynamic);
  if (dynamic || found.stub) return found;
  if (std::string better = name_by_metadata(data, text); !better.empty()) found.name = std::move(better);
  return found;
}

const ModuleMetadata* DacLibrary::metadata_of(std::uint64_t module) {
  const auto known = metadata_.find(module);
  if (known != metadata_.end()) return &known->second;
  if (metadata_.size() == kMaxModules) return nullptr;
  ComPointer<IUnknown> object;
  if (FAILED(sos_->GetModule(module, object.put())) || !object) return nullptr;
  return &metadata_.emplace(module, ModuleMetadata(*object)).first->second;
}

std::string DacLibrary::name_by_metadata(const dac::MethodDescData& data, const std::string& name) {
  if (data.module == 0) return {};
  const ModuleMetadata* metadata = metadata_of(data.module);
  ModuleMetadata::Method method;
  if (metadata == nullptr || !metadata->method(data.token, method)) return {};
  const std::string type = metadata->type_name(method.type);
  const auto arguments = dac_arguments(name, type, method.name);
  const auto parameters =
      arguments ? format_parameters(method.signature, *metadata, {arguments->of_type, arguments->of_method})
                : std::nullopt;
  if (!parameters) return {};
  std::string text = with_arguments(type, arguments->of_type);
  if (!text.empty()) text += '.';
  return text + with_arguments(method.name, arguments->of_method) + *parameters;
}

std::string DacLibrary::code_name(std::uint64_t address) {
  std::array<WCHAR, kNameUnits> name{};
  ULONG32 units = 0;
  std::uint64_t displacement = 0;
  if (FAILED(process_->GetRuntimeNameByAddress(address, 0, kNameUnits, &units, name.data(), &displacement))) {
    return {};
  }
  return text_of(name);
}

std::vector<ClrThread> DacLibrary::threads() {
  dac::ThreadStoreData store;
  if (FAILED(sos_->GetThreadStoreData(&store))) return {};
  std::vector<ClrThread> threads;
  // The list is the target's memory: it may go round in circles.
  const std::size_t most = std::min<std::size_t>(std::max(store.threads, 0), kMaxClrThreads);
  for (std::uint64_t at = store.first_thread; at != 0 && threads.size() < most;) {
    dac::ThreadData data;
    if (FAILED(sos_->GetThreadData(at, &data))) break;
    threads.push_back({at, data.os_id, data.managed_id, data.domain});
    at = data.next_thread;
  }
  return threads;
}

std::optional<ClrSyncBlocks> DacLibrary::sync_blocks(std::uint32_t first) {
  const auto end = std::chrono::steady_clock::now() + kSyncBlocksTime;
  ClrSyncBlocks found;
  std::uint32_t number = std::max(first, 1u);
  for (;; ++number) {
    dac::SyncBlockData data;
    const HRESULT result = sos_->GetSyncBlockData(number, &data);
    // Of a process without sync blocks it says E_FAIL and a count of 0.
    if (data.count == 0 && FAILED(result) && result != E_FAIL) found.unreadable = true;
    if (number > data.count || number == kLastSyncBlock) return found;
    const bool timely = number % 256 != 0 || number == first || std::chrono::steady_clock::now() < end;
    if (found.blocks.size() == kMaxSyncBlocks || !timely) break;
    if (FAILED(result)) found.unreadable = true;
    if (FAILED(result) || data.is_free != 0 || data.address == 0) continue;
    if (data.held == 0 && data.pulse_waiters == 0) continue;
    const bool held = (data.held & 1) != 0;
    found.blocks.push_back({data.address, data.object, held ? data.holding_thread : 0, held ? data.recursion : 0, held});
  }
  found.next = number;
  return found;
}

std::string DacLibrary::object_type(std::uint64_t object) {
  dac::ObjectData data;
  if (FAILED(sos_->GetObjectData(object, &data)) || data.kind == dac::kFreeObject) return {};
  std::array<WCHAR, kNameUnits> name{};
  unsigned units = 0;
  if (FAILED(sos_->GetObjectClassName(object, kNameUnits, name.data(), &units))) return {};
  return type_of_dac_name(text_of(name));
}

std::vector<std::string> DacLibrary::object_types(std::span<const std::uint64_t> objects) {
  std::vector<std::string> types;
  for (const std::uint64_t object : objects) types.push_back(object_type(object));
  return types;
}

void DacLibrary::target_ran() {
  cache_.drop();
  metadata_.clear();  // the library's objects do not outlive this
  process_->Flush();
}

}  // namespace mixwalk

#include "walker/outside/win/live_target.h"

#include <windows.h>
#include <winternl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/win/loader_list.h"
#include "walker/outside/process_block.h"
#include "walker/outside/runtime_version.h"
#include "walker/outside/win/suspension_gate.h"
#include "walker/session/win/thread_list.h"
#include "walker/session/win/token.h"
#include "walker/session/win/win_error.h"
#include "walker/suspended/capture.h"

namespace mixwalk {
namespace {

// The stack of a thread that runs, as far as its pages are plain before the thread is suspended: under the freeze
// nothing is asked of the target but its bytes.
class KnownStack final : public MemoryReader {
 public:
  KnownStack(const RemoteMemory& memory, const ProcessMemory& raw, const StackLimits& limits) : raw_(raw) {
    for (std::uint64_t at = limits.limit; at < limits.base && count_ < kMaxRanges;) {
      const std::uint64_t plain = memory.plain_bytes(at, limits.base - at);
      if (plain != 0) ranges_[count_++] = {at, at + plain};
      at += plain + kPageBytes;  // closed, or a trap
    }
  }
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    const auto holds = [&](const Range& range) {
      return address >= range.begin && address <= range.end && bytes <= range.end - address;
    };
    return std::any_of(ranges_.begin(), ranges_.begin() + count_, holds) && raw_.read(address, into, bytes);
  }

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  static constexpr std::size_t kMaxRanges = 16, kPageBytes = 4096;

  const ProcessMemory& raw_;
  std::array<Range, kMaxRanges> ranges_{};
  std::size_t count_ = 0;
};

StackLimits stack_limits(const MemoryReader& memory, std::uint64_t teb) {
  const auto base = memory.read_value<std::uint64_t>(teb + offsetof(NT_TIB, StackBase));
  const auto limit = memory.read_value<std::uint64_t>(teb + offsetof(NT_TIB, StackLimit));
  if (!base || !limit || *base <= *limit) return {};
  return {*limit, *base};
}

}  // namespace

Outcome<std::unique_ptr<LiveTarget>> LiveTarget::open(std::uint32_t process_id) {
  UniqueHandle handle = open_process(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, process_id);
  const std::string name = "process " + std::to_string(process_id);
  if (!handle) {
    const DWORD error = GetLastError();
    if (error == ERROR_ACCESS_DENIED) {
      return Failure{ExitCode::no_access,
                     "no access to " + name + ": run mixwalk as the same user or as administrator"};
    }
    return Failure{ExitCode::no_process, "no process with id " + std::to_string(process_id)};
  }
  BOOL wow64 = FALSE;
  if (IsWow64Process(handle.get(), &wow64) && wow64) {
    return Failure{ExitCode::wrong_bitness, name + " is a 32-bit process; mixwalk walks x64 only"};
  }
  PROCESS_BASIC_INFORMATION info{};
  if (NtQueryInformationProcess(handle.get(), ProcessBasicInformation, &info, sizeof info, nullptr) < 0) {
    return Failure{ExitCode::no_process, name + " has ended"};
  }
  std::unique_ptr<LiveTarget> target(new LiveTarget(std::move(handle), process_id));
  target->peb_ = reinterpret_cast<std::uint64_t>(info.PebBaseAddress);
  target->refresh();
  if (target->threads_.empty()) return Failure{ExitCode::no_process, name + " has ended"};
  return target;
}

LiveTarget::LiveTarget(UniqueHandle handle, std::uint32_t process_id)
    : handle_(std::move(handle)), memory_(handle_.get()), stacks_(handle_.get()), cache_(memory_) {
  process_.id = process_id;
}

void LiveTarget::refresh() {
  memory_.drop();
  cache_.drop();
  using namespace std::chrono;
  unix_time_ms_ = static_cast<std::uint64_t>(
      duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count());
  read_modules();
  read_threads();
}

void LiveTarget::read_modules() {
  modules_.clear();
  const std::vector<ListedImage> images = read_loader_list(cache_, peb_);
  for (const ListedImage& image : images) {
    const auto headers = ImageHeaders::read(cache_, image.base);
    if (!headers || headers->size_of_image() == 0) continue;
    modules_.push_back({image.base, headers->size_of_image(), headers->timestamp(), image.path});
  }
  // The program's image comes first in the loader's list.
  if (!images.empty()) process_.path = images.front().path;
  std::ranges::stable_sort(modules_, {}, &Module::base);
  const auto overlaps = [](const Module& lower, const Module& module) {
    return module.base - lower.base < lower.size;
  };
  modules_.erase(std::unique(modules_.begin(), modules_.end(), overlaps), modules_.end());
  runtime_ = find_runtime(modules_, cache_);
}

void LiveTarget::read_threads() {
  threads_.clear();
  const std::vector<std::uint32_t> ids = list_threads(process_.id).value_or(std::vector<std::uint32_t>());
  // The system gives an id to no other thread while a handle of this one is open.
  std::erase_if(opened_, [&](const auto& entry) { return !std::ranges::binary_search(ids, entry.first); });
  for (const std::uint32_t id : ids) {
    TargetThread listed{.os_id = id};
    if (const OutsideThread* opened = thread(id)) {
      listed.name = thread_description(opened->handle());
      listed.teb = opened->teb();
    }
    threads_.push_back(std::move(listed));
  }
  for (const TargetThread& listed : threads_) {
    if (process_.command_line.empty()) process_.command_line = command_line_of(cache_, listed.teb);
  }
}

OutsideThread* LiveTarget::thread(std::uint32_t id) {
  const auto known = opened_.find(id);
  if (known != opened_.end()) return &known->second;
  OutsideThread thread;
  if (!thread.open(id, process_.id)) return nullptr;
  return &opened_.emplace(id, std::move(thread)).first->second;
}

void LiveTarget::capture(const TargetThread& target_thread, RawSample& sample) {
  sample.clear();
  OutsideThread* const opened = thread(target_thread.os_id);
  if (opened == nullptr) {
    sample.fault = CaptureFault::not_suspended;
    return;
  }
  // A stack grows while its thread runs: what lies below its old limit was not asked about, so once more.
  constexpr int kAttempts = 3;
  const ProcessMemory raw(handle_.get());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    stacks_.drop();
    const StackLimits limits = stack_limits(stacks_, opened->teb());
    opened->set_limits(limits);
    const KnownStack stack(stacks_, raw, limits);
    const ModuleView no_modules;
    {
      const SuspensionGate gate;
      mixwalk::capture(*opened, 0, {no_modules, raw, stack}, sample);
    }
    const bool grew = sample.fault == CaptureFault::off_stack && sample.context.rsp() < limits.limit;
    if (!grew) return;
  }
}

}  // namespace mixwalk

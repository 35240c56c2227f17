#include "walker/target/win/live_target.h"

#include <windows.h>
#include <winternl.h>

#include <algorithm>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/win/loader_list.h"
#include "walker/base/wall_clock.h"
#include "walker/session/win/thread_list.h"
#include "walker/session/win/token.h"
#include "walker/session/win/win_error.h"
#include "walker/suspended/capture.h"
#include "walker/suspended/resuspension.h"
#include "walker/target/process_block.h"
#include "walker/target/runtime_version.h"
#include "walker/target/suspension/suspension_gate.h"
#include "walker/target/win/known_stacks.h"
#include "walker/target/win/readable_process.h"

namespace mixwalk {
namespace {

// How often the list of images is read at most if images are unloaded at that moment.
constexpr int kListReadings = 16;

}  // namespace

Outcome<std::unique_ptr<LiveTarget>> LiveTarget::open(std::uint32_t process_id, bool names) {
  Outcome<UniqueHandle> handle = open_readable(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ | SYNCHRONIZE, process_id);
  if (!handle) return handle.failure();
  const std::string name = "process " + std::to_string(process_id);
  PROCESS_BASIC_INFORMATION info{};
  if (NtQueryInformationProcess(handle->get(), ProcessBasicInformation, &info, sizeof info, nullptr) < 0) {
    return Failure{ExitCode::no_process, name + " has ended"};
  }
  std::unique_ptr<LiveTarget> target(new LiveTarget(std::move(*handle), process_id, names));
  target->peb_ = reinterpret_cast<std::uint64_t>(info.PebBaseAddress);
  target->refresh();
  if (target->threads_.empty()) return Failure{ExitCode::no_process, name + " has ended"};
  return target;
}

LiveTarget::LiveTarget(UniqueHandle handle, std::uint32_t process_id, bool names)
    : handle_(std::move(handle)),
      memory_(handle_.get()),
      stacks_(handle_.get()),
      moments_(handle_.get()),
      cache_(memory_, PageCache::kPages,
             [this](std::uint64_t address) {
               const auto [begin, end] = memory_.plain_region(address);
               return PageCache::Range{begin, end};
             }),
      names_(names) {
  process_.id = process_id;
}

void LiveTarget::refresh() {
  memory_.drop();
  cache_.drop();
  moments_.clear();
  of_moments_ = true;
  unix_time_ms_ = unix_time_ms_now();
  read_modules();
  read_threads();
}

bool LiveTarget::drop_memory() {
  memory_.drop();
  cache_.drop();
  return true;
}

bool LiveTarget::forget_memory() {
  of_moments_ = false;
  return drop_memory();
}

// Folklore: an image is unloaded after the list was read and before its headers are, and an image that replaces it is
// not in the list, so the snapshot has neither. Real case: two libraries that take turns, of which one is always
// loaded; neither was found in 25 of 60 readings under Wine 10. Remedy: read the list again, also if it is the same as
// before, since an image may come back to its base (14 of 60 readings). Test: live_target_test.
void LiveTarget::read_modules() {
  const auto again = [this] {
    memory_.drop();
    cache_.drop();
  };
  std::vector<ListedImage> images;
  bool unloaded = true;
  for (int reading = 0; reading < kListReadings && unloaded; ++reading) {
    if (reading != 0) again();
    modules_.clear();
    identities_.clear();
    images = read_loader_list(cache_, peb_, again);
    unloaded = false;
    for (const ListedImage& image : images) {
      const auto headers = ImageHeaders::read(cache_, image.base);
      unloaded |= !headers && !cache_.read_value<char>(image.base);
      if (!headers || headers->size_of_image() == 0) continue;
      modules_.push_back({image.base, headers->size_of_image(), headers->timestamp(), image.path});
      identities_[image.base] = headers->identity();
    }
  }
  // The program's image comes first in the loader's list.
  if (!images.empty()) process_.path = images.front().path;
  std::ranges::stable_sort(modules_, {}, &Module::base);
  const auto overlaps = [](const Module& lower, const Module& module) {
    return module.base - lower.base < lower.size;
  };
  modules_.erase(std::unique(modules_.begin(), modules_.end(), overlaps), modules_.end());
  backed_.set_modules(modules_);
  runtime_ = find_runtime(modules_, cache_);
}

bool LiveTarget::is_still_loaded(std::uint64_t base) {
  const auto listed = identities_.find(base);
  if (listed == identities_.end()) return false;
  const auto headers = ImageHeaders::read(memory_, base);
  return headers && headers->identity() == listed->second;
}

void LiveTarget::read_threads() {
  threads_.clear();
  const auto list = list_thread_times(process_.id).value_or(std::vector<ListedThread>());
  // The system gives an id to no other thread while a handle of this one is open.
  std::erase_if(opened_, [&](const auto& entry) {
    return !std::ranges::binary_search(list, entry.first, {}, &ListedThread::id);
  });
  for (const ListedThread& known : list) {
    TargetThread listed{.os_id = known.id, .name = {}, .created = known.created, .cpu = known.cpu};
    if (const OutsideThread* opened = thread(known.id)) {
      if (names_) listed.name = thread_description(opened->handle());
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

void LiveTarget::freeze_together(const std::function<bool(const TargetThread&)>& wanted, std::uint32_t deadline_ms) {
  for (Moments moments(threads_.size(), OutsideMoments::kMaxThreads); moments.another();) {
    std::vector<NumberedThread> waiting;
    for (const TargetThread& listed : threads_) {
      if (moments_.moment_of(listed.os_id) != 0 || (wanted && !wanted(listed))) continue;
      if (OutsideThread* const opened = thread(listed.os_id)) waiting.push_back({listed.os_id, opened});
    }
    if (waiting.empty()) return;
    moments.took(!moments_.take(waiting, deadline_ms));
    // This finds threads that have started since the last list.
    read_threads();
  }
}

void LiveTarget::add_moments(Snapshot& snapshot) const {
  snapshot.moments = moments_.moments();
  for (Thread& thread : snapshot.threads) thread.moment = moments_.moment_of(thread.os_id);
}

void LiveTarget::capture(const TargetThread& target_thread, RawSample& sample) {
  if (of_moments_ && moments_.give(target_thread.os_id, sample)) return;
  sample.clear();
  OutsideThread* const opened = thread(target_thread.os_id);
  if (opened == nullptr) {
    sample.fault = CaptureFault::not_suspended;
    return;
  }
  const ProcessMemory raw(handle_.get());
  Looks looks;
  for (auto next = Looks::Next::again; next == Looks::Next::again;) {
    stacks_.drop();
    const StackLimits limits = stack_limits(stacks_, opened->teb());
    opened->set_limits(limits);
    KnownStacks stack(raw);
    stack.add(stacks_, limits);
    const ModuleView no_modules;
    {
      const SuspensionGate gate;
      mixwalk::capture(*opened, 0, {no_modules, raw, stack}, sample);
    }
    // A stack grows while its thread runs. Pages below its old limit were not checked.
    const bool grew = sample.fault == CaptureFault::off_stack && sample.context.rsp() < limits.limit;
    next = looks.after({.two_moments = grew || sample.in_dispatch}, [](std::uint32_t) { return false; });
  }
}

}  // namespace mixwalk

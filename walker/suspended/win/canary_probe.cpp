#include "walker/suspended/win/canary_probe.h"

#include "unmanaged/win/guarded.h"
#include "unmanaged/win/own_thread.h"

namespace mixwalk {
namespace {

// Larger than the blocks of the low-fragmentation heap, because small blocks can be allocated without the heap's lock,
// even while another thread holds that lock. (Test: lock_holder_test.)
constexpr SIZE_T kBlockBytes = 128 << 10;

// Folklore: Wine 8's RtlLookupFunctionEntry walks the loader's list without its lock, so it faults if an image is freed
// meanwhile. Real case: a recording of the torture program, which does nothing but load and free images, died after
// four minutes and some 100,000 probes. Remedy: the call is guarded, like the unwinder's calls, and a fault is a failed
// probe. Proof without our DLL: fixtures/native/lookup_race.c. Test: RecordTorture, which runs CanaryProbe for 300 s.
void look_up(void* address) {
  DWORD64 base = 0;
  RtlLookupFunctionEntry(reinterpret_cast<DWORD64>(address), &base, nullptr);
}

// How long to wait for a worker that has not finished. Its own supervisor resumes the canary after 50 ms, so that the
// worker is no longer blocked; only a worker that the program has suspended takes longer.
constexpr DWORD kIdleMs = 5'000;

HRESULT STDMETHODCALLTYPE first_frame_is_enough(clr::FunctionID, UINT_PTR, clr::FrameInfo, ULONG32,
                                                BYTE*, void* supervisor) noexcept {
  static_cast<Supervisor*>(supervisor)->walk_may_go_on();
  return S_FALSE;
}

}  // namespace

bool CanaryProbe::start() noexcept {
  if (!supervisor_.start()) return false;
  stop_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  ask_ = UniqueHandle(CreateEventW(nullptr, FALSE, FALSE, nullptr));
  answered_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!stop_ || !ask_ || !answered_) return false;
  thread_ = start_own_thread(&run, this, &thread_id_);
  return thread_ && wait_until_idle();
}

void CanaryProbe::stop() noexcept {
  if (!thread_) return;
  SetEvent(stop_.get());
  WaitForSingleObject(thread_.get(), INFINITE);
  thread_.reset();
}

bool CanaryProbe::set_canary(std::uint64_t clr_thread, DWORD thread_id) noexcept {
  if (lost_) return false;  // the worker may still use the handle of the last canary
  clr_thread_ = canary_.open(thread_id) ? clr_thread : 0;
  return clr_thread_ != 0;
}

bool CanaryProbe::wait_until_idle() noexcept {
  if (lost_) return false;
  if (!thread_ || !under_way_) return true;
  // The program may have ended the worker's thread, or suspended it.
  const HANDLE either[] = {answered_.get(), thread_.get()};
  const DWORD waited = WaitForMultipleObjects(2, either, FALSE, kIdleMs);
  under_way_ = waited != WAIT_OBJECT_0;
  lost_ = waited == WAIT_TIMEOUT;
  return !lost_;
}

bool CanaryProbe::passes() noexcept {
  // If the worker is still busy with a probe that took too long, the next probe would only wait for it.
  if (clr_thread_ == 0 || !thread_ || lost_ || busy_.exchange(true)) return false;
  passed_.store(false, std::memory_order_relaxed);
  ResetEvent(answered_.get());
  under_way_ = true;
  SetEvent(ask_.get());
  if (wait_.wait(answered_.get(), kLimitNs) != WAIT_OBJECT_0) return false;
  under_way_ = false;
  return passed_.load();
}

DWORD WINAPI CanaryProbe::run(void* self) noexcept {
  static_cast<CanaryProbe*>(self)->work();
  return 0;
}

void CanaryProbe::work() noexcept {
  // A thread is frozen while its answer is awaited.
  SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_HIGHEST);
  walk_.warm_up(info4_);
  busy_.store(false);
  SetEvent(answered_.get());
  const HANDLE events[] = {stop_.get(), ask_.get()};
  while (WaitForMultipleObjects(2, events, FALSE, INFINITE) == WAIT_OBJECT_0 + 1) {
    passed_.store(try_all());
    busy_.store(false);
    SetEvent(answered_.get());
  }
}

bool CanaryProbe::try_all() noexcept {
  void* block = HeapAlloc(GetProcessHeap(), 0, kBlockBytes);
  if (block == nullptr) return false;
  HeapFree(GetProcessHeap(), 0, block);
  // An address that is in no image is looked up in all tables.
  return guarded_look_up(&look_up, &block) != LookUp::ended && try_canary();
}

bool CanaryProbe::try_canary() noexcept {
  // The program had stopped this thread for so long that the canary's claim may be over, and the canary may have ended.
  if (lost_) return false;
  const ScopedSuspension suspension(canary_);
  Registers registers;
  // Reading the registers waits until the thread has really stopped.
  if (!suspension || canary_.suspended_by_others() || !canary_.read_registers(registers) ||
      !supervisor_.begin_walk()) {
    return false;
  }
  const HRESULT result =
      !lost_ && walk_.is_attached(clr_thread_)
          ? info_.DoStackSnapshot(clr_thread_, &first_frame_is_enough, 0, &supervisor_, nullptr, 0)
          : clr::kSnapshotInvalidThread;
  const bool was_frozen = supervisor_.end_walk();
  return (result == S_OK || result == clr::kSnapshotAborted) && was_frozen;
}

}  // namespace mixwalk

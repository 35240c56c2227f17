#include "walker/profiler/event_sample.h"

#include <algorithm>
#include <cstring>

#include "unmanaged/win/context.h"
#include "walker/merge.h"
#include "walker/profiler/sample_buffers.h"

namespace mixwalk {
namespace {

// A thread's own stack: all of it is there between Rsp and the base.
class OwnStack final : public MemoryReader {
 public:
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    std::memcpy(into, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
};

HRESULT STDMETHODCALLTYPE add_frame(clr::FunctionID function, UINT_PTR ip, clr::FrameInfo,
                                    ULONG32 context_size, BYTE context[],
                                    void* client_data) noexcept {
  auto& sample = *static_cast<EventSample*>(client_data);
  if (sample.entries.size() == kMaxFrames || context_size < sizeof(CONTEXT)) {
    sample.raw.entries_cut = true;
    return S_FALSE;
  }
  try {
    sample.entries.push_back({function, ip, registers_of(*reinterpret_cast<CONTEXT*>(context))});
  } catch (const std::bad_alloc&) {
    sample.raw.entries_cut = true;
    return S_FALSE;
  }
  return S_OK;
}

// Spare room, since a copy begins where the stack's own alignment has it.
constexpr std::size_t kAlignment = 16;

}  // namespace

__attribute__((noinline)) std::unique_ptr<EventSample> walk_this_thread(
    clr::ICorProfilerInfo3* info) {
  auto sample = std::make_unique<EventSample>();
  CONTEXT context;
  RtlCaptureContext(&context);
  ULONG_PTR limit = 0, base = 0;
  GetCurrentThreadStackLimits(&limit, &base);
  if (context.Rsp < limit || context.Rsp >= base) {
    sample->raw.fault = CaptureFault::off_stack;
    return sample;
  }
  sample->stack_bytes =
      std::min<std::size_t>(base - context.Rsp, SampleBuffers::kStackBytes) + kAlignment;
  sample->stack = std::make_unique_for_overwrite<std::byte[]>(sample->stack_bytes);
  sample->raw.stack = StackCopy({sample->stack.get(), sample->stack_bytes});
  sample->raw.context = registers_of(context);
  sample->raw.stack.fill(OwnStack(), context.Rsp, base);
  if (info != nullptr) {
    const HRESULT result = info->DoStackSnapshot(0, &add_frame, clr::kSnapshotRegisterContext,
                                                 sample.get(), nullptr, 0);
    sample->raw.managed_walked = result == S_OK && !sample->raw.entries_cut;
    if (result != S_OK) sample->raw.refusal = static_cast<std::uint32_t>(result);
    sample->raw.entry_buffer = sample->entries;
    sample->raw.entry_count = sample->entries.size();
  }
  return sample;
}

}  // namespace mixwalk

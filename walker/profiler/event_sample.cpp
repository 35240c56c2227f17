#include "walker/profiler/event_sample.h"

#include <algorithm>
#include <new>

#include "symbols/win/clr_metadata_source.h"
#include "unmanaged/win/context.h"
#include "unmanaged/win/live_modules.h"
#include "unmanaged/win/plain_memory.h"
#include "unmanaged/win/rtl_unwind_step.h"
#include "walker/merge/merge.h"
#include "walker/merge/stub_callees.h"
#include "walker/profiler/clr_managed_code.h"
#include "walker/profiler/sample_buffers.h"

namespace mixwalk {
namespace {

struct Entries {
  std::vector<ManagedEntry> all;
  bool cut = false;
};

HRESULT STDMETHODCALLTYPE add_frame(clr::FunctionID function, UINT_PTR ip, clr::FrameInfo,
                                    ULONG32 context_size, BYTE context[],
                                    void* client_data) noexcept {
  auto& entries = *static_cast<Entries*>(client_data);
  if (entries.all.size() == kMaxFrames || context_size < sizeof(CONTEXT)) {
    entries.cut = true;
    return S_FALSE;
  }
  try {
    entries.all.push_back({function, ip, registers_of(*reinterpret_cast<CONTEXT*>(context))});
  } catch (const std::bad_alloc&) {
    entries.cut = true;
    return S_FALSE;
  }
  return S_OK;
}

// Extra room, since a copy begins with the stack's own alignment.
constexpr std::size_t kAlignment = 16;

// The base of the image around an address, as the system knows it now. Returns 0 if there is none.
std::uint64_t live_base(std::uint64_t address) {
  MEMORY_BASIC_INFORMATION memory;
  const bool known =
      VirtualQuery(reinterpret_cast<const void*>(address), &memory, sizeof memory) != 0;
  return known && memory.Type == MEM_IMAGE ? reinterpret_cast<std::uint64_t>(memory.AllocationBase)
                                           : 0;
}

// Notes the images while they cannot be unloaded, because this thread's stack goes through them. An image may have
// replaced another one since the images were listed, or may be new.
void note_images(EventSample& sample, const ModuleView& listed) {
  for (Frame& frame : sample.stack.frames) {
    if (frame.kind == FrameKind::gap) continue;
    std::uint64_t base = 0;
    if (frame.module != Frame::kNone) {
      base = listed.modules()[static_cast<std::size_t>(frame.module)].base;
    } else if (frame.function == 0) {
      base = live_base(CodeAddress{frame.address, frame.address_kind}.lookup());
      if (base != 0) frame.kind = FrameKind::native;
    }
    frame.module = Frame::kNone;
    if (base == 0) continue;
    auto known = std::ranges::find(sample.images, base, &EventSample::Image::base);
    if (known == sample.images.end()) {
      // An image whose headers cannot be read is in no list.
      const std::uint64_t identity = live_identity(base).value_or(0);
      if (identity == 0) continue;
      sample.images.push_back({base, identity});
      known = sample.images.end() - 1;
    }
    frame.module = static_cast<std::int32_t>(known - sample.images.begin());
  }
}

}  // namespace

void drop_own_frames(Stack& stack, const ModuleView& images) {
  const auto own = reinterpret_cast<std::uint64_t>(&drop_own_frames);
  const auto other = std::ranges::find_if(stack.frames, [&](const Frame& frame) {
    return frame.module == Frame::kNone ||
           !images.modules()[static_cast<std::size_t>(frame.module)].contains(own);
  });
  stack.frames.erase(stack.frames.begin(), other);
}

__attribute__((noinline)) std::unique_ptr<EventSample> walk_this_thread(ClrInterfaces& clr,
                                                                        bool ask_clr,
                                                                        const ModuleTable& images) {
  auto sample = std::make_unique<EventSample>();
  CONTEXT context;
  RtlCaptureContext(&context);
  ULONG_PTR limit = 0, base = 0;
  GetCurrentThreadStackLimits(&limit, &base);
  if (context.Rsp < limit || context.Rsp >= base) return sample;
  const std::size_t bytes =
      std::min<std::size_t>(base - context.Rsp, SampleBuffers::kStackBytes) + kAlignment;
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(bytes);
  Entries entries;
  RawSample raw({stack.get(), bytes}, {});
  raw.context = registers_of(context);
  raw.stack.fill(PlainMemory(), context.Rsp, base);
  if (ask_clr) {
    const HRESULT result = clr.info->DoStackSnapshot(0, &add_frame, clr::kSnapshotRegisterContext,
                                                     &entries, nullptr, 0);
    raw.managed_walked = result == S_OK && !entries.cut;
    if (result != S_OK) raw.refusal = static_cast<std::uint32_t>(result);
    raw.entry_buffer = entries.all;
    raw.entry_count = entries.all.size();
  }
  raw.stack.rewrite_pointers();
  // Each frame has its return address on the stack, so there cannot be more frames than words.
  const std::size_t most = std::min(kMaxFrames, bytes / sizeof(std::uint64_t));
  const auto scratch = std::make_unique_for_overwrite<RunFrame[]>(most);
  const ModuleView view = images.view();
  RtlUnwindStep step(raw.stack, view);
  ClrMetadataSource names(clr.info.get(), clr.info8.get());
  ClrManagedCode code(*clr.info, clr.info8.get(), names, nullptr);
  sample->stack = merge(raw, {.step = step,
                              .managed = code,
                              .modules = view,
                              .scratch = {scratch.get(), most}});
  if (code.lost()) throw std::bad_alloc();
  note_callees(sample->stack, raw.stack, step.code());
  drop_own_frames(sample->stack, view);
  for (Frame& frame : sample->stack.frames) {
    if (frame.function == 0) continue;
    // DoStackSnapshot's frames have not been looked up yet. Names of frames that are not dynamic are looked up later.
    const ManagedName* name = names.known(frame.function);
    if (name == nullptr && names.is_dynamic(frame.function)) name = &names.name(frame.function);
    if (name != nullptr) frame.name = name->text;
  }
  note_images(*sample, view);
  return sample;
}

}  // namespace mixwalk

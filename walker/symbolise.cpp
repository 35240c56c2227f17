#include "walker/symbolise.h"

namespace mixwalk {
namespace {

// Of a Frame or a RecordedFrame.
template <class NativeFrame>
void name(NativeFrame& frame, const Module& module, Symboliser& symboliser) {
  auto found = symboliser.name({module.path, module.base, module.size, module.timestamp},
                               {frame.address, frame.address_kind});
  if (!found) return;
  frame.name = std::move(found->name);
  frame.displacement = found->displacement;
}

}  // namespace

void symbolise(Snapshot& snapshot, Symboliser& symboliser) {
  for (Thread& thread : snapshot.threads) {
    for (Frame& frame : thread.stack.frames) {
      if (frame.kind != FrameKind::native || frame.module == Frame::kNone) continue;
      name(frame, snapshot.modules[static_cast<std::size_t>(frame.module)], symboliser);
    }
  }
}

void symbolise(RecordedFrame& frame, const Module& module, Symboliser& symboliser) {
  name(frame, module, symboliser);
}

}  // namespace mixwalk

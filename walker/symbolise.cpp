#include "walker/symbolise.h"

namespace mixwalk {

void symbolise(Snapshot& snapshot, Symboliser& symboliser) {
  for (Thread& thread : snapshot.threads) {
    for (Frame& frame : thread.stack.frames) {
      if (frame.kind != FrameKind::native || frame.module == Frame::kNone) continue;
      const Module& module = snapshot.modules[static_cast<std::size_t>(frame.module)];
      auto name = symboliser.name({module.path, module.base, module.size, module.timestamp},
                                  {frame.address, frame.address_kind});
      if (!name) continue;
      frame.name = std::move(name->name);
      frame.displacement = name->displacement;
    }
  }
}

}  // namespace mixwalk

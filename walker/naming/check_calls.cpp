#include "walker/naming/check_calls.h"

#include <utility>

#include "walker/naming/symbolise.h"

namespace mixwalk {
namespace {

void check_calls(Stack& stack, CallChecker& checker) {
  StackFrame* above = nullptr;  // null if there is no frame, or a gap
  for (StackFrame& frame : stack.frames) {
    if (frame.inline_depth != 0) continue;
    const bool checked = frame.kind == FrameKind::native && frame.module != Frame::kNone &&
                         frame.address_kind == AddressKind::return_address;
    if (checked) {
      CallChecker::Callee callee;
      if (above != nullptr) {
        if (above->module != Frame::kNone) callee.image = static_cast<std::size_t>(above->module);
        callee.code = {above->address, above->address_kind};
      }
      CallChecker::Answer answer = checker.check(static_cast<std::size_t>(frame.module), frame.address,
                                                 above != nullptr ? &callee : nullptr);
      frame.call = answer.check;
      if (above != nullptr && above->kind == FrameKind::native && !above->has_symbol() &&
          !answer.import.empty()) {
        above->name = std::move(answer.import) + (answer.tail_call ? " [tail call]" : "");
        above->symbol = SymbolKind::import;
        above->displacement = answer.import_displacement.value_or(0);
      }
    }
    above = frame.kind == FrameKind::gap ? nullptr : &frame;
  }
}

}  // namespace

std::vector<LoadedImage> loaded_images(const Snapshot& snapshot) {
  std::vector<LoadedImage> images;
  for (const Module& module : snapshot.modules) {
    images.push_back(loaded_image(module));
  }
  return images;
}

void check_calls(Snapshot& snapshot, CallChecker& checker) {
  for (Thread& thread : snapshot.threads) check_calls(thread.stack, checker);
}

}  // namespace mixwalk

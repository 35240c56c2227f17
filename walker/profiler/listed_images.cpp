#include "walker/profiler/listed_images.h"

#include <algorithm>
#include <utility>

#include "unmanaged/win/live_modules.h"

namespace mixwalk {
namespace {

// How long code that was in no image when it was first met counts as being in none.
constexpr ULONGLONG kUnknownCodeMs = 1000;
constexpr std::size_t kMaxUnknownCode = 4096;
// How long an image that was found loaded counts as loaded: a tick at 100 Hz.
constexpr ULONGLONG kKnownLoadedMs = 10;

// Whether the frame is in no listed image: a thunk of the runtime's, other code that was made at run time, or an image
// that was loaded since.
bool is_unknown_code(const Frame& frame) {
  return frame.kind != FrameKind::gap && frame.module == Frame::kNone && frame.function == 0;
}

}  // namespace

void ListedImages::begin() {
  // The supervisor runs, so the loader lock was free shortly before, and this may wait for it.
  if (!unloads_) unloads_ = std::make_unique<ImageUnloads>();
  read();
}

void ListedImages::read() {
  read_ms_ = GetTickCount64();
  listed_mark_ = unloads_->mark();
  auto table = std::make_shared<const ModuleTable>(read_live_modules(unloads_.get()));
  if (table_ && *table == *table_) return;
  ++generation_;
  table_ = std::move(table);
  view_ = table_->view();
  known_loaded_.images.assign(view_.modules().size(), false);
  add_numbers();
}

// Folklore: the headers alone do not show that an image was exchanged and came back. Situation: two DLLs are loaded
// alternately at one base, on a busy machine. The list has the first DLL, the thread is in the second, and the first is
// loaded again when the headers are read. Found by reading; the same wrong stacks had another cause as well
// (live_modules.cpp). Test: image_unloads_test.
bool ListedImages::still_loaded(std::span<const std::size_t> images, std::uint64_t mark) {
  return std::ranges::all_of(images, [&](std::size_t image) {
    return !unloads_->unloaded_since(view_.modules()[image].base, mark) && is_still_loaded(image);
  });
}

// Whether the image at this index of the list is still the listed one. The loader reports each image that it unloads,
// so an unload is known at once (ImageUnloads). The headers show unloads that the loader does not report: of an image
// that the program unmapped itself, or whose DllMain failed. They are read once per tick, not for each of its samples,
// so a wrong answer can only affect names of that tick. An image that was unloaded since it was listed may still be
// mapped when its headers are read, so for such an image no answer is kept.
bool ListedImages::is_still_loaded(std::size_t image) {
  const std::uint64_t base = view_.modules()[image].base;
  const std::uint64_t unloads = unloads_->mark();
  const ULONGLONG now = GetTickCount64();
  if (known_loaded_.unloads != unloads || now - known_loaded_.since_ms >= kKnownLoadedMs) {
    known_loaded_.images.assign(view_.modules().size(), false);
    known_loaded_.unloads = unloads;
    known_loaded_.since_ms = now;
  }
  if (known_loaded_.images[image]) return true;
  const auto identity = live_identity(base);
  const bool same = !identity || *identity == table_->details()[image].identity;
  known_loaded_.images[image] = same && unloads_->reports_unloads() && !unloads_->unloaded_since(base, listed_mark_);
  return same;
}

std::int32_t ListedImages::index_of(const EventSample::Image& image) const {
  const ModuleSpan* found = view_.find(image.base);
  if (found == nullptr) return Frame::kNone;
  const auto index = static_cast<std::size_t>(found - view_.modules().data());
  const bool same = found->base == image.base && table_->details()[index].identity == image.identity;
  return same ? static_cast<std::int32_t>(index) : Frame::kNone;
}

bool ListedImages::have_changed_for(const Stack& stack) {
  if (!may_have_changed_for(stack)) return false;
  read();
  return std::ranges::any_of(stack.frames, [&](const Frame& frame) {
    return is_unknown_code(frame) && view_.find(frame.address) != nullptr;
  });
}

// Whether the images should be listed anew, because code on the stack may belong to a new one. Listing them takes
// longer than all the rest of a sample, and thunks of the runtime stay unknown. So an unknown address triggers a
// listing when it is first met, and again after kUnknownCodeMs.
bool ListedImages::may_have_changed_for(const Stack& stack) {
  bool any = false, fresh = false;
  if (unknown_code_.size() > kMaxUnknownCode) unknown_code_.clear();
  for (const Frame& frame : stack.frames) {
    if (!is_unknown_code(frame)) continue;
    any = true;
    fresh = unknown_code_.insert(frame.address).second || fresh;
  }
  return fresh || (any && GetTickCount64() - read_ms_ >= kUnknownCodeMs);
}

void ListedImages::forget_numbers() {
  ++generation_;
  numbered_.clear();
  numbers_.clear();
  add_numbers();
}

// An image keeps the number that it got when it was first listed.
void ListedImages::add_numbers() {
  numbers_of_view_.clear();
  const auto spans = view_.modules();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const ModuleDetails& details = table_->details()[i];
    const auto [at, added] =
        numbers_.try_emplace({spans[i].base, spans[i].size, details.timestamp, details.path},
                             static_cast<std::int32_t>(numbered_.size()));
    if (added) numbered_.push_back(at->first);
    numbers_of_view_.push_back(at->second);
  }
}

}  // namespace mixwalk

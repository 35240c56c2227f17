#pragma once

#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "unmanaged/image/module_table.h"
#include "unmanaged/win/image_unloads.h"
#include "walker/model/snapshot.h"
#include "walker/profiler/event_sample.h"

namespace mixwalk {

// The images of this process as the sampler last listed them, whether they are still loaded, and their numbers in a
// dump or a recording. Runs on the sampler's thread. Not frozen-safe; may throw std::bad_alloc.
class ListedImages {
 public:
  // Lists the images. To be called before the first use, and again for each visit.
  void begin();

  // Lists the images anew.
  void read();
  const ModuleView& view() const noexcept { return view_; }
  // Never null after begin().
  std::shared_ptr<const ModuleTable> table() const noexcept { return table_; }
  // Must not be called before begin().
  const ImageUnloads& unloads() const noexcept { return *unloads_; }
  // A number that grows whenever an index in the list, or a number of an image, gets another meaning.
  std::uint64_t generation() const noexcept { return generation_; }

  // Whether the images at these indices are still the listed ones, and none of them was unloaded since `mark` of
  // unloads(). An image whose headers may not be read counts as still loaded.
  bool still_loaded(std::span<const std::size_t> images, std::uint64_t mark);
  // The index of an image that a thread met in a callback, or Frame::kNone if it is not listed.
  std::int32_t index_of(const EventSample::Image& image) const;
  // Whether code of the stack is in an image that was loaded since the images were listed. If so, this has listed them
  // again.
  bool have_changed_for(const Stack& stack);

  // Every image met since forget_numbers(); an image's number is its index here.
  std::span<const Module> numbered() const noexcept { return numbered_; }
  std::int32_t number(std::size_t image) const { return numbers_of_view_[image]; }
  void forget_numbers();

 private:
  struct ModuleOrder {
    bool operator()(const Module& left, const Module& right) const noexcept {
      return std::tie(left.base, left.size, left.timestamp, left.path) <
             std::tie(right.base, right.size, right.timestamp, right.path);
    }
  };

  bool is_still_loaded(std::size_t image);
  bool may_have_changed_for(const Stack& stack);
  void add_numbers();

  std::unique_ptr<ImageUnloads> unloads_;
  std::shared_ptr<const ModuleTable> table_;
  ModuleView view_;
  std::uint64_t generation_ = 0;
  std::uint64_t listed_mark_ = 0;  // ImageUnloads::mark() before the images were listed
  ULONGLONG read_ms_ = 0;
  struct {
    std::vector<bool> images;   // the images in view_ that were found still loaded
    std::uint64_t unloads = 0;  // ImageUnloads::mark() when they were found
    ULONGLONG since_ms = 0;
  } known_loaded_;
  std::unordered_set<std::uint64_t> unknown_code_;  // addresses that were in no image
  std::vector<std::int32_t> numbers_of_view_;       // for each image in view_: its index in numbered_
  std::vector<Module> numbered_;
  std::map<Module, std::int32_t, ModuleOrder> numbers_;  // the index of each module in numbered_
};

}  // namespace mixwalk

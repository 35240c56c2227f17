#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbols/win/clr_il_source.h"
#include "symbols/win/clr_metadata_source.h"
#include "symbols/win/clr_stub_targets.h"
#include "walker/model/stack.h"
#include "walker/profiler/clr_interfaces.h"
#include "walker/profiler/clr_managed_code.h"
#include "walker/profiler/listed_images.h"
#include "walker/profiler/unload_gate.h"

namespace mixwalk {

// The code and the images on which the frames and the names of a stack depend.
struct StackDependencies {
  UnloadGate::Mark mark;         // nothing of the stack had been unloaded up to this mark
  std::uint64_t image_mark = 0;  // a mark of the unloaded images, from before the freeze
  Footprint managed;
  std::vector<std::size_t> images;  // indices into the list of images, each once
};

// Gives the frames of this process their names, their places in IL and the numbers of their modules, and says whether
// this still holds after code was unloaded. Runs on the agent's thread, and only while no thread is frozen: it asks the
// CLR, and allocates.
class StackNames {
 public:
  StackNames(ClrInterfaces& clr, UnloadGate& gate, ListedImages& images);

  // Forgets the names of what was unloaded since the last call. Returns false if nothing was unloaded.
  bool read_unloads();
  // Everything that was unloaded up to this mark is forgotten.
  const UnloadGate::Mark& mark() const noexcept { return mark_; }
  // Looks up every name anew, and numbers the assemblies anew. Otherwise everything that was ever met would stay in
  // memory.
  void forget();

  // Begins a stack whose addresses are of the time of these marks. Afterwards code() answers merge()'s questions.
  void begin(const UnloadGate::Mark& mark, std::uint64_t image_mark);
  // Begins the next of several stacks of the same time.
  void begin_stack() noexcept;
  ManagedCode& code() noexcept { return code_; }
  // Names the stack. Returns false if code was unloaded meanwhile.
  bool finish(Stack& stack);

  // Of the stack that was named last.
  StackDependencies& dependencies() noexcept { return dependencies_; }
  // Whether a stack with these dependencies still means the same; `now` is the gate's mark.
  bool still_hold(const StackDependencies& dependencies, const UnloadGate::Mark& now);

  // Every assembly met since forget(); its number is its index here.
  std::span<const Assembly> assemblies() const noexcept { return il_.assemblies(); }

 private:
  bool name(Frame& frame);
  void find_target(Stack& stack, std::size_t place);
  bool place_in_il(Frame& frame);

  ClrInterfaces& clr_;
  UnloadGate& gate_;
  ListedImages& images_;
  ClrMetadataSource names_;
  ClrIlSource il_;
  ClrStubTargets targets_;
  ClrManagedCode code_;
  UnloadGate::Mark mark_;
  std::vector<UnloadGate::Unload> unloads_;
  StackDependencies dependencies_;
};

}  // namespace mixwalk

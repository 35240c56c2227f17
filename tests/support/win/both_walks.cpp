// The calls of mixwalk.dll's other files to merge() and Sampler::sample() come here, by the linker's --wrap. A sample
// whose code was unloaded meanwhile is dropped by Sampler::sample(), and is not compared.

#include "tests/support/win/both_walks.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/win/wine_dispatcher.h"
#include "unmanaged/hex.h"
#include "walker/merge/merge.h"
#include "walker/profiler/sampler.h"

namespace mixwalk {
namespace {

// The FunctionIDs of the managed frames, leaf first.
using Functions = std::vector<std::uint64_t>;

Functions functions_of(const Stack& stack) {
  Functions functions;
  for (const Frame& frame : stack.frames) {
    if (frame.kind == FrameKind::managed) functions.push_back(frame.function);
  }
  return functions;
}

bool within(const Functions& part, const Functions& whole) {
  std::size_t next = 0;
  for (const std::uint64_t function : whole) {
    if (next < part.size() && part[next] == function) ++next;
  }
  return next == part.size();
}

BothWalks::Kind kind_of(const Stack& runtime, const Stack& copy) {
  if (!runtime.whole()) return BothWalks::runtime_not_whole;
  if (!copy.whole()) return BothWalks::copy_not_whole;
  const Functions a = functions_of(runtime), b = functions_of(copy);
  if (within(a, b)) return BothWalks::copy_has_more;
  if (within(b, a)) return BothWalks::runtime_has_more;
  return BothWalks::other_frames;
}

// Returns false for a stack that no walk can show whole: the leaf's code has no unwind data, as the routine of the kind
// moves-rsp (fixtures/hunt/native/endless.cpp).
bool can_be_whole(const Stack& stack) {
  const auto& frames = stack.frames;
  if (frames.empty()) return true;
  const std::uint64_t leaf = frames[0].address;
  if (in_wine_dispatcher(leaf)) return false;
  if (frames.size() < 2 || frames[1].kind != FrameKind::gap) return true;
  const auto ntdll = reinterpret_cast<std::uint64_t>(GetModuleHandleW(L"ntdll.dll"));
  DWORD64 image = 0;
  return !clears_new_stack(leaf - ntdll) && RtlLookupFunctionEntry(leaf, &image, nullptr) != nullptr;
}

// The frames of a walk as text; a stack has names only later.
std::string words_of(const char* which, const Stack& stack) {
  std::string text = std::string(which) + ":\n";
  for (const Frame& frame : stack.frames) {
    text += "  kind " + std::to_string(static_cast<int>(frame.kind)) + "  " + hex(frame.address) + "  function " +
            hex(frame.function) + "\n";
  }
  return text;
}

void compare(BothWalks& found, const Stack& runtime, const Stack& copy) {
  if (!can_be_whole(runtime) || !can_be_whole(copy)) {
    ++found.left_out;
    return;
  }
  ++found.compared;
  if (functions_of(runtime) == functions_of(copy)) return;
  ++(runtime.whole() && copy.whole() ? found.different : found.gaps_of_one);
  ++found.kinds[kind_of(runtime, copy)];
  if (found.different + found.gaps_of_one > 3) return;
  const std::string text = words_of("by the runtime", runtime) + words_of("by the copy", copy);
  std::strncat(found.examples, text.c_str(), sizeof found.examples - 1 - std::strlen(found.examples));
}

// What the runtime's walk and the copy's walk of the last sample gave.
std::optional<std::pair<Stack, Stack>> g_last;

}  // namespace

Stack real_merge(const RawSample&, const MergeView&)
    __asm__("__real__ZN7mixwalk5mergeERKNS_9RawSampleERKNS_9MergeViewE");
Stack wrapped_merge(const RawSample&, const MergeView&)
    __asm__("__wrap__ZN7mixwalk5mergeERKNS_9RawSampleERKNS_9MergeViewE");

Stack wrapped_merge(const RawSample& sample, const MergeView& view) {
  Stack stack = real_merge(sample, view);
  g_last.reset();
  if (!sample.managed_walked) return stack;
  bool& walked = const_cast<RawSample&>(sample).managed_walked;
  walked = false;
  g_last.emplace(stack, real_merge(sample, view));
  walked = true;
  return stack;
}

using Sample = std::optional<Sampler::Sample>;
Sample real_sample(Sampler&, WindowsThread&, std::uint32_t, const DumpRequest&, Sampler::Last*) __asm__(
    "__real__ZN7mixwalk7Sampler6sampleERNS_13WindowsThreadEjRKNS_11DumpRequestEPNS0_4LastE");
Sample wrapped_sample(Sampler&, WindowsThread&, std::uint32_t, const DumpRequest&, Sampler::Last*) __asm__(
    "__wrap__ZN7mixwalk7Sampler6sampleERNS_13WindowsThreadEjRKNS_11DumpRequestEPNS0_4LastE");

Sample wrapped_sample(Sampler& sampler, WindowsThread& thread, std::uint32_t os_id, const DumpRequest& request,
                      Sampler::Last* last) {
  static const BothWalksPage page(GetCurrentProcessId());
  g_last.reset();
  Sample sample = real_sample(sampler, thread, os_id, request, last);
  if (!sample || page.get() == nullptr || !g_last) return sample;
  const auto& [runtime, copy] = *g_last;
  // The sample may be that of an earlier look.
  if (functions_of(runtime) == functions_of(sample->thread.stack)) compare(*page.get(), runtime, copy);
  return sample;
}

}  // namespace mixwalk

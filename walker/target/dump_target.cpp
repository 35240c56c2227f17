#include "walker/target/dump_target.h"

#include <algorithm>
#include <utility>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/debug_directory.h"
#include "walker/target/process_block.h"
#include "walker/target/runtime_version.h"

namespace mixwalk {

DumpTarget::DumpTarget(const Minidump& dump, DiskImages& disk)
    : dump_(dump), disk_(disk), dumped_(dump), memory_(dumped_, {}, disk), outside_(dump) {
  list_modules();
  memory_.set_modules(modules_);
  list_threads();
  process_.id = dump.process_id();
  for (const MinidumpThread& thread : dump.threads()) {
    if (process_.command_line.empty()) process_.command_line = command_line_of(dumped_, thread.teb);
  }
  runtime_ = find_runtime(modules_, memory_);
}

void DumpTarget::list_modules() {
  for (const MinidumpModule& module : dump_.modules()) {
    // The dump lists the program itself first.
    if (process_.path.empty()) process_.path = module.path;
    images_.push_back({{module.base, module.size, module.timestamp, module.path}, module.pdb});
  }
  std::stable_sort(images_.begin(), images_.end(), [](const auto& left, const auto& right) {
    return left.module.base < right.module.base;
  });
  std::vector<TargetImages::Image> disjoint;
  for (TargetImages::Image& image : images_) {
    if (image.module.size == 0) continue;
    if (!disjoint.empty() && image.module.base - disjoint.back().module.base < disjoint.back().module.size) continue;
    disjoint.push_back(std::move(image));
  }
  images_ = std::move(disjoint);
  for (const TargetImages::Image& image : images_) modules_.push_back(image.module);
}

void DumpTarget::list_threads() {
  for (const MinidumpThread& thread : dump_.threads()) {
    TargetThread listed{.os_id = thread.id, .name = thread.name, .teb = thread.teb, .created = thread.create_time};
    // A dump that says when a thread began also has its processor times.
    constexpr std::uint64_t kMax = std::uint64_t{1} << 56;  // 228 years
    const bool known = thread.create_time != 0 && thread.kernel_time < kMax && thread.user_time < kMax;
    if (known) listed.cpu = thread.kernel_time + thread.user_time;
    threads_.push_back(std::move(listed));
  }
}

StackLimits DumpTarget::stack_limits(const MinidumpThread& thread, std::uint64_t rsp) const {
  const StackLimits limits = mixwalk::stack_limits(dumped_, thread.teb);
  if (limits.contains(rsp)) return limits;
  return {thread.stack_begin, thread.stack_begin + thread.stack_bytes};
}

void DumpTarget::capture(const TargetThread& of, RawSample& sample) {
  sample.clear();
  const auto threads = dump_.threads();
  const auto thread = std::find_if(threads.begin(), threads.end(), [&](const MinidumpThread& candidate) {
    return candidate.id == of.os_id && candidate.teb == of.teb;
  });
  if (thread == threads.end() || !thread->registers) {
    sample.fault = CaptureFault::not_suspended;
    return;
  }
  sample.context = *thread->registers;
  const std::uint64_t rsp = sample.context.rsp();
  const StackLimits limits = stack_limits(*thread, rsp);
  if (!limits.contains(rsp)) {
    sample.fault = CaptureFault::off_stack;
    return;
  }
  sample.stack.fill(dumped_, rsp, limits.base);
}

}  // namespace mixwalk

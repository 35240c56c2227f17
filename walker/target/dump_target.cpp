#include "walker/target/dump_target.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/debug_directory.h"
#include "unmanaged/image/exports_name.h"
#include "unmanaged/image/image_headers.h"
#include "unmanaged/step/table_unwind_step.h"
#include "unmanaged/user_address.h"
#include "walker/model/crash_words.h"
#include "walker/target/cpp_exception.h"
#include "walker/target/first_fault.h"
#include "walker/target/process_block.h"
#include "walker/target/runtime_version.h"
#include "walker/target/target_modules.h"

namespace mixwalk {
namespace {

// The memory of a dump, with zeros where the dump has none. A dump may have a stack in pieces.
class ZeroFilled final : public MemoryReader {
 public:
  ZeroFilled(const DumpMemory& memory, std::span<const MinidumpRange> ranges) noexcept
      : memory_(memory), ranges_(ranges) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    std::memset(into, 0, bytes);
    for (const MinidumpRange& range : ranges_) {
      const std::uint64_t skipped = range.begin > address ? range.begin - address : 0;
      const std::uint64_t inside = address > range.begin ? address - range.begin : 0;
      if (skipped >= bytes || inside >= range.bytes) continue;
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(range.bytes - inside, bytes - skipped));
      memory_.read_up_to(address + skipped, static_cast<std::byte*>(into) + skipped, piece);
    }
    return true;
  }

 private:
  const DumpMemory& memory_;
  std::span<const MinidumpRange> ranges_;
};

// The Rsps of a thread's frames, as far as the unwind data of images leads.
std::vector<std::uint64_t> rsps_of_frames(const Registers& registers, UnwindStep& step) {
  constexpr std::size_t kMaxFrames = 10'000;
  // Steps in a dump that somebody has forged may take as long as they like.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  std::vector<std::uint64_t> rsps;
  Cursor frame{.registers = registers};
  do {
    rsps.push_back(frame.registers.rsp());
  } while (rsps.size() < kMaxFrames && std::chrono::steady_clock::now() < end &&
           step.step(frame, leaf_rule(frame.kind)).fault == StepFault::none);
  return rsps;
}

}  // namespace

DumpTarget::DumpTarget(const Minidump& dump, DiskImages& disk)
    : dump_(dump), disk_(disk), dumped_(dump), memory_(pages_, {}, disk), outside_(dump) {
  list_modules();
  memory_.set_modules(modules_);
  find_crash();
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
  // Images never overlap, but a damaged list may say so. Of two that do, the one whose headers are in the dump's memory
  // is right; if that does not decide, the one with the lower base counts.
  std::stable_sort(images_.begin(), images_.end(), [](const auto& left, const auto& right) {
    return left.module.base < right.module.base;
  });
  std::vector<TargetImages::Image> disjoint;
  for (TargetImages::Image& image : images_) {
    if (image.module.size == 0) continue;
    const Module* const before = disjoint.empty() ? nullptr : &disjoint.back().module;
    const bool overlaps = before != nullptr && image.module.base - before->base < before->size;
    if (!overlaps) {
      disjoint.push_back(std::move(image));
    } else if (is_in_memory(image.module) && !is_in_memory(*before)) {
      overlapping_.push_back(std::exchange(disjoint.back(), std::move(image)).module.path);
    } else {
      overlapping_.push_back(image.module.path);
    }
  }
  images_ = std::move(disjoint);
  for (const TargetImages::Image& image : images_) modules_.push_back(image.module);
}

bool DumpTarget::is_in_memory(const Module& module) const {
  const auto headers = ImageHeaders::read(dumped_, module.base);
  return headers && headers->size_of_image() == module.size && headers->timestamp() == module.timestamp;
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
  const auto& exception = dump_.exception();
  const bool unlisted = exception && exception->registers && exception->thread != 0 &&
                        std::ranges::find(threads_, exception->thread, &TargetThread::os_id) == threads_.end();
  if (unlisted) threads_.push_back({.os_id = exception->thread, .name = {}});
}

// Whether the exception only says where a debugger has stopped the program.
bool DumpTarget::is_stop(const MinidumpException& exception) const {
  namespace codes = exception_code;
  constexpr std::uint32_t kInformation = 0x4000'0000, kSeverity = 0xF000'0000;  // of an NTSTATUS: DBG_CONTROL_C, …
  const std::uint32_t code = exception.code;
  if (code == 0 || code == codes::kSingleStep || code == codes::kWakeDebugger) return true;
  if ((code & kSeverity) == kInformation) return true;
  // Folklore: a debugger that attaches, or that a person tells to stop, lets a thread of its own run onto the
  // breakpoint of ntdll!DbgBreakPoint. The breakpoints of programs are in the programs themselves, or in
  // kernelbase!DebugBreak.
  return code == codes::kBreakpoint && std::ranges::any_of(modules_, [&](const Module& module) {
           return exception.address - module.base < module.size && ascii_lower(module_name(module)) == "ntdll.dll";
         });
}

void DumpTarget::find_first_fault() {
  if (!is_fault(raised_->code)) return;
  std::uint64_t raise = 0;
  for (const Module& module : modules_) {
    // Only of the image that is asked for: the dump may lack its exports, and reading them may load a file.
    if (raised_->address - module.base >= module.size) continue;
    if (ascii_lower(module_name(module)) != "kernelbase.dll") continue;
    if (const auto rva = export_rva(memory_, module.base, "RaiseException")) raise = module.base + *rva;
  }
  if (!is_raised_anew(*raised_, raise)) return;
  const auto threads = dump_.threads();
  const auto listed = std::ranges::find(threads, raised_->thread, &MinidumpThread::id);
  const std::uint64_t rsp = raised_->registers->rsp();
  const StackLimits limits = stack_limits(listed != threads.end() ? &*listed : nullptr, rsp);
  if (!limits.contains(rsp)) return;
  constexpr std::uint64_t kMostBytes = 12 << 20;  // more than a stack has, unless a program asks for it
  const std::uint64_t bytes = std::min(limits.base - rsp, kMostBytes);
  std::vector<std::byte> buffer(bytes + 16);  // the copy keeps the alignment of the stack
  StackCopy stack(buffer);
  stack.fill(ZeroFilled(dumped_, dump_.memory()), rsp, rsp + bytes);
  const ModuleTable table = target_modules(*this);
  const ModuleView view = table.view();
  TableUnwindStep step(view, memory_, stack, outside_);
  if (auto fault = first_fault(*raised_, stack, rsps_of_frames(*raised_->registers, step))) raised_ = std::move(fault);
}

void DumpTarget::find_crash() {
  if (!dump_.exception() || is_stop(*dump_.exception())) return;
  raised_ = dump_.exception();
  find_first_fault();
  const MinidumpException& exception = *raised_;
  crash_ = Crash{.thread = exception.thread, .code = exception.code, .address = exception.address, .objects = {}};
  switch (exception.code) {
    case exception_code::kAccessViolation:
    case exception_code::kGuardPage:
    case exception_code::kInPageError:
      if (exception.parameter_count < 2) break;
      // EXCEPTION_RECORD: 0 for a read, 1 for a write, 8 for an execution that was prevented.
      crash_->access = exception.parameters[0] == 0   ? CrashAccess::read
                       : exception.parameters[0] == 1 ? CrashAccess::write
                       : exception.parameters[0] == 8 ? CrashAccess::execute
                                                      : CrashAccess::none;
      crash_->touched = crash_->access == CrashAccess::none ? 0 : exception.parameters[1];
      // A jump to an address without code is a read for a processor that cannot prevent execution.
      if (crash_->access == CrashAccess::read && crash_->touched == exception.address) {
        crash_->access = CrashAccess::execute;
      }
      if (exception.code == exception_code::kInPageError) {
        crash_->detail = static_cast<std::uint32_t>(exception.parameters[2]);
      }
      break;
    case exception_code::kFailFast:
    case exception_code::kManaged: crash_->detail = static_cast<std::uint32_t>(exception.parameters[0]); break;
    default: break;
  }
  if (auto object = cpp_exception(memory_, exception)) crash_->objects.push_back(std::move(*object));
}

std::optional<Target::UnloadedImage> DumpTarget::unloaded_at(std::uint64_t address) const {
  const auto unloaded = dump_.unloaded();
  const auto found = std::ranges::find_if(
      unloaded, [address](const MinidumpUnloaded& image) { return address - image.base < image.size; });
  if (found == unloaded.end() || found->path.empty()) return std::nullopt;
  return UnloadedImage{found->path, found->base};
}

// `thread`: null if only the exception names the thread.
StackLimits DumpTarget::stack_limits(const MinidumpThread* thread, std::uint64_t rsp) const {
  // (A hostile dump may have a stack at the last addresses, where a search that counts upwards never ends.)
  if (rsp >= kUserEnd) return {};
  const auto is_stack = [&](const StackLimits& limits) { return limits.contains(rsp) && limits.base <= kUserEnd; };
  if (thread != nullptr) {
    const StackLimits limits = mixwalk::stack_limits(dumped_, thread->teb);
    if (is_stack(limits)) return limits;
    const StackLimits listed{thread->stack_begin, thread->stack_begin + thread->stack_bytes};
    if (is_stack(listed)) return listed;
  }
  constexpr std::uint64_t kMostBytes = 64 << 20;
  constexpr int kMostPieces = 1000;
  std::uint64_t end = rsp;
  for (int piece = 0; piece < kMostPieces && end - rsp < kMostBytes; ++piece) {
    const std::size_t bytes = dumped_.bytes_at(end).size();
    if (bytes == 0 || end + bytes < end) break;
    end += bytes;
  }
  return {rsp, end};
}

void DumpTarget::capture(const TargetThread& of, RawSample& sample) {
  sample.clear();
  const auto threads = dump_.threads();
  const auto thread = std::find_if(threads.begin(), threads.end(), [&](const MinidumpThread& candidate) {
    return candidate.id == of.os_id && candidate.teb == of.teb;
  });
  const MinidumpThread* const listed = thread == threads.end() ? nullptr : &*thread;
  std::optional<Registers> registers = listed != nullptr ? listed->registers : std::nullopt;
  // A dump with the place of a debugger's stop has the same registers for the thread.
  const auto& exception = crash_ ? raised_ : dump_.exception();
  const bool raised = exception && exception->registers && exception->thread == of.os_id;
  if (raised && (crash_ || listed == nullptr)) registers = exception->registers;
  if (!registers) {
    sample.fault = CaptureFault::not_suspended;
    return;
  }
  sample.context = *registers;
  const std::uint64_t rsp = sample.context.rsp();
  const StackLimits limits = stack_limits(listed, rsp);
  if (!limits.contains(rsp)) {
    sample.fault = CaptureFault::off_stack;
    return;
  }
  sample.stack.fill(dumped_, rsp, limits.base);
}

}  // namespace mixwalk

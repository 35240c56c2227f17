#include "walker/clr/contracts/explicit_frames.h"

#include <optional>
#include <string_view>
#include <utility>

#include "unmanaged/step/interrupted_context.h"
#include "walker/clr/contracts/runtime_threads.h"

namespace mixwalk {
namespace {

// Far more than a thread is in: each Frame belongs to a managed frame that has called native code.
constexpr int kMaxFrames = 20'000;

// How a Frame says who made the call.
enum class Shape : std::uint8_t {
  inlined,      // InlinedCallFrame: a P/Invoke, by a stub or in the method itself
  transition,   // FramedMethodFrame: the runtime's own code was called, as to compile a method
  thrown,       // SoftwareExceptionFrame: an exception was thrown
  faulted,      // FaultingExceptionFrame: the code itself has caused an exception
  interrupted,  // ResumableFrame: the runtime made the thread stop
};

constexpr std::pair<std::string_view, Shape> kShapes[] = {
    {"InlinedCallFrameIdentifier", Shape::inlined},
    {"ResumableFrameIdentifier", Shape::interrupted},
    {"RedirectedThreadFrameIdentifier", Shape::interrupted},
    {"FaultingExceptionFrameIdentifier", Shape::faulted},
    {"SoftwareExceptionFrameIdentifier", Shape::thrown},
    {"CLRToCOMMethodFrameIdentifier", Shape::transition},
    {"PInvokeCalliFrameIdentifier", Shape::transition},
    {"PrestubMethodFrameIdentifier", Shape::transition},
    {"CallCountingHelperFrameIdentifier", Shape::transition},
    {"StubDispatchFrameIdentifier", Shape::transition},
    {"ExternalMethodFrameIdentifier", Shape::transition},
    {"DynamicHelperFrameIdentifier", Shape::transition},
};

constexpr std::pair<std::string_view, Register> kSaved[] = {
    {"Rdi", Register::rdi}, {"Rsi", Register::rsi}, {"Rbx", Register::rbx}, {"Rbp", Register::rbp},
    {"R12", Register::r12}, {"R13", Register::r13}, {"R14", Register::r14}, {"R15", Register::r15},
};

// Reads the Frames on one stack.
class Frames {
 public:
  Frames(const RuntimeReader& reader, const StackCopy& stack) : descriptor_(reader.descriptor()), stack_(stack) {}

  std::optional<std::uint64_t> field(std::uint64_t object, std::string_view type, std::string_view name) const {
    const auto offset = descriptor_.offset(type, name);
    return offset ? stack_.word(object + *offset) : std::nullopt;
  }

  // Returns nothing if the Frame is of no known kind, or makes no call at the moment.
  std::optional<RuntimeCall> call_of(std::uint64_t frame) const {
    if (!descriptor_.global("InlinedCallFrameIdentifier")) {
      auto call = inlined_call(frame);
      return call ? call : transition(frame);
    }
    const auto kind = stack_.word(frame);
    for (const auto& [identifier, shape] : kShapes) {
      const auto known = descriptor_.global(identifier);
      if (kind && known && *known == *kind) return call_of(frame, shape);
    }
    return std::nullopt;
  }

 private:
  std::optional<RuntimeCall> call_of(std::uint64_t frame, Shape shape) const {
    switch (shape) {
      case Shape::inlined: return inlined_call(frame);
      case Shape::transition: return transition(frame);
      case Shape::thrown: return by_context(context_in(frame, "SoftwareExceptionFrame"), AddressKind::return_address);
      case Shape::faulted:
        return by_context(context_in(frame, "FaultingExceptionFrame"), AddressKind::instruction_pointer);
      case Shape::interrupted:
        return by_context(field(frame, "ResumableFrame", "TargetContextPtr"), AddressKind::instruction_pointer);
    }
    return std::nullopt;
  }

  // The method's Rsp is the one from before a stackalloc, so it may be above the frame's own. The address is 0 while no
  // call is made.
  std::optional<RuntimeCall> inlined_call(std::uint64_t frame) const {
    const auto rip = field(frame, "InlinedCallFrame", "CallerReturnAddress");
    const auto rsp = field(frame, "InlinedCallFrame", "CallSiteSP");
    const auto rbp = field(frame, "InlinedCallFrame", "CalleeSavedFP");
    if (!rip || !rsp || !rbp || *rip == 0 || *rsp < stack_.begin() || *rsp >= frame) return std::nullopt;
    RuntimeCall call;
    call.callee = field(frame, "InlinedCallFrame", "Datum").value_or(0);
    call.caller.kind = AddressKind::return_address;
    call.caller.registers.rip = *rip;
    call.caller.registers[Register::rsp] = *rsp;
    call.caller.registers[Register::rbp] = *rbp;
    return call;
  }

  // The registers that were saved lie before the return address of the call, and the caller's frame is behind it.
  std::optional<RuntimeCall> transition(std::uint64_t frame) const {
    const auto block = field(frame, "FramedMethodFrame", "TransitionBlockPtr");
    const auto bytes = descriptor_.size("TransitionBlock");
    const auto saved = descriptor_.offset("TransitionBlock", "CalleeSavedRegisters");
    if (!block || !bytes || !saved || *block <= frame || *block >= stack_.end()) return std::nullopt;
    const auto rip = field(*block, "TransitionBlock", "ReturnAddress");
    if (!rip) return std::nullopt;
    RuntimeCall call;
    call.caller.kind = AddressKind::return_address;
    call.caller.registers.rip = *rip;
    call.caller.registers[Register::rsp] = *block + *bytes;
    for (const auto& [name, number] : kSaved) {
      call.caller.registers[number] = field(*block + *saved, "CalleeSavedRegisters", name).value_or(0);
    }
    return call;
  }

  std::optional<std::uint64_t> context_in(std::uint64_t frame, std::string_view type) const {
    const auto offset = descriptor_.offset(type, "TargetContext");
    return offset ? std::optional(frame + *offset) : std::nullopt;
  }

  std::optional<RuntimeCall> by_context(std::optional<std::uint64_t> context, AddressKind kind) const {
    const auto registers = context ? interrupted_context(stack_, *context) : std::nullopt;
    if (!registers || registers->rsp() <= *context) return std::nullopt;
    RuntimeCall call;
    call.caller = {.registers = *registers, .kind = kind};
    return call;
  }

  const ContractDescriptor& descriptor_;
  const StackCopy& stack_;
};

}  // namespace

std::vector<RuntimeCall> explicit_frames(const RuntimeReader& reader, std::uint64_t newest, const StackCopy& stack,
                                         const FunctionAt& function_at) {
  const Frames frames(reader, stack);
  std::vector<RuntimeCall> calls;
  std::uint64_t last = stack.begin();
  for (int i = 0; i < kMaxFrames && newest >= last && newest < stack.end(); ++i) {
    if (auto call = frames.call_of(newest)) {
      call->function = function_at(call->caller.code().lookup());
      const bool grows = calls.empty() || call->caller.registers.rsp() > calls.back().caller.registers.rsp();
      if (call->function != 0 && grows) calls.push_back(*call);
    }
    last = newest + sizeof(std::uint64_t);
    newest = frames.field(newest, "Frame", "Next").value_or(0);
  }
  return calls;
}

std::optional<std::uint64_t> NewestFrames::of(const RuntimeReader& reader, std::uint32_t os_id) {
  if (!frames_) read(reader);
  const auto newest = frames_->find(os_id);
  return newest != frames_->end() ? std::optional(newest->second) : std::nullopt;
}

void NewestFrames::note(const RuntimeReader& reader) {
  read(reader);
  noted_ = true;
}

void NewestFrames::target_ran() {
  if (!noted_) frames_.reset();
}

void NewestFrames::read(const RuntimeReader& reader) {
  frames_.emplace();
  for (const ClrThread& thread : runtime_threads(reader)) {
    const auto newest = reader.field(thread.address, "Thread", "Frame");
    if (thread.os_id != 0 && newest) frames_->emplace(thread.os_id, *newest);
  }
}

}  // namespace mixwalk

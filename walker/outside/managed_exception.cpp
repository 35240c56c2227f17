#include "walker/outside/managed_exception.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "unmanaged/image/utf16.h"
#include "walker/clr/heap_walk.h"
#include "walker/model/crash_words.h"

namespace mixwalk {
namespace {

// Offsets in objects of .NET 8 to 10. The runtime itself relies on this order of System.Exception's fields (object.h of
// the runtime, ExceptionObject). So what the fields lead to is checked by its type.
constexpr std::uint64_t kMessage = 0x10, kInner = 0x20, kStackTrace = 0x30;
// The place of _HResult, by which nothing can be checked. .NET 8 has a further field (_dynamicMethods). Nothing for a
// version whose place is not known: the exception then has no HRESULT.
std::optional<std::uint64_t> hresult_offset(const Runtime& runtime) {
  if (runtime.major == 8) return 0x74;
  if (runtime.major == 9 || runtime.major == 10) return 0x6C;
  return std::nullopt;
}
constexpr std::uint64_t kTextLength = 8, kTextUnits = 12;        // of a System.String
constexpr std::uint64_t kArrayLength = 8, kArrayElements = 0x10;  // of an array
// _stackTrace is an array of bytes: a header with the number of elements, and the elements (StackTraceElement: the
// address, Rsp, the MethodDesc, flags). If methods of it may be unloaded, it is an array of objects that begins with
// that array of bytes.
constexpr std::uint64_t kTraceHeader = 16, kTraceElement = 32, kRspOfElement = 8, kMethodOfElement = 16;
constexpr std::string_view kText = "System.String";

constexpr std::uint32_t kMaxMessage = 1024;  // UTF-16 units
constexpr std::uint32_t kMaxElements = 100'000;
constexpr std::uint64_t kMaxArguments = 64 << 10;  // bytes of stack in which the message of FailFast is searched

class Exceptions {
 public:
  Exceptions(const MemoryReader& memory, ClrQuestions& clr, const Runtime& runtime)
      : memory_(memory), clr_(clr), hresult_(hresult_offset(runtime)) {}

  std::vector<CrashObject> from(std::uint64_t object) {
    std::vector<CrashObject> found;
    std::set<std::uint64_t> seen;
    while (object != 0 && found.size() < kMaxCrashObjects && seen.insert(object).second) {
      std::string type = type_of(object);
      if (type.empty()) break;
      found.push_back({.type = std::move(type), .message = text_at(word(object + kMessage)), .trace = {}});
      if (hresult_) found.back().hresult = memory_.read_value<std::uint32_t>(object + *hresult_).value_or(0);
      for (const TraceElement& element : trace_of(object)) {
        const std::string name = element.method != 0 ? clr_.method(element.method).name : "";
        if (!name.empty()) found.back().trace.push_back(name);
      }
      object = word(object + kInner);
    }
    return found;
  }

  // Whether the exception's own stack trace begins at this instruction, with this Rsp.
  bool began_at(std::uint64_t object, std::uint64_t ip, std::uint64_t rsp) {
    const std::vector<TraceElement> trace = trace_of(object);
    // (The runtime stores the address of a fault, or the one behind it, or in .NET 8 the one before it.)
    return !trace.empty() && trace.front().ip - ip + 1 <= 2 && trace.front().rsp == rsp;
  }

  // The only text to which a word of this part of a stack leads: to the object, or, in native code, to its first
  // character. Empty if there are several.
  std::string only_text(std::uint64_t from, std::uint64_t end) {
    std::set<std::uint64_t> objects;
    if (end - from > kMaxArguments) return {};  // what was searched in part has no only text
    for (std::uint64_t at = from; at < end; at += 8) {
      const std::uint64_t value = word(at);
      const std::uint64_t object = value % 8 == 0 ? value : value - kTextUnits;
      if (object % 8 == 0 && object != 0) objects.insert(object);
    }
    const std::vector<std::uint64_t> asked(objects.begin(), objects.end());
    const std::vector<std::string> types = clr_.object_types(asked);
    std::string found;
    for (std::size_t i = 0; i < std::min(types.size(), asked.size()); ++i) {
      if (types[i] != kText) continue;
      const std::string text = text_at(asked[i]);
      if (!found.empty() && text != found) return {};
      found = text;
    }
    return found;
  }

 private:
  std::uint64_t word(std::uint64_t address) const { return memory_.read_value<std::uint64_t>(address).value_or(0); }

  // Empty if no object is there.
  std::string type_of(std::uint64_t object) {
    if (object == 0 || (word(object) & ~kCollectorMarks) == 0) return {};
    const auto types = clr_.object_types({&object, 1});
    return types.empty() ? std::string() : types.front();
  }

  std::string text_at(std::uint64_t text) {
    if (type_of(text) != kText) return {};
    const std::uint32_t units =
        std::min(memory_.read_value<std::uint32_t>(text + kTextLength).value_or(0), kMaxMessage);
    std::array<std::byte, kMaxMessage * sizeof(char16_t)> bytes;
    if (!memory_.read(text + kTextUnits, bytes.data(), units * sizeof(char16_t))) return {};
    return utf8_of_utf16(std::span(bytes).first(units * sizeof(char16_t)));
  }

  struct TraceElement {
    std::uint64_t ip = 0, rsp = 0, method = 0;  // the MethodDesc
  };

  std::vector<TraceElement> trace_of(std::uint64_t object) {
    std::uint64_t trace = word(object + kStackTrace);
    std::string type = type_of(trace);
    if (type == "System.Object[]") {
      trace = word(trace + kArrayElements);
      type = type_of(trace);
    }
    if (type != "System.SByte[]" && type != "System.Byte[]") return {};
    const std::uint64_t bytes = memory_.read_value<std::uint32_t>(trace + kArrayLength).value_or(0);
    const std::uint64_t count = memory_.read_value<std::uint32_t>(trace + kArrayElements).value_or(0);
    std::vector<TraceElement> elements;
    if (count > kMaxElements || kTraceHeader + count * kTraceElement > bytes) return elements;
    std::uint64_t at = trace + kArrayElements + kTraceHeader;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, kMaxCrashTrace); ++i, at += kTraceElement) {
      elements.push_back({word(at), word(at + kRspOfElement), word(at + kMethodOfElement)});
    }
    return elements;
  }

  const MemoryReader& memory_;
  ClrQuestions& clr_;
  std::optional<std::uint64_t> hresult_;
};

// Null if the snapshot does not have it.
const Thread* crashed_thread(const Snapshot& snapshot) {
  const auto thread = std::ranges::find(snapshot.threads, snapshot.crash->thread, &Thread::os_id);
  return thread != snapshot.threads.end() ? &*thread : nullptr;
}

// Whether the runtime has ended the program because of a managed exception, or for managed code.
bool is_managed(std::uint32_t code) {
  return code == exception_code::kManaged || code == exception_code::kExecutionEngine ||
         code == exception_code::kManagedFailFast;
}

// The Rsp of the frame that raised the exception; 0 if there is none.
std::uint64_t raised_rsp(const Snapshot& snapshot) {
  const Thread* const thread = crashed_thread(snapshot);
  if (thread == nullptr) return 0;
  const auto frame = std::ranges::find(thread->stack.frames, snapshot.crash->address, &Frame::address);
  return frame != thread->stack.frames.end() && frame->kind == FrameKind::managed ? frame->stack_pointer : 0;
}

// The message of Environment.FailFast: the text to which the frames of that method, and the arguments in their caller's
// frame, lead. The runtime keeps it nowhere else. In .NET 8 the method is a function of coreclr.dll.
std::string fail_fast_text(const Snapshot& snapshot, Exceptions& exceptions) {
  const Thread* const thread = crashed_thread(snapshot);
  if (thread == nullptr) return {};
  const std::vector<StackFrame>& frames = thread->stack.frames;
  const auto fails_fast = [](const Frame& frame) {
    return frame.kind == FrameKind::managed && frame.name.starts_with("System.Environment.FailFast(");
  };
  auto first = std::ranges::find_if(frames, fails_fast);
  auto caller = std::find_if_not(first, frames.end(), fails_fast);
  if (first == frames.end()) {
    caller = std::ranges::find(frames, FrameKind::managed, &Frame::kind);
    if (caller == frames.begin()) return {};
    first = caller - 1;
    if (first->kind != FrameKind::native) return {};
  }
  if (caller == frames.end() || caller->stack_pointer < first->stack_pointer) return {};
  constexpr std::uint64_t kHomeBytes = 32;  // a callee may keep its first four arguments there (x64 calling convention)
  return exceptions.only_text(first->stack_pointer, caller->stack_pointer + kHomeBytes);
}

}  // namespace

void add_managed_exceptions(Snapshot& snapshot, const MemoryReader& memory, ClrQuestions& clr) {
  if (!snapshot.crash || snapshot.runtime.name != ".NET") return;
  Crash& crash = *snapshot.crash;
  // After another crash, the exception that the thread threw last has mostly nothing to do with it: only if the runtime
  // made it of this very fault, such as a NullReferenceException.
  const std::uint64_t raised = is_managed(crash.code) ? 0 : raised_rsp(snapshot);
  if (!is_managed(crash.code) && raised == 0) return;
  Exceptions exceptions(memory, clr, snapshot.runtime);
  if (crash.code == exception_code::kManagedFailFast) crash.text = fail_fast_text(snapshot, exceptions);
  for (const ClrThread& thread : clr.threads()) {
    if (thread.os_id != crash.thread || thread.thrown == 0) continue;
    const std::uint64_t object = memory.read_value<std::uint64_t>(thread.thrown).value_or(0);
    if (raised != 0 && !exceptions.began_at(object, crash.address, raised)) return;
    crash.objects = exceptions.from(object);
    // The runtime itself puts this object in place of one of the program, which becomes its inner exception.
    const bool stand_in = crash.code != exception_code::kManaged && !crash.objects.empty() &&
                          crash.objects.front().type == "System.ExecutionEngineException";
    if (stand_in) crash.objects.erase(crash.objects.begin());
    return;
  }
}

}  // namespace mixwalk

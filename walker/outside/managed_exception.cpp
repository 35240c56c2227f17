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
constexpr std::uint64_t kTextLength = 8, kTextUnits = 12;        // of a System.String
constexpr std::uint64_t kArrayLength = 8, kArrayElements = 0x10;  // of an array
// _stackTrace is an array of bytes: a header with the number of elements, and the elements (StackTraceElement: the
// address, Rsp, the MethodDesc, flags). If methods of it may be unloaded, it is an array of objects that begins with
// that array of bytes.
constexpr std::uint64_t kTraceHeader = 16, kTraceElement = 32, kMethodOfElement = 16;

constexpr std::uint32_t kMaxMessage = 1024;  // UTF-16 units
constexpr std::uint32_t kMaxElements = 100'000;

class Exceptions {
 public:
  Exceptions(const MemoryReader& memory, ClrQuestions& clr) : memory_(memory), clr_(clr) {}

  std::vector<CrashObject> from(std::uint64_t object) {
    std::vector<CrashObject> found;
    std::set<std::uint64_t> seen;
    while (object != 0 && found.size() < kMaxCrashObjects && seen.insert(object).second) {
      std::string type = type_of(object);
      if (type.empty()) break;
      found.push_back({.type = std::move(type), .message = text_at(word(object + kMessage)), .trace = {}});
      for (const std::uint64_t method : methods_of(word(object + kStackTrace))) {
        const std::string name = clr_.method(method).name;
        if (!name.empty()) found.back().trace.push_back(name);
      }
      object = word(object + kInner);
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
    if (type_of(text) != "System.String") return {};
    const std::uint32_t units =
        std::min(memory_.read_value<std::uint32_t>(text + kTextLength).value_or(0), kMaxMessage);
    std::array<std::byte, kMaxMessage * sizeof(char16_t)> bytes;
    if (!memory_.read(text + kTextUnits, bytes.data(), units * sizeof(char16_t))) return {};
    return utf8_of_utf16(std::span(bytes).first(units * sizeof(char16_t)));
  }

  // The MethodDescs of a stack trace.
  std::vector<std::uint64_t> methods_of(std::uint64_t trace) {
    std::string type = type_of(trace);
    if (type == "System.Object[]") {
      trace = word(trace + kArrayElements);
      type = type_of(trace);
    }
    if (type != "System.SByte[]" && type != "System.Byte[]") return {};
    const std::uint64_t bytes = memory_.read_value<std::uint32_t>(trace + kArrayLength).value_or(0);
    const std::uint64_t count = memory_.read_value<std::uint32_t>(trace + kArrayElements).value_or(0);
    std::vector<std::uint64_t> methods;
    if (count > kMaxElements || kTraceHeader + count * kTraceElement > bytes) return methods;
    const std::uint64_t first = trace + kArrayElements + kTraceHeader;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, kMaxCrashTrace); ++i) {
      const std::uint64_t method = word(first + i * kTraceElement + kMethodOfElement);
      if (method != 0) methods.push_back(method);
    }
    return methods;
  }

  const MemoryReader& memory_;
  ClrQuestions& clr_;
};

// Whether the runtime has ended the program because of a managed exception. After other crashes, the exception that the
// thread threw last has nothing to do with them.
bool is_managed(std::uint32_t code) {
  constexpr std::array<std::uint32_t, 3> kCodes = {exception_code::kManaged, 0x8013'1506, 0x8013'1623};
  return std::ranges::find(kCodes, code) != kCodes.end();
}

}  // namespace

void add_managed_exceptions(Snapshot& snapshot, const MemoryReader& memory, ClrQuestions& clr) {
  if (!snapshot.crash || !is_managed(snapshot.crash->code) || snapshot.runtime.name != ".NET") return;
  for (const ClrThread& thread : clr.threads()) {
    if (thread.os_id != snapshot.crash->thread || thread.thrown == 0) continue;
    const std::uint64_t object = memory.read_value<std::uint64_t>(thread.thrown).value_or(0);
    snapshot.crash->objects = Exceptions(memory, clr).from(object);
    return;
  }
}

}  // namespace mixwalk

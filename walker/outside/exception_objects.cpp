#include "walker/outside/exception_objects.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "unmanaged/image/utf16.h"
#include "walker/clr/heap_walk.h"

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

}  // namespace

ExceptionObjects::ExceptionObjects(const MemoryReader& memory, ClrQuestions& clr, const Runtime& runtime)
    : memory_(memory), clr_(clr), hresult_(hresult_offset(runtime)) {}

std::vector<CrashObject> ExceptionObjects::from(std::uint64_t object) {
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

bool ExceptionObjects::began_at(std::uint64_t object, std::uint64_t ip, std::uint64_t rsp) {
  const std::vector<TraceElement> trace = trace_of(object);
  // (The runtime stores the address of a fault, or the one behind it, or in .NET 8 the one before it.)
  return !trace.empty() && trace.front().ip - ip + 1 <= 2 && trace.front().rsp == rsp;
}

std::string ExceptionObjects::only_text(std::uint64_t from, std::uint64_t end) {
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

std::string ExceptionObjects::type_of(std::uint64_t object) {
  if (object == 0 || (word(object) & ~kCollectorMarks) == 0) return {};
  const auto types = clr_.object_types({&object, 1});
  return types.empty() ? std::string() : types.front();
}

std::string ExceptionObjects::text_at(std::uint64_t text) {
  if (type_of(text) != kText) return {};
  const std::uint32_t units =
      std::min(memory_.read_value<std::uint32_t>(text + kTextLength).value_or(0), kMaxMessage);
  std::array<std::byte, kMaxMessage * sizeof(char16_t)> bytes;
  if (!memory_.read(text + kTextUnits, bytes.data(), units * sizeof(char16_t))) return {};
  return utf8_of_utf16(std::span(bytes).first(units * sizeof(char16_t)));
}

std::vector<ExceptionObjects::TraceElement> ExceptionObjects::trace_of(std::uint64_t object) {
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

}  // namespace mixwalk

#include "walker/target/cpp_exception.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "symbols/demangle/demangle.h"
#include "walker/model/crash_words.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxText = 1024;  // bytes of a name or a text
constexpr std::int32_t kMaxCatchableTypes = 64;
constexpr int kMaxBases = 16;

// A text that ends with a zero. A longer text is cut. Empty if it cannot be read.
std::string text_at(const MemoryReader& memory, std::uint64_t address) {
  std::array<char, kMaxText> bytes;
  const std::size_t read = address == 0 ? 0 : memory.read_up_to(address, bytes.data(), bytes.size());
  return std::string(std::string_view(bytes.data(), read).substr(0, std::string_view(bytes.data(), read).find('\0')));
}

std::string text_behind(const MemoryReader& memory, std::uint64_t pointer) {
  return text_at(memory, memory.read_value<std::uint64_t>(pointer).value_or(0));
}

// ".?AVruntime_error@std@@" is the name of a type as a parameter of a function has it, behind ".?A" or ".".
std::string msvc_type(const std::string& name) {
  std::string_view type = name;
  if (!type.starts_with('.')) return {};
  type.remove_prefix(type.starts_with(".?A") ? 3 : 1);
  const std::string function = demangle("?f@@YAX" + std::string(type) + "@Z");
  constexpr std::string_view kBegin = "f(";
  if (!function.starts_with(kBegin) || !function.ends_with(')')) return name;
  std::string_view shown = std::string_view(function).substr(kBegin.size(), function.size() - kBegin.size() - 1);
  for (const std::string_view kind : {"class ", "struct ", "union ", "enum "}) {
    if (shown.starts_with(kind)) shown.remove_prefix(kind.size());
  }
  return std::string(shown);
}

// The tables that _CxxThrowException gives (ehdata.h of the Windows SDK's C runtime, which calls them ThrowInfo,
// CatchableTypeArray, CatchableType and TypeDescriptor). Their pointers are offsets from an image's base.
std::optional<CrashObject> msvc_object(const MemoryReader& memory, const MinidumpException& exception) {
  constexpr std::uint64_t kArrayOfInfo = 12, kTypeOfCatchable = 4, kOffsetOfCatchable = 8, kNameOfType = 16;
  // A std::exception has its virtual table, and behind it the pointer to its text.
  constexpr std::uint64_t kText = 8;
  if (exception.parameter_count < 4) return std::nullopt;
  const std::uint64_t object = exception.parameters[1], info = exception.parameters[2], base = exception.parameters[3];
  const auto offset_at = [&](std::uint64_t address) { return memory.read_value<std::uint32_t>(address); };
  const auto array = offset_at(info + kArrayOfInfo);
  if (info == 0 || !array || *array == 0) return std::nullopt;
  const auto count = memory.read_value<std::int32_t>(base + *array).value_or(0);
  CrashObject found;
  // The first type is the object's own, the others are its bases.
  for (std::int32_t i = 0; i < std::min(count, kMaxCatchableTypes); ++i) {
    const auto catchable = offset_at(base + *array + 4 + 4 * static_cast<std::uint64_t>(i));
    const auto type = catchable ? offset_at(base + *catchable + kTypeOfCatchable) : std::nullopt;
    if (!type) break;
    const std::string name = text_at(memory, base + *type + kNameOfType);
    if (i == 0) found.type = msvc_type(name);
    if (name != ".?AVexception@std@@") continue;
    const auto place = memory.read_value<std::int32_t>(base + *catchable + kOffsetOfCatchable).value_or(0);
    found.message = text_behind(memory, object + static_cast<std::uint64_t>(std::int64_t{place}) + kText);
  }
  return found.type.empty() ? std::nullopt : std::optional(std::move(found));
}

// The bytes before and behind the _Unwind_Exception of a thrown object (Itanium C++ ABI, "Exception Handling", 2.2.1;
// libstdc++'s unwind-cxx.h, and unwind.h for the six private words that the system's unwinding needs).
std::optional<CrashObject> gnu_object(const MemoryReader& memory, const MinidumpException& exception) {
  constexpr std::uint64_t kClass = 0x474E5543'432B2B00;  // "GNUCC++\0"
  constexpr std::uint64_t kTypeBefore = 80, kObjectBehind = 64;
  constexpr std::uint64_t kNameOfType = 8, kBaseOfType = 16;  // of std::type_info, and of a class with one base
  constexpr std::uint64_t kText = 8;                          // of a std::runtime_error and a std::logic_error
  if (exception.parameter_count < 1) return std::nullopt;
  const std::uint64_t header = exception.parameters[0];
  if (memory.read_value<std::uint64_t>(header).value_or(0) != kClass) return std::nullopt;
  auto type = memory.read_value<std::uint64_t>(header - kTypeBefore);
  CrashObject found;
  for (int i = 0; type && i < kMaxBases; ++i) {
    const std::string name = text_behind(memory, *type + kNameOfType);
    if (name.empty()) break;
    if (i == 0) {
      constexpr std::string_view kBegin = "typeinfo for ";
      const std::string whole = demangle("_ZTI" + name);
      found.type = whole.starts_with(kBegin) ? whole.substr(kBegin.size()) : name;
    }
    if (name == "St13runtime_error" || name == "St11logic_error") {
      found.message = text_behind(memory, header + kObjectBehind + kText);
      break;
    }
    type = memory.read_value<std::uint64_t>(*type + kBaseOfType);
  }
  return found.type.empty() ? std::nullopt : std::optional(std::move(found));
}

}  // namespace

std::optional<CrashObject> cpp_exception(const MemoryReader& memory, const MinidumpException& exception) {
  if (exception.code == exception_code::kCpp) return msvc_object(memory, exception);
  if (exception.code == exception_code::kGnuCpp) return gnu_object(memory, exception);
  return std::nullopt;
}

}  // namespace mixwalk

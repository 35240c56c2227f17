#include "walker/clr/tasks/delegates.h"

#include <array>
#include <cstring>

namespace mixwalk {
namespace {

constexpr std::string_view kDelegate = "System.Delegate";

// The MethodDesc of a method whose code may not exist yet; 0 if it is not found.
//
// Folklore: a delegate of a method that was never called has the address of a small piece of code (precode) that makes
// the runtime compile the method. Real case: every task in the queue of a pool whose threads are all busy. The code is
// "mov r10, [the MethodDesc]" and "jmp [where to]", with "jmp [where to]" before it if it is of the other kind
// (FixupPrecode, StubPrecode of .NET 8 to 10). Test: DelegatesTest.
std::uint64_t method_of_precode(const MemoryReader& memory, std::uint64_t code) {
  constexpr std::array<std::uint8_t, 3> kMoveToR10 = {0x4C, 0x8B, 0x15};
  constexpr std::size_t kJumpBytes = 6, kMoveBytes = 7;
  std::array<std::uint8_t, kJumpBytes + kMoveBytes> bytes{};
  if (!memory.read(code, bytes.data(), bytes.size())) return 0;
  const std::size_t at = bytes[0] == 0xFF && bytes[1] == 0x25 ? kJumpBytes : 0;
  if (std::memcmp(bytes.data() + at, kMoveToR10.data(), kMoveToR10.size()) != 0) return 0;
  std::int32_t offset = 0;
  std::memcpy(&offset, bytes.data() + at + kMoveToR10.size(), sizeof offset);
  const std::uint64_t place = code + at + kMoveBytes + static_cast<std::uint64_t>(std::int64_t{offset});
  return memory.read_value<std::uint64_t>(place).value_or(0);
}

}  // namespace

std::string method_of_delegate(ManagedObjects& objects, std::uint64_t delegate) {
  const ManagedType* const type = objects.type_of(delegate);
  if (type == nullptr || !type->is(kDelegate)) return {};
  // A delegate of a static method calls a piece of code that moves the arguments, which then calls the other address.
  std::uint64_t code = objects.value(delegate, *type, "_methodPtrAux").value_or(0);
  if (code == 0) code = objects.value(delegate, *type, "_methodPtr").value_or(0);
  if (code == 0) return {};
  ClrQuestions& clr = objects.clr();
  std::uint64_t method = 0;
  if (const auto known = clr.code_at(code)) {
    method = known->method;
  } else {
    method = method_of_precode(objects.memory(), code);
  }
  const ClrMethod found = method != 0 ? clr.method(method) : ClrMethod{};
  return found.stub ? std::string() : found.name;
}

std::uint64_t target_of_delegate(ManagedObjects& objects, std::uint64_t delegate) {
  const ManagedType* const type = objects.type_of(delegate);
  return type != nullptr && type->is(kDelegate) ? objects.reference(delegate, *type, "_target") : 0;
}

}  // namespace mixwalk

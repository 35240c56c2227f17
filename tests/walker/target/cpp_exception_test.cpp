#include "walker/target/cpp_exception.h"

#include <gtest/gtest.h>

#include "tests/builders/byte_writer.h"
#include "tests/builders/pieced_memory.h"
#include "walker/model/crash_words.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using test::PiecedMemory;

constexpr std::uint64_t kBase = 0x1'4000'0000, kObject = 0x20'0000, kText = 0x30'0000;

// `types`: the object's own type, then its bases.
PiecedMemory msvc(const std::vector<const char*>& types, std::int32_t place_of_last = 0) {
  PiecedMemory memory;
  memory.put(kBase + 0x1000, ByteWriter().u32(0).u32(0).u32(0).u32(0x1100));
  ByteWriter array;
  array.u32(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto at = static_cast<std::uint32_t>(0x2000 + 0x100 * i);
    array.u32(at);
    const bool last = i + 1 == types.size();
    const auto place = static_cast<std::uint32_t>(last ? place_of_last : 0);
    memory.put(kBase + at, ByteWriter().u32(0).u32(at + 0x40).u32(place).u32(0xFFFF'FFFF).zeros(12));
    memory.put(kBase + at + 0x40, ByteWriter().u64(0).u64(0).text(types[i]).u8(0));
  }
  memory.put(kBase + 0x1100, array);
  memory.put(kObject + static_cast<std::uint64_t>(place_of_last), ByteWriter().u64(0xABCD).u64(kText));
  memory.put(kText, ByteWriter().text("no stock").u8(0));
  return memory;
}

MinidumpException thrown_by_msvc() {
  MinidumpException exception{.code = exception_code::kCpp, .parameter_count = 4, .registers = {}};
  exception.parameters = {0x19930520, kObject, kBase + 0x1000, kBase};
  return exception;
}

TEST(CppException, OfMsvcHasItsTypeAndItsText) {
  const PiecedMemory memory =
      msvc({".?AVout_of_stock@orders@@", ".?AVruntime_error@std@@", ".?AVexception@std@@"}, 0x10);
  EXPECT_EQ(cpp_exception(memory, thrown_by_msvc()),
            (CrashObject{.type = "orders::out_of_stock", .message = "no stock", .trace = {}}));
}

TEST(CppException, OfMsvcThatIsNoStdException) {
  EXPECT_EQ(cpp_exception(msvc({".H"}), thrown_by_msvc()), (CrashObject{.type = "int", .message = "", .trace = {}}));
  EXPECT_EQ(cpp_exception(msvc({".?AUfailed@@"}), thrown_by_msvc())->type, "failed");
  EXPECT_EQ(cpp_exception(msvc({""}), thrown_by_msvc()), std::nullopt);
  MinidumpException other = thrown_by_msvc();
  other.parameter_count = 3;
  EXPECT_EQ(cpp_exception(msvc({".H"}), other), std::nullopt);
  other = thrown_by_msvc();
  other.parameters[2] = 0;  // throw;
  EXPECT_EQ(cpp_exception(msvc({".H"}), other), std::nullopt);
  other.parameters[2] = ~0ull;
  EXPECT_EQ(cpp_exception(msvc({".H"}), other), std::nullopt);
}

TEST(CppException, OfLibstdcppHasItsTypeAndItsText) {
  PiecedMemory memory;
  const std::uint64_t header = 0x20'0050;
  ByteWriter object;
  object.u64(0x40'0000).zeros(72).u64(0x474E5543'432B2B00).zeros(56);  // up to the object itself
  memory.put(0x20'0000, object.u64(0xABCD).u64(kText));
  memory.put(kText, ByteWriter().text("no stock").u8(0));
  const auto type = [&](std::uint64_t at, const char* name, std::uint64_t base) {
    memory.put(at, ByteWriter().u64(0xDCBA).u64(at + 0x100).u64(base));
    memory.put(at + 0x100, ByteWriter().text(name).u8(0));
  };
  type(0x40'0000, "N6orders12out_of_stockE", 0x40'1000);
  type(0x40'1000, "St13runtime_error", 0);
  MinidumpException exception{.code = exception_code::kGnuCpp, .parameter_count = 1, .registers = {}};
  exception.parameters[0] = header;
  EXPECT_EQ(cpp_exception(memory, exception),
            (CrashObject{.type = "orders::out_of_stock", .message = "no stock", .trace = {}}));
  type(0x40'1000, "St9exception", 0x40'1000);  // a circle
  EXPECT_EQ(cpp_exception(memory, exception)->message, "");
  memory.put(header, ByteWriter().u64(7));
  EXPECT_EQ(cpp_exception(memory, exception), std::nullopt) << "of another runtime";
  exception.code = exception_code::kAccessViolation;
  EXPECT_EQ(cpp_exception(memory, exception), std::nullopt);
}

}  // namespace
}  // namespace mixwalk

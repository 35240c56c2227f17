#include "walker/outside/managed_exception.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "tests/builders/byte_writer.h"
#include "tests/builders/fake_clr_questions.h"
#include "walker/model/crash_words.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class Heap final : public MemoryReader {
 public:
  void put(std::uint64_t address, const ByteWriter& bytes) { pieces_[address] = bytes.bytes(); }
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    const auto after = pieces_.upper_bound(address);
    if (after == pieces_.begin()) return false;
    const auto& [begin, piece] = *std::prev(after);
    if (address - begin > piece.size() || piece.size() - (address - begin) < bytes) return false;
    std::memcpy(into, piece.data() + (address - begin), bytes);
    return true;
  }

 private:
  std::map<std::uint64_t, std::vector<std::byte>> pieces_;
};

class ManagedExceptionTest : public ::testing::Test {
 protected:
  ManagedExceptionTest() {
    snapshot_.runtime.name = ".NET";
    snapshot_.crash = Crash{.thread = 7, .code = exception_code::kManaged, .objects = {}};
    clr_.clr_threads = {{.os_id = 6}, {.os_id = 7, .thrown = 0x500}};
    heap_.put(0x500, ByteWriter().u64(0x1000));
    exception(0x1000, "Orders.OutOfStock", 0x2000, 0x3000, 0);
    exception(0x3000, "System.IO.IOException", 0, 0, 0x4000);
    text(0x2000, u"no st\u00F6ck");
    array(0x4000, {0x51, 0x52});
    clr_.add_method(0x51, {.name = "Orders.Reserve()", .stub = false, .import = {}, .com = false});
    clr_.add_method(0x52, {.name = "Orders.Submit()", .stub = false, .import = {}, .com = false});
  }

  void exception(std::uint64_t at, const char* type, std::uint64_t message, std::uint64_t inner, std::uint64_t trace) {
    heap_.put(at, ByteWriter().u64(0x99).u64(0).u64(message).u64(0).u64(inner).u64(0).u64(trace).zeros(64));
    clr_.objects_of[at] = type;
  }
  void text(std::uint64_t at, std::u16string_view units) {
    ByteWriter bytes;
    bytes.u64(0x98).u32(units.size());
    for (const char16_t unit : units) bytes.u16(unit);
    heap_.put(at, bytes);
    clr_.objects_of[at] = "System.String";
  }
  void array(std::uint64_t at, const std::vector<std::uint64_t>& methods) {
    ByteWriter bytes;
    bytes.u64(0x97).u64(16 + 32 * methods.size()).u64(methods.size()).u64(0);
    for (const std::uint64_t method : methods) bytes.u64(1).u64(2).u64(method).u64(0);
    heap_.put(at, bytes);
    clr_.objects_of[at] = "System.Byte[]";
  }
  const std::vector<CrashObject>& objects() {
    add_managed_exceptions(snapshot_, heap_, clr_);
    return snapshot_.crash->objects;
  }

  Snapshot snapshot_;
  Heap heap_;
  test::FakeClrQuestions clr_;
};

TEST_F(ManagedExceptionTest, HasItsTypeItsMessageAndItsInnerException) {
  ASSERT_THAT(objects(), SizeIs(2));
  EXPECT_EQ(objects()[0], (CrashObject{.type = "Orders.OutOfStock", .message = "no st\xC3\xB6""ck", .trace = {}}));
  EXPECT_EQ(objects()[1].type, "System.IO.IOException");
  EXPECT_EQ(objects()[1].message, "");
  EXPECT_THAT(objects()[1].trace, ElementsAre("Orders.Reserve()", "Orders.Submit()"));
}

TEST_F(ManagedExceptionTest, AStackTraceInAnArrayOfObjects) {
  heap_.put(0x6000, ByteWriter().u64(0x96).u64(2).u64(0x4000).u64(0));
  clr_.objects_of[0x6000] = "System.Object[]";
  exception(0x3000, "System.IO.IOException", 0, 0, 0x6000);
  EXPECT_THAT(objects()[1].trace, SizeIs(2));
}

TEST_F(ManagedExceptionTest, ACircleOfInnerExceptionsEnds) {
  exception(0x3000, "System.IO.IOException", 0, 0x1000, 0);
  EXPECT_THAT(objects(), SizeIs(2));
}

TEST_F(ManagedExceptionTest, MemoryThatIsNoExceptionSaysNothing) {
  // The message is no text, and the trace is no array.
  exception(0x1000, "Orders.OutOfStock", 0x4000, 0xDEAD, 0x2000);
  ASSERT_THAT(objects(), SizeIs(1));
  EXPECT_EQ(objects()[0], (CrashObject{.type = "Orders.OutOfStock", .message = "", .trace = {}}));
  heap_.put(0x2000, ByteWriter().u64(0x98).u32(0xFFFF'FFFF));
  exception(0x1000, "Orders.OutOfStock", 0x2000, 0, 0x4000);
  heap_.put(0x4000, ByteWriter().u64(0x97).u64(16).u64(0xFFFF'FFFF).u64(0));
  EXPECT_EQ(objects()[0], (CrashObject{.type = "Orders.OutOfStock", .message = "", .trace = {}}));
  clr_.objects_of[0x1000].clear();
  EXPECT_THAT(objects(), SizeIs(0));
}

TEST_F(ManagedExceptionTest, OtherCrashesHaveNothingToDoWithTheLastException) {
  snapshot_.crash->code = exception_code::kAccessViolation;
  EXPECT_THAT(objects(), SizeIs(0));
  snapshot_.crash->code = exception_code::kManaged;
  snapshot_.runtime.name = ".NET Framework";
  EXPECT_THAT(objects(), SizeIs(0));
}

}  // namespace
}  // namespace mixwalk

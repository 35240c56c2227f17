#include "walker/model/crash_words.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(CrashWords, WhatWasTouchedAndHow) {
  Crash crash{.code = 0xC0000005, .access = CrashAccess::write, .objects = {}};
  EXPECT_EQ(crash_words(crash), "access violation (0xc0000005): it wrote to 0x0, a null pointer");
  crash.access = CrashAccess::read;
  crash.touched = 0x18;
  EXPECT_EQ(crash_words(crash), "access violation (0xc0000005): it read 0x18, next to a null pointer");
  crash.access = CrashAccess::execute;
  crash.touched = 0x1'0000'0000;
  EXPECT_EQ(crash_words(crash), "access violation (0xc0000005): it executed 0x100000000");
  crash.touched = ~0ull;
  EXPECT_EQ(crash_words(crash),
            "access violation (0xc0000005): it touched an address that the processor did not report");
  crash.access = CrashAccess::none;
  EXPECT_EQ(crash_words(crash), "access violation (0xc0000005)");
}

TEST(CrashWords, WhatTheCodeSaysFurther) {
  EXPECT_EQ(crash_words({.code = 0xC00000FD, .objects = {}}), "stack overflow (0xc00000fd)");
  EXPECT_EQ(crash_words({.code = 0xC0000374, .objects = {}}), "heap corruption (0xc0000374)");
  EXPECT_EQ(crash_words({.code = 0xE06D7363, .objects = {}}), "unhandled C++ exception (0xe06d7363)");
  EXPECT_EQ(crash_words({.code = 0xDEAD0001, .objects = {}}), "exception 0xdead0001");
  EXPECT_EQ(crash_words({.code = 0xC0000409, .detail = 7, .objects = {}}),
            "fail fast (0xc0000409): the program has called abort or std::terminate");
  EXPECT_EQ(crash_words({.code = 0xC0000409, .detail = 99, .objects = {}}), "fail fast (0xc0000409): reason 99");
  EXPECT_EQ(crash_words({.code = 0xC0000006, .access = CrashAccess::read, .touched = 0x40000, .detail = 0xC000009C,
                         .objects = {}}),
            "a page could not be read (0xc0000006): it read 0x40000 (status 0xc000009c)");
}

TEST(CrashWords, AnExceptionThatAThreadHandles) {
  const HandledException exception{{{.type = "Orders.Failed", .message = "no\nstock", .trace = {}},
                                    {.type = "System.IO.IOException", .trace = {}},
                                    {.message = "?", .trace = {}}}};
  EXPECT_EQ(handled_words(exception),
            (std::vector<std::string>{"handles Orders.Failed: \"no\nstock\"", "inner exception: System.IO.IOException",
                                      "inner exception: an exception of an unknown type: \"?\""}));
  EXPECT_EQ(handled_words({}), std::vector<std::string>());
}

TEST(CrashWords, AManagedExceptionByItsHresultOnlyIfItsTypeIsNotKnown) {
  Crash crash{.code = 0xE0434352, .detail = 0x80131509, .objects = {}};
  EXPECT_EQ(crash_words(crash),
            "unhandled .NET exception (0xe0434352): HRESULT 0x80131509, as of InvalidOperationException");
  crash.objects = {{.type = "Orders.Failed", .message = "no\nstock", .trace = {}}, {}};
  EXPECT_EQ(crash_words(crash), "unhandled .NET exception (0xe0434352)");
  EXPECT_EQ(crash_details(crash), (std::vector<std::string>{"Orders.Failed: no\nstock",
                                                            "inner exception: an exception of an unknown type"}));
  crash.text = "the books do not balance";
  EXPECT_EQ(crash_details(crash)[0], "message: the books do not balance");
}

}  // namespace
}  // namespace mixwalk

// Reads what a dump says about a crash from memory in which every pointer may lead anywhere: the fault that was raised
// anew, the object of a C++ exception, and the managed exceptions with their texts and traces. Each must end, and keep
// its limits. The input's first bytes are the exception and the answers of the runtime; the rest is the memory, over
// and over.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/builders/fake_clr_questions.h"
#include "tests/builders/pieced_memory.h"
#include "tests/builders/repeated_memory.h"
#include "walker/model/crash_words.h"
#include "walker/outside/managed_exception.h"
#include "walker/target/cpp_exception.h"
#include "walker/target/first_fault.h"

using namespace mixwalk;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  struct Header {
    std::uint32_t code, parameter_count;
    std::uint64_t address, rip, rsp;
    std::array<std::uint64_t, 4> parameters;
  } header;
  if (size <= sizeof header) return 0;
  std::memcpy(&header, data, sizeof header);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view bytes = input.substr(sizeof header);
  const test::RepeatedMemory memory(bytes);

  MinidumpException exception{.thread = 7, .code = header.code, .address = header.address, .registers = Registers{}};
  exception.registers->rip = header.rip;
  exception.parameter_count = header.parameter_count % 5;
  std::copy_n(header.parameters.begin(), exception.parameter_count, exception.parameters.begin());
  test::PiecedMemory pieces;
  pieces.put(header.rsp, {reinterpret_cast<const std::byte*>(bytes.data()),
                          reinterpret_cast<const std::byte*>(bytes.data() + bytes.size())});
  std::vector<std::byte> buffer(bytes.size() + 16);
  StackCopy stack(buffer);
  stack.fill(pieces, header.rsp, header.rsp + bytes.size());
  is_raised_anew(exception, header.parameters[0]);
  if (const auto fault = first_fault(exception, stack, {})) {
    require(fault->code == exception.code && fault->thread == 7 && fault->registers);
    require(fault->registers->rsp() >= stack.begin() && fault->registers->rsp() <= stack.end());
    require(fault->parameter_count <= MinidumpException::kMaxParameters);
  }
  for (const std::uint32_t code : {exception_code::kCpp, exception_code::kGnuCpp}) {
    exception.code = code;
    exception.parameter_count = 4;
    cpp_exception(memory, exception);
  }

  // The types of objects, by the bytes of the input.
  test::FakeClrQuestions clr;
  clr.type_of = [&](std::uint64_t object) -> std::string {
    constexpr std::array kTypes = {"System.String", "System.SByte[]", "System.Object[]",
                                   "System.ExecutionEngineException", "Orders.Failed", ""};
    const char byte = bytes[static_cast<std::size_t>(object / 8 % bytes.size())];
    return kTypes[static_cast<unsigned char>(byte) % kTypes.size()];
  };
  clr.clr_threads = {{.os_id = 7, .thrown = header.parameters[1]}};
  Snapshot snapshot;
  snapshot.runtime.name = ".NET";
  snapshot.runtime.major = header.rip % 2 == 0 ? 8 : 10;
  Thread& thread = snapshot.threads.emplace_back();
  thread.os_id = 7;
  for (const char* const name : {"System.Environment.FailFast(System.String)", "Orders.Close()"}) {
    StackFrame frame;
    frame.kind = FrameKind::managed;
    frame.name = name;
    frame.address = header.address;
    frame.stack_pointer = header.rsp + header.parameters[2] * thread.stack.frames.size();
    thread.stack.frames.push_back(frame);
  }
  for (const std::uint32_t code : {exception_code::kManaged, exception_code::kManagedFailFast, header.code}) {
    snapshot.crash = Crash{.thread = 7, .code = code, .address = header.address, .objects = {}};
    add_managed_exceptions(snapshot, memory, clr);
    constexpr std::size_t kMostText = 3 * 1024;  // UTF-8 of as many units of UTF-16 as are read
    require(snapshot.crash->text.size() <= kMostText && snapshot.crash->objects.size() <= kMaxCrashObjects);
    for (const CrashObject& object : snapshot.crash->objects) {
      require(object.message.size() <= kMostText && object.trace.size() <= kMaxCrashTrace);
    }
  }
  return 0;
}

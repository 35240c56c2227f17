// A program runs in a job with little memory. If no memory is left for mixwalk, the visit must be refused with that
// reason, and the program must continue.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hunt/hunt.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/base/exit_code.h"

namespace mixwalk {
namespace {

// Limits the commit charge to what the program itself has reached, and a little more.
UniqueHandle job_with(const ChildProcess& program, SIZE_T room) {
  UniqueHandle job(CreateJobObjectW(nullptr, nullptr));
  AssignProcessToJobObject(job.get(), program.handle());
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  QueryInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits,
                            nullptr);
  const SIZE_T used = limits.PeakProcessMemoryUsed;
  if (used == 0) return {};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_PROCESS_MEMORY;
  limits.ProcessMemoryLimit = used + room;
  if (!SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits,
                               sizeof limits)) {
    return {};
  }
  return job;
}

TEST(LittleMemory, NoRoomIsARefusalAndTheProgramGoesOn) {
  constexpr SIZE_T kRooms[] = {0, 1 << 20, 4 << 20, 64 << 20};
  for (const SIZE_T room : kRooms) {
    HuntedProgram program(Situation{.name = "waits"});
    const UniqueHandle job = job_with(program.process(), room);
    if (job.get() == nullptr) {
      program.stop();
      GTEST_SKIP() << "this system counts no memory of a job (Wine 8)";
    }
    const ProgramResult result =
        run_program({mixwalk_exe(), "dump", "--inside", "-p", program.id(), "-o", temporary_file("job.json")});
    std::printf("%zu KiB left: exit code %lu %s\n", room >> 10, result.exit_code,
                result.err.c_str());
    // The visit succeeds, or is refused for that reason. Neither mixwalk nor the program may crash.
    constexpr auto kNoMemory = static_cast<DWORD>(ExitCode::no_memory);
    EXPECT_THAT(result.exit_code, ::testing::AnyOf(0u, kNoMemory)) << result.err;
    program.stop();
  }
}

}  // namespace
}  // namespace mixwalk

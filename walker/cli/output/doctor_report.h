#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "walker/base/exit_code.h"
#include "walker/base/failure.h"
#include "walker/model/percentiles.h"
#include "walker/session/mitigations.h"

namespace mixwalk {

// The results of mixwalk doctor, as values and as text. Pure. (docs/doctor.md)

// One thing that was checked, and the result.
struct DoctorLine {
  enum class State {
    good,
    note,  // mixwalk works, but not completely; or another fact worth knowing
    bad,   // `code` is the exit code with which dump or record would end
  };
  State state = State::good;
  std::string check;   // "symbol path"; its meaning never changes, so scripts may rely on it
  std::string found;   // UTF-8, one line, no full stop; not trusted
  std::string advice;  // in the same form: what to do; empty if nothing has to be done
  ExitCode code = ExitCode::ok;
};

// The cost of two seconds of dumps for the process.
struct DoctorTrial {
  std::uint64_t dumps = 0;
  std::uint64_t stacks = 0, whole = 0;  // of all dumps together
  Percentiles frozen;                   // how long a thread was frozen
  int resumed = 0;  // how often mixwalk.exe had to resume a thread, since mixwalk.dll could not; the trial ends then
};

// The lines about the mitigation policies of a process: a line for each effect of them, or one line if they have no
// effect. No line if no policy could be read.
std::vector<DoctorLine> mitigation_lines(const MitigationPolicies& policies);

struct DoctorReport {
  std::optional<std::uint32_t> process_id;
  std::vector<DoctorLine> lines;
  std::optional<DoctorTrial> trial;  // none if it was not asked for, or could not be made
};

// The first bad line as a failure, with its exit code. Nothing if there is none.
std::optional<Failure> failure_of(const DoctorReport& report);
// The text has one line for each check.
std::string doctor_text(const DoctorReport& report);
std::string doctor_json(const DoctorReport& report);

}  // namespace mixwalk

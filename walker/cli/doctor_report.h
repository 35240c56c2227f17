#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "walker/base/exit_code.h"
#include "walker/model/percentiles.h"

namespace mixwalk {

// What mixwalk doctor says, as values and as text. Pure. (docs/doctor.md)

// One thing that was looked at.
struct DoctorLine {
  enum class State {
    good,
    note,  // mixwalk works, but not all of it, or something is worth knowing
    bad,   // `code` is what dump or record would end with
  };
  State state = State::good;
  std::string check;   // "symbol path": never changes its meaning, so that scripts may rely on it
  std::string found;   // UTF-8, one line, no full stop; not trusted
  std::string advice;  // the same: what to do; empty means nothing
  ExitCode code = ExitCode::ok;
};

// What two seconds of dumps cost the process.
struct DoctorTrial {
  std::uint64_t dumps = 0;
  std::uint64_t stacks = 0, whole = 0;  // of all dumps together
  Percentiles frozen;                   // how long a thread stood
};

struct DoctorReport {
  std::optional<std::uint32_t> process_id;
  std::vector<DoctorLine> lines;
  std::optional<DoctorTrial> trial;  // none if it was not asked for, or could not be made
};

// That of the first bad line; ok: there is none.
ExitCode exit_code(const DoctorReport& report) noexcept;
// A line each.
std::string doctor_text(const DoctorReport& report);
std::string doctor_json(const DoctorReport& report);

}  // namespace mixwalk

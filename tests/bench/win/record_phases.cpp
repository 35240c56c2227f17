// Measures where the time of a recording goes. The linker's --wrap redirects the calls between the files of the
// recorder to functions in this file. These functions measure how long each call takes. At the end of the recording,
// the result is written to the file that the environment names.

#include <array>
#include <cstdio>
#include <cstdlib>

#include "tests/bench/measurements.h"
#include "tests/bench/win/cycles.h"
#include "unmanaged/win/live_modules.h"
#include "unmanaged/win/utf8.h"
#include "walker/profiler/canaries.h"
#include "walker/profiler/recorder.h"
#include "walker/session/win/thread_list.h"
#include "walker/suspended/capture.h"

namespace mixwalk::bench {
namespace {

// All of these are phases of the agent's thread. The time of a phase inside another one is subtracted from the outer
// one: `sample` is the time of Sampler::sample itself.
enum Phase {
  kCaptureProbed,
  kCapturePlain,
  kCanary,
  kMerge,
  kName,
  kImages,
  kSample,
  kIntern,
  kEncode,
  kList,
  kAll,
  kPhases
};
constexpr std::array<const char*, kPhases> kPhaseNames = {
    "capture-probed", "capture-plain", "canary-turn", "merge",   "name",
    "images",         "sample",        "intern",      "encode",  "threads", "all"};

struct Sum {
  std::uint64_t calls = 0, cycles = 0;
};
std::array<Sum, kPhases> g_sums;
std::uint64_t g_cpu_ns = 0;  // of the agent's thread, during the recording

std::uint64_t own_cpu_ns() {
  FILETIME unused, kernel, user;
  if (!GetThreadTimes(GetCurrentThread(), &unused, &unused, &kernel, &user)) return 0;
  const auto ticks = [](const FILETIME& time) {
    return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
  };
  return (ticks(kernel) + ticks(user)) * 100;
}

class InPhase {
 public:
  explicit InPhase(Phase phase) : phase_(phase), begun_(cycles()) {}
  ~InPhase() {
    ++g_sums[phase_].calls;
    g_sums[phase_].cycles += cycles() - begun_;
  }
  void is(Phase phase) { phase_ = phase; }

 private:
  Phase phase_;
  std::uint64_t begun_;
};

void write_phases() {
  const wchar_t* const file = _wgetenv(to_utf16(kFileVariable).c_str());
  std::FILE* const rows = file != nullptr ? _wfopen(file, L"w") : nullptr;
  if (rows == nullptr) return;
  for (const Phase inner : {kCaptureProbed, kCapturePlain, kCanary, kMerge, kName, kImages}) {
    g_sums[kSample].cycles -= g_sums[inner].cycles;
  }
  for (int i = 0; i < kPhases; ++i) {
    const double ns = static_cast<double>(g_sums[i].cycles) / cycles_per_ns();
    std::fprintf(rows, "phase %s %llu %.0f\n", kPhaseNames[i], g_sums[i].calls, ns);
  }
  std::fprintf(rows, "cpu %llu\n", g_cpu_ns);
  std::fclose(rows);
}

}  // namespace
}  // namespace mixwalk::bench

// A member function is called like a function that takes its object first, and so is a constructor.
#define WRAPPED(symbol, result, parameters, arguments, phase)      \
  extern "C" result __real_##symbol parameters;                    \
  extern "C" result __wrap_##symbol parameters {                   \
    const mixwalk::bench::InPhase in_phase(mixwalk::bench::phase); \
    return __real_##symbol arguments;                              \
  }

using namespace mixwalk;

WRAPPED(_ZN7mixwalk13live_identityEy, std::optional<std::uint64_t>, (std::uint64_t base), (base), kImages)
WRAPPED(_ZN7mixwalk12list_threadsEv, std::optional<std::vector<std::uint32_t>>, (), (), kList)
WRAPPED(_ZN7mixwalk15RecordingWriter6appendERKNS_9RecordingE, bool,
        (RecordingWriter * self, const Recording& recording), (self, recording), kEncode)
WRAPPED(_ZN7mixwalk16RecordingBuilder9add_stackERKNS_5StackE, std::uint32_t,
        (RecordingBuilder * self, const Stack& stack), (self, stack), kIntern)
WRAPPED(_ZN7mixwalk17ClrMetadataSource4nameEy, const ManagedName&,
        (ClrMetadataSource * self, clr::FunctionID function), (self, function), kName)
WRAPPED(_ZN7mixwalk5mergeERKNS_9RawSampleERKNS_9MergeViewE, Stack,
        (const RawSample& sample, const MergeView& view), (sample, view), kMerge)
WRAPPED(_ZN7mixwalk8Canaries7ClaimedC1ERS0_j, void,
        (Canaries::Claimed * self, Canaries& canaries, std::uint32_t target), (self, canaries, target),
        kCanary)
WRAPPED(_ZN7mixwalk8Canaries7ClaimedD1Ev, void, (Canaries::Claimed * self), (self), kCanary)

WRAPPED(_ZN7mixwalk7Sampler6sampleERNS_13WindowsThreadEjRKNS_11DumpRequestEPNS0_4LastE,
        std::optional<Sampler::Sample>,
        (Sampler * self, WindowsThread& thread, std::uint32_t os_id, const DumpRequest& request,
         Sampler::Last* last),
        (self, thread, os_id, request, last), kSample)

#define CAPTURE _ZN7mixwalk7captureERNS_13ThreadControlEyRKNS_11CaptureViewERNS_9RawSampleE
#define RECORD _ZN7mixwalk8Recorder6recordEv
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)

extern "C" {
void JOINED(__real_, CAPTURE)(ThreadControl&, std::uint64_t, const CaptureView&, RawSample&);
void JOINED(__wrap_, CAPTURE)(ThreadControl& thread, std::uint64_t clr_thread,
                              const CaptureView& view, RawSample& sample) {
  bench::InPhase in_phase(bench::kCapturePlain);
  JOINED(__real_, CAPTURE)(thread, clr_thread, view, sample);
  if (sample.probe != ProbeResult::none) in_phase.is(bench::kCaptureProbed);
}

bool JOINED(__real_, RECORD)(Recorder*);
bool JOINED(__wrap_, RECORD)(Recorder* self) {
  bench::g_sums = {};
  bool recorded = false;
  const std::uint64_t cpu_before = bench::own_cpu_ns();
  {
    const bench::InPhase in_phase(bench::kAll);
    recorded = JOINED(__real_, RECORD)(self);
  }
  bench::g_cpu_ns = bench::own_cpu_ns() - cpu_before;
  bench::write_phases();
  return recorded;
}
}

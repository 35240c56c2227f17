// In mixwalk_bench.dll this file replaces walker/profiler/dumper.cpp: a request for a dump makes a measurement, which
// is written to the file that the environment names, and returns a dump of no threads.

#include "walker/profiler/dumper.h"

#include <cstdlib>
#include <optional>

#include "tests/bench/measurements.h"
#include "tests/bench/win/freeze_bench.h"
#include "unmanaged/win/utf8.h"

// The agent does not give access to the arguments of its sampler, so its call of the constructor is redirected to this
// function (the linker's --wrap).
#define SAMPLER_CONSTRUCTOR \
  _ZN7mixwalk7SamplerC1ERNS_13ClrInterfacesERKNS_15SamplerServicesERNS_10SupervisorERKNS_13SampleBuffersE
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)

namespace mixwalk::bench {
namespace {

Parts g_parts;
std::optional<SamplerServices> g_services;

}  // namespace

const Parts& parts() {
  return g_parts;
}

}  // namespace mixwalk::bench

extern "C" {
void JOINED(__real_, SAMPLER_CONSTRUCTOR)(mixwalk::Sampler*, mixwalk::ClrInterfaces&,
                                          const mixwalk::SamplerServices&, mixwalk::Supervisor&,
                                          const mixwalk::SampleBuffers&);

void JOINED(__wrap_, SAMPLER_CONSTRUCTOR)(mixwalk::Sampler* self, mixwalk::ClrInterfaces& clr,
                                          const mixwalk::SamplerServices& services,
                                          mixwalk::Supervisor& supervisor,
                                          const mixwalk::SampleBuffers& buffers) {
  using namespace mixwalk::bench;
  g_services.emplace(services);
  g_parts = {&clr, &*g_services, &supervisor, &buffers};
  JOINED(__real_, SAMPLER_CONSTRUCTOR)(self, clr, services, supervisor, buffers);
}
}

namespace mixwalk {

bool Dumper::dump(const DumpRequest&) {
  const wchar_t* const file = _wgetenv(to_utf16(bench::kFileVariable).c_str());
  const char* const rounds = std::getenv(bench::kRoundsVariable);
  if (file == nullptr || rounds == nullptr) return false;
  std::FILE* const rows = _wfopen(file, L"w");
  if (rows == nullptr) return false;
  {
    const auto bench = std::make_unique<bench::FreezeBench>(bench::parts(), rows);
    bench->run(std::atoi(rounds));
  }
  std::fclose(rows);
  return sink_(DumpDone{});
}

}  // namespace mixwalk

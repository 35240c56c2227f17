#include "walker/session/runtime_refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "walker/session/image_refusal.h"

namespace mixwalk {
namespace {

struct AttachMeaning {
  std::uint32_t hresult;
  ExitCode code;
  const char* text;  // {} is the process
};

struct DetachMeaning {
  std::uint32_t hresult;
  const char* text;
};

constexpr const char* kNoMemory = "{} has no memory left for mixwalk.dll";

// The possible results of an attach, from the sources of the runtime: its diagnostics port (ds-profiler-protocol.c,
// ds-types.h), LoadProfiler (profilinghelper.cpp), SetEventMask. The names are those of corerror.h.
constexpr AttachMeaning kAttach[] = {
    // CORPROF_E_NOT_YET_AVAILABLE: the port answers, but the runtime has not started yet.
    {0x8013135B, ExitCode::not_started,
     "the .NET runtime of {} is still starting; try again in a moment"},
    // CORPROF_E_UNSUPPORTED_CALL_SEQUENCE
    {0x80131363, ExitCode::refused,
     "the .NET runtime of {} does not answer a profiler at this moment; try again"},
    // CORPROF_E_ASYNCHRONOUS_UNSAFE
    {0x80131364, ExitCode::refused,
     "the .NET runtime of {} holds a lock of its own at this moment; try again"},
    // CORPROF_E_PROFILER_DETACHING
    {0x80131367, ExitCode::already_profiled, "another profiler is just leaving {}"},
    // CORPROF_E_PROFILER_NOT_ATTACHABLE
    {0x80131368, ExitCode::refused,
     "the mixwalk.dll that {} loaded cannot be attached: it is not of this version of mixwalk"},
    // CORPROF_E_PROFILER_ALREADY_ACTIVE
    {0x8013136A, ExitCode::already_profiled, "another profiler is attached to {} already"},
    // CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER
    {0x8013136F, ExitCode::refused,
     "the .NET runtime of {} allows what mixwalk.dll needs only to a profiler that it started with: "
     "start the program with \"mixwalk dump -- PROGRAM\""},
    // CORPROF_E_RUNTIME_UNINITIALIZED: the runtime's profiling part is not ready yet, or the runtime shuts down.
    {0x80131371, ExitCode::not_started,
     "the .NET runtime of {} is just starting or just ending; try again in a moment, or dump it with --outside"},
    // CORPROF_E_PROFILER_CANCEL_ACTIVATION
    {0x80131375, ExitCode::refused, "the profiler that {} loaded chose not to start"},
    // CORPROF_E_CONCURRENT_GC_NOT_PROFILABLE
    {0x80131376, ExitCode::refused,
     "the .NET runtime of {} allows no profiler beside its concurrent garbage collector"},
    // CORPROF_E_TIMEOUT_WAITING_FOR_CONCURRENT_GC
    {0x80131379, ExitCode::timeout,
     "a concurrent garbage collection of {} did not end in time; try again, or with a longer "
     "--timeout"},
    // CORDIAGIPC_E_BAD_ENCODING
    {0x80131384, ExitCode::refused,
     "the diagnostics port of {} could not read the request to load mixwalk.dll"},
    // CORDIAGIPC_E_UNKNOWN_COMMAND
    {0x80131385, ExitCode::not_dotnet,
     "the .NET runtime of {} is too old: its diagnostics port knows no request to load a profiler"},
    // CORDIAGIPC_E_UNKNOWN_MAGIC
    {0x80131386, ExitCode::not_dotnet,
     "the diagnostics port of {} speaks another protocol than DOTNET_IPC_V1"},
    // CORDIAGIPC_E_UNKNOWN_ERROR
    {0x80131387, ExitCode::refused,
     "the diagnostics port of {} refused to load mixwalk.dll and does not know why"},
    // COR_E_NOTSUPPORTED: the runtime was built without the attach of profilers.
    {0x80131515, ExitCode::not_dotnet,
     "the runtime of {} loads no profilers: it is a NativeAOT program, or runs on Mono"},
    // Windows' loader, which opens mixwalk.dll as the user of that process. Refusals for other reasons than the path
    // are in image_refusal.cpp.
    {0x80070002, ExitCode::refused, "{} does not find mixwalk.dll in the folder of mixwalk.exe"},
    {0x80070003, ExitCode::refused, "{} does not find the folder of mixwalk.exe"},
    {0x80070005, ExitCode::no_access,
     "{} may not read or may not load mixwalk.dll: copy mixwalk into a folder that the user of that process can "
     "read, such as one below C:\\Program Files; \"mixwalk doctor -p PID\" says whether a policy of the process is "
     "the cause"},
    {0x8007007E, ExitCode::refused,
     "{} does not find mixwalk.dll, or a DLL of Windows that it needs"},
    {0x80070008, ExitCode::no_memory, kNoMemory},  // ERROR_NOT_ENOUGH_MEMORY
    {0x800705AF, ExitCode::no_memory, kNoMemory},  // ERROR_COMMITMENT_LIMIT
    {0x8007000E, ExitCode::no_memory, kNoMemory},
    // Results of mixwalk.dll itself.
    {0x80070057, ExitCode::refused,
     "the mixwalk.dll that {} loaded does not understand its orders: it is not of this version of "
     "mixwalk"},
    {0x80004002, ExitCode::refused,
     "the .NET runtime of {} is too old for mixwalk.dll: it lacks an interface for profilers"},
    {0x80040111, ExitCode::refused,
     "the mixwalk.dll that {} loaded has another class: it is not of this version of mixwalk"},
};

constexpr DetachMeaning kDetach[] = {
    // CORPROF_E_UNSUPPORTED_CALL_SEQUENCE
    {0x80131363, "it takes no request to detach at this moment"},
    // CORPROF_E_PROFILER_DETACHING
    {0x80131367, "a detach is under way already"},
    // CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT
    {0x80131370, "code that it compiled for a profiler calls that profiler"},
    // CORPROF_E_RUNTIME_UNINITIALIZED
    {0x80131371, "it is ending"},
    // CORPROF_E_IMMUTABLE_FLAGS_SET
    {0x80131372,
     "a profiler that receives allocations stays loaded until the program ends"},
};

template <typename Meaning, std::size_t size>
const Meaning* meaning(const Meaning (&table)[size], std::uint32_t hresult) {
  const auto* found = std::ranges::find(table, hresult, &Meaning::hresult);
  return found == std::end(table) ? nullptr : found;
}

}  // namespace

Failure attach_refusal(const std::string& process, std::uint32_t hresult) {
  if (const auto* known = meaning(kAttach, hresult)) {
    return {known->code, fmt::format(fmt::runtime(known->text), process)};
  }
  const auto error = loader_error_in(hresult);
  if (const auto refusal = error ? image_refusal(*error, "mixwalk.exe and mixwalk.dll") : std::nullopt) {
    return {ExitCode::refused,
            fmt::format("{} cannot load mixwalk.dll (0x{:08X}): {}; \"mixwalk dump --outside\" loads "
                        "nothing into the process",
                        process, hresult, *refusal)};
  }
  return {ExitCode::refused,
          fmt::format("the .NET runtime of {} refused to load mixwalk.dll (0x{:08X})", process,
                      hresult)};
}

Failure occupied(Failure refusal, const std::string& process, bool by_mixwalk, bool waited) {
  if (by_mixwalk) refusal.message = "another mixwalk is still in " + process;
  refusal.message += waited ? ", and did not leave in the time of --wait" : ": --wait 30s waits until it has left";
  return refusal;
}

std::string detach_refusal(std::uint32_t hresult) {
  const auto* known = meaning(kDetach, hresult);
  return fmt::format("the runtime keeps mixwalk.dll loaded: {} (0x{:08X})",
                     known != nullptr ? known->text : "it does not say why", hresult);
}

}  // namespace mixwalk

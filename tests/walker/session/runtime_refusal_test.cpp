#include "walker/session/runtime_refusal.h"

#include <gtest/gtest.h>

#include <set>

namespace mixwalk {
namespace {

struct Case {
  std::uint32_t hresult;
  const char* name;  // in the runtime's corerror.h or in Windows' winerror.h
  ExitCode code;
  const char* says;
};

// Copied from those headers, one by one; the code under test does not use this table.
constexpr Case kCases[] = {
    {0x8013135B, "CORPROF_E_NOT_YET_AVAILABLE", ExitCode::not_started, "is still starting"},
    {0x80131363, "CORPROF_E_UNSUPPORTED_CALL_SEQUENCE", ExitCode::refused, "does not answer a profiler"},
    {0x80131364, "CORPROF_E_ASYNCHRONOUS_UNSAFE", ExitCode::refused, "holds a lock of its own"},
    {0x80131367, "CORPROF_E_PROFILER_DETACHING", ExitCode::already_profiled, "is just leaving"},
    {0x80131368, "CORPROF_E_PROFILER_NOT_ATTACHABLE", ExitCode::refused, "cannot be attached"},
    {0x8013136A, "CORPROF_E_PROFILER_ALREADY_ACTIVE", ExitCode::already_profiled,
     "another profiler is attached"},
    {0x8013136F, "CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER", ExitCode::refused,
     "mixwalk dump -- PROGRAM"},
    {0x80131371, "CORPROF_E_RUNTIME_UNINITIALIZED", ExitCode::not_started,
     "just starting or just ending"},
    {0x80131375, "CORPROF_E_PROFILER_CANCEL_ACTIVATION", ExitCode::refused, "chose not to start"},
    {0x80131376, "CORPROF_E_CONCURRENT_GC_NOT_PROFILABLE", ExitCode::refused,
     "allows no profiler beside"},
    {0x80131379, "CORPROF_E_TIMEOUT_WAITING_FOR_CONCURRENT_GC", ExitCode::timeout, "--timeout"},
    {0x80131384, "CORDIAGIPC_E_BAD_ENCODING", ExitCode::refused, "could not read the request"},
    {0x80131385, "CORDIAGIPC_E_UNKNOWN_COMMAND", ExitCode::not_dotnet, "too old"},
    {0x80131386, "CORDIAGIPC_E_UNKNOWN_MAGIC", ExitCode::not_dotnet, "another protocol"},
    {0x80131387, "CORDIAGIPC_E_UNKNOWN_ERROR", ExitCode::refused, "does not know why"},
    {0x80131515, "COR_E_NOTSUPPORTED", ExitCode::not_dotnet, "NativeAOT"},
    {0x80070002, "ERROR_FILE_NOT_FOUND", ExitCode::refused, "does not find mixwalk.dll in"},
    {0x80070003, "ERROR_PATH_NOT_FOUND", ExitCode::refused, "does not find the folder"},
    {0x80070005, "E_ACCESSDENIED", ExitCode::no_access, "may not load mixwalk.dll"},
    {0x8007007E, "ERROR_MOD_NOT_FOUND", ExitCode::refused, "or a DLL of Windows"},
    {0x800700C1, "ERROR_BAD_EXE_FORMAT", ExitCode::refused, "as a valid image"},
    {0x80070241, "ERROR_INVALID_IMAGE_HASH", ExitCode::refused, "sign mixwalk.exe and mixwalk.dll"},
    {0xD0000428, "STATUS_INVALID_IMAGE_HASH", ExitCode::refused, "sign mixwalk.exe and mixwalk.dll"},
    {0x800711C7, "ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION", ExitCode::refused, "application control policy"},
    {0x800704EC, "ERROR_ACCESS_DISABLED_BY_POLICY", ExitCode::refused, "AppLocker"},
    {0x800700E1, "ERROR_VIRUS_INFECTED", ExitCode::refused, "blocks it"},
    {0x800700E2, "ERROR_VIRUS_DELETED", ExitCode::refused, "removed it"},
    {0x8007045A, "ERROR_DLL_INIT_FAILED", ExitCode::refused, "could not be initialised"},
    {0x80070679, "ERROR_STRICT_CFG_VIOLATION", ExitCode::refused, "Control Flow Guard"},
    {0x8007000E, "E_OUTOFMEMORY", ExitCode::no_memory, "no memory left"},
    {0x80004002, "E_NOINTERFACE", ExitCode::refused, "lacks an interface"},
    {0x80070057, "E_INVALIDARG", ExitCode::refused, "does not understand its orders"},
    {0x80040111, "CLASS_E_CLASSNOTAVAILABLE", ExitCode::refused, "has another class"},
};

TEST(AttachRefusal, EachHasASentenceOfItsOwn) {
  std::set<std::string> sentences;
  for (const Case& one : kCases) {
    const Failure failure = attach_refusal("process 4711 (orders.exe)", one.hresult);
    EXPECT_EQ(failure.code, one.code) << one.name;
    EXPECT_NE(failure.message.find(one.says), std::string::npos) << one.name << failure.message;
    EXPECT_NE(failure.message.find("process 4711 (orders.exe)"), std::string::npos) << one.name;
    EXPECT_EQ(failure.message.find('\n'), std::string::npos) << one.name;
    EXPECT_TRUE(sentences.insert(failure.message).second) << one.name << " is another's sentence";
  }
}

// If another way than that of an attach can help, the sentence names it.
TEST(AttachRefusal, OfTheFileByWindowsNamesTheCodeAndTheLookFromOutside) {
  for (const std::uint32_t hresult : {0x80070241u, 0x800711C7u, 0x800704ECu, 0x800700E1u, 0x800700E2u, 0x80070679u}) {
    const std::string text = attach_refusal("process 4711", hresult).message;
    EXPECT_NE(text.find("--outside"), std::string::npos) << text;
    EXPECT_TRUE(text.starts_with("process 4711 cannot load mixwalk.dll (0x80")) << text;
  }
}

TEST(AttachRefusal, EveryFormOfTooLittleMemory) {
  for (const std::uint32_t hresult : {0x8007000Eu, 0x80070008u, 0x800705AFu}) {
    EXPECT_EQ(attach_refusal("process 4711", hresult).code, ExitCode::no_memory) << std::hex << hresult;
  }
}

TEST(AttachRefusal, AnUnknownOneIsShownByItsNumber) {
  const Failure failure = attach_refusal("process 4711", 0x80131350);
  EXPECT_EQ(failure.code, ExitCode::refused);
  EXPECT_EQ(failure.message,
            "the .NET runtime of process 4711 refused to load mixwalk.dll (0x80131350)");
}

TEST(DetachRefusal, EachSaysWhy) {
  const std::pair<std::uint32_t, const char*> cases[] = {
      {0x80131363, "at this moment"},
      {0x80131367, "under way already"},
      {0x80131370, "code that it compiled"},
      {0x80131371, "it is ending"},
      {0x80131372, "receives allocations"},
      {0x80004005, "does not say why (0x80004005)"},
  };
  for (const auto& [hresult, says] : cases) {
    EXPECT_NE(detach_refusal(hresult).find(says), std::string::npos) << detach_refusal(hresult);
  }
}

TEST(RuntimeRefusal, AnotherProfilerThatIsThereIsNamedWithWhatToDo) {
  const Failure other = attach_refusal("process 7 (a.exe)", 0x8013136A);
  EXPECT_EQ(occupied(other, "process 7 (a.exe)", false, false).message,
            "another profiler is attached to process 7 (a.exe) already: --wait 30s waits until it has left");
  EXPECT_EQ(occupied(other, "process 7 (a.exe)", true, false).message,
            "another mixwalk is still in process 7 (a.exe): --wait 30s waits until it has left");
  EXPECT_EQ(occupied(other, "process 7 (a.exe)", true, true).message,
            "another mixwalk is still in process 7 (a.exe), and did not leave in the time of --wait");
  EXPECT_EQ(occupied(other, "process 7 (a.exe)", true, false).code, ExitCode::already_profiled);
}

}  // namespace
}  // namespace mixwalk

// Garbage on both ends of the pipe: mixwalk.exe visits a process that is not a real target and sends arbitrary answers,
// and mixwalk.dll, in a real process, is sent nonsense.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/wine.h"
#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/exit_code.h"
#include "walker/session/clsid.h"
#include "walker/session/diagnostics_ipc.h"
#include "walker/session/pipe_name.h"
#include "walker/session/win/diagnostics_port.h"
#include "walker/session/win/pipe_io.h"

namespace mixwalk {
namespace {

// Valid messages, and their malicious variants. Deterministic.
class Garbage {
 public:
  explicit Garbage(unsigned seed) : random_(seed) {}

  std::string bytes(const Message& message) {
    std::string out = encode(message);
    switch (random_() % 5) {
      case 0:  // noise
        for (char& c : out) c = static_cast<char>(random_());
        break;
      case 1:  // some flipped bytes behind the length
        for (int i = 0; i < 4; ++i) out[kLengthBytes + random_() % (out.size() - kLengthBytes)] ^=
            static_cast<char>(1 + random_() % 255);
        break;
      case 2:  // longer than any message may be
        std::memset(out.data(), 0x7F, kLengthBytes);
        break;
      case 3:  // nothing at all
        std::memset(out.data(), 0, kLengthBytes);
        break;
      case 4:  // cut off
        out.resize(kLengthBytes + random_() % (out.size() - kLengthBytes));
        break;
    }
    return out;
  }

 private:
  std::mt19937 random_;
};

std::wstring diagnostics_port_of(DWORD process_id) {
  return L"\\\\.\\pipe\\dotnet-diagnostic-" + std::to_wstring(process_id);
}

UniqueHandle serve(const std::wstring& name) {
  return UniqueHandle(CreateNamedPipeW(name.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED,
                                       PIPE_TYPE_BYTE | PIPE_WAIT, 2, 4096, 4096, 0, nullptr));
}

// A reply of the diagnostics port, with the result of the attach.
std::string attach_reply(std::uint32_t hresult) {
  std::string reply("DOTNET_IPC_V1\0", 14);
  reply += std::string("\x18\x00\xFF\x00\x00\x00", 6);
  for (int i = 0; i < 4; ++i) reply += static_cast<char>(hresult >> (8 * i));
  return reply;
}

// Returns the name of the pipe from an attach request: it is in the client data, at the request's end.
std::wstring pipe_name_in(const std::string& request) {
  const auto at = request.find("\\\\.\\pipe\\mixwalk-");
  return at == std::string::npos ? std::wstring() : to_utf16(std::string_view(request).substr(at));
}

// This test process plays a .NET process: it accepts one attach at the diagnostics port, answers it, sends `talk`
// through the pipe with the name from the request, with a pause before each part but the first, and then waits until
// mixwalk.exe has left.
void be_a_target(UniqueHandle diagnostics_port, const std::string& reply, const std::vector<std::string>& talk,
                 DWORD pause_ms) {
  const Deadline deadline(20'000);
  PipeIo port(std::move(diagnostics_port), nullptr);
  // mixwalk.exe first looks whether there is such a pipe. Wine counts no connection for that check.
  ASSERT_EQ(port.accept(deadline), IoResult::ok);
  std::string request(kIpcHeaderBytes, '\0');
  ASSERT_EQ(port.read(request.data(), request.size(), deadline), IoResult::ok);
  const auto bytes = ipc_message_bytes(request);
  ASSERT_TRUE(bytes);
  request.resize(*bytes);
  ASSERT_EQ(port.read(request.data() + kIpcHeaderBytes, *bytes - kIpcHeaderBytes, deadline),
            IoResult::ok);
  port.write(reply.data(), reply.size(), deadline);
  if (talk.empty()) return;
  const UniqueHandle pipe(CreateFileW(pipe_name_in(request).c_str(), GENERIC_READ | GENERIC_WRITE, 0,
                                      nullptr, OPEN_EXISTING, 0, nullptr));
  ASSERT_TRUE(pipe);
  DWORD count = 0;
  for (const std::string& part : talk) {
    if (&part != talk.data()) Sleep(pause_ms);
    WriteFile(pipe.get(), part.data(), static_cast<DWORD>(part.size()), &count, nullptr);
  }
  char unused[256];
  while (ReadFile(pipe.get(), unused, sizeof unused, &count, nullptr) && count != 0) {
  }
}

ProgramResult visit_this_process(const std::string& reply, const std::vector<std::string>& talk, DWORD pause_ms,
                                 const std::string& timeout) {
  UniqueHandle port = serve(diagnostics_port_of(GetCurrentProcessId()));
  EXPECT_TRUE(port) << GetLastError();
  std::thread target([&]() { be_a_target(std::move(port), reply, talk, pause_ms); });
  const ProgramResult result = run_program({mixwalk_exe(), "dump", "--no-locks", "--timeout", timeout, "-p",
                                            std::to_string(GetCurrentProcessId())});
  target.join();
  return result;
}
ProgramResult visit_this_process(const std::string& reply, const std::string& talk) {
  std::vector<std::string> parts;
  if (!talk.empty()) parts.push_back(talk);
  return visit_this_process(reply, parts, 0, "2s");
}

void expect_one_line(const ProgramResult& result, const std::vector<ExitCode>& codes) {
  SCOPED_TRACE(std::to_string(result.exit_code) + ": " + result.err);
  EXPECT_NE(std::find(codes.begin(), codes.end(), static_cast<ExitCode>(result.exit_code)),
            codes.end());
  EXPECT_TRUE(result.err.starts_with("mixwalk: "));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST(DiagnosticsPort, OfAProcessThatHasEndedIsNoPortOfAnotherProgram) {
  ChildProcess ended({mixwalk_exe(), "--version"});
  ended.read_line();
  ASSERT_EQ(ended.wait(30'000), 0u);
  const auto reply = ask_diagnostics_port(ended.id(), ended.handle(), std::string(64, 'x'), Deadline(10'000));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.failure().code, ExitCode::target_exited) << reply.failure().message;
}

// The runtime creates an instance of its port, and only then asks to be notified of its client: a client that connects
// in between makes the port unreachable for good.
TEST(DiagnosticsPort, IsNotConnectedToInTheMomentThatItIsMade) {
  const std::wstring name = diagnostics_port_of(GetCurrentProcessId());
  constexpr int kTimes = 10;
  int in_between = 0;
  for (int i = 0; i < kTimes; ++i) {
    UniqueHandle taken = serve(name);
    const UniqueHandle other(CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                                         OPEN_EXISTING, 0, nullptr));
    ASSERT_TRUE(other);
    std::thread client([] {
      const auto reply = ask_diagnostics_port(GetCurrentProcessId(), nullptr, std::string(64, 'x'),
                                              Deadline(10'000));
      EXPECT_FALSE(reply);
    });
    Sleep(30);  // mixwalk.exe has seen that all instances are taken
    UniqueHandle next = serve(name);
    Sleep(10);  // far longer than the runtime needs
    OVERLAPPED overlapped{};
    const UniqueHandle event(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    overlapped.hEvent = event.get();
    ConnectNamedPipe(next.get(), &overlapped);
    if (GetLastError() == ERROR_PIPE_CONNECTED) {
      ++in_between;
    } else {
      EXPECT_EQ(WaitForSingleObject(event.get(), 10'000), WAIT_OBJECT_0) << "it comes later";
    }
    next.reset();
    client.join();
  }
  // A busy machine may delay mixwalk.exe now and then.
  EXPECT_LE(in_between, kTimes / 3);
}

TEST(HostileTarget, AnswersTheAttachWithNonsense) {
  expect_one_line(visit_this_process(std::string(64, '\xA5'), ""), {ExitCode::refused});
  expect_one_line(visit_this_process(attach_reply(0).substr(0, 9), ""),
                  {ExitCode::refused, ExitCode::timeout});
  expect_one_line(visit_this_process(attach_reply(0x80004005), ""), {ExitCode::refused});
}

TEST(HostileTarget, SaysYesAndNothingMore) {
  expect_one_line(visit_this_process(attach_reply(0), ""), {ExitCode::timeout});
}

TEST(HostileTarget, TalksNonsense) {
  Garbage garbage(4713);
  const Message hello = Hello{kProtocolVersion, {7, "C:\\x.exe", "x"}, {".NET", 10, 0, 0, 0}};
  Thread thread{.os_id = 7};
  thread.stack.frames.push_back(Frame{.module = 1'000'000});
  // The talks are a wrong version, a message in the wrong order, and a thread whose module was not sent before.
  const std::vector<std::string> talks = {
      encode(Hello{kProtocolVersion + 1, {}, {}}), encode(DumpDone{}),
      encode(hello) + encode(Detached{}), encode(hello) + encode(thread)};
  for (const std::string& talk : talks) {
    expect_one_line(visit_this_process(attach_reply(0), talk), {ExitCode::refused});
  }
  for (int i = 0; i < 12; ++i) {
    const std::string talk = (i % 2 == 0 ? std::string() : encode(hello)) + garbage.bytes(hello);
    // A cut message looks like a message that is still incomplete, and a flipped byte may do no harm.
    expect_one_line(visit_this_process(attach_reply(0), talk),
                    {ExitCode::refused, ExitCode::timeout});
  }
}

// The process has many threads, or the machine is busy, but the process answers all the time.
TEST(SlowTarget, MayNeedLongerForADumpThanForAnAnswer) {
  const DWORD pause_ms = 2'000;
  const Hello hello{kProtocolVersion, {7, "C:\\x.exe", "x"}, {".NET", 10, 0, 0, 0}, GetCurrentThreadId()};
  std::vector<std::string> talk = {encode(hello)};
  for (std::uint32_t i = 0; i < 3; ++i) talk.push_back(encode(Thread{.os_id = 700 + i}));
  talk.push_back(encode(DumpDone{}) + encode(Detached{}));
  const ProgramResult result = visit_this_process(attach_reply(0), talk, pause_ms, "6s");
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_NE(result.out.find("\n3 threads: "), std::string::npos) << result.out;
}

// An image of this process under another path, and a thread whose frame is in one of its exports.
std::string dump_with_image(HMODULE image, const std::string& path, const void* address) {
  const auto base = reinterpret_cast<std::uint64_t>(image);
  const auto* dos = reinterpret_cast<const IMAGE_DOS_HEADER*>(base);
  const auto* nt = reinterpret_cast<const IMAGE_NT_HEADERS64*>(base + dos->e_lfanew);
  Thread thread{.os_id = GetCurrentThreadId()};
  thread.stack.frames.push_back(Frame{.address = reinterpret_cast<std::uint64_t>(address), .module = 0});
  return encode(Hello{kProtocolVersion, {GetCurrentProcessId(), "C:\\x.exe", "x"},
                      {".NET", 10, 0, 0, 0}, GetCurrentThreadId()}) +
         encode(Module{base, nt->OptionalHeader.SizeOfImage, nt->FileHeader.TimeDateStamp, path}) +
         encode(thread) + encode(DumpDone{}) + encode(Detached{});
}

// Uses an image that this process has loaded, and the address of one of its exports.
class HostileTargetsImage : public testing::Test {
 protected:
  HostileTargetsImage() {
    WCHAR text[MAX_PATH] = {};
    GetFullPathNameW(to_utf16(fixture("ladder_native.dll")).c_str(), MAX_PATH, text, nullptr);
    path_ = to_utf8(text);
    image_ = LoadLibraryW(text);
    address_ = reinterpret_cast<const void*>(GetProcAddress(image_, "ladder_native_call"));
  }
  ~HostileTargetsImage() override { FreeLibrary(image_); }
  void SetUp() override { ASSERT_NE(address_, nullptr); }

  ProgramResult visit_of_image_at(const std::string& path) const {
    return visit_this_process(attach_reply(0), dump_with_image(image_, path, address_));
  }

  std::string path_;
  HMODULE image_ = nullptr;
  const void* address_ = nullptr;
};

TEST_F(HostileTargetsImage, IsOnADrive) {
  const ProgramResult result = visit_of_image_at(path_);
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_NE(result.out.find("ladder_native_call"), std::string::npos) << result.out;
}

// The target chooses the path that it reports for an image. mixwalk.exe must not open a path that leads to another
// machine or to a device. If it did, the file there would name the frame.
TEST_F(HostileTargetsImage, IsOnNoDrive) {
  MIXWALK_ONLY_UNDER_WINE("the device is Wine's, for files of the machine that it runs on: it needs no server");
  ASSERT_TRUE(path_.starts_with("Z:\\")) << path_;
  const std::string device = "\\\\?\\unix" + path_.substr(2);
  ASSERT_NE(GetFileAttributesW(to_utf16(device).c_str()), INVALID_FILE_ATTRIBUTES) << device;
  const ProgramResult result = visit_of_image_at(device);
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_NE(result.out.find("ladder_native.dll!0x"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("ladder_native_call"), std::string::npos) << result.out;
}

// Returns what a client writes to a pipe until it disconnects; the result is empty if no client comes.
std::string bytes_written_to(PipeIo& pipe, const Deadline& deadline) {
  std::string bytes;
  if (pipe.accept(deadline) != IoResult::ok) return bytes;
  for (char byte; pipe.read(&byte, 1, deadline) == IoResult::ok;) bytes += byte;
  return bytes;
}

// This process creates the pipe of another process's diagnostics port, and would get the visitor's rights. It must
// receive no byte, and mixwalk must say that the other process is not a .NET process.
TEST(SquattedPort, IsNotSpokenTo) {
  ChildProcess native({"C:\\windows\\system32\\cmd.exe"});
  const std::string id = std::to_string(native.id());
  const std::vector<std::vector<std::string>> visits = {
      {mixwalk_exe(), "dump", "--timeout", "2s", "-p", id},
      {mixwalk_exe(), "record", "--timeout", "2s", "-d", "1s", "-p", id, "-o",
       temporary_file("squatted.mixwalk")}};
  for (const auto& visit : visits) {
    PipeIo squatted(serve(diagnostics_port_of(native.id())), nullptr);
    std::string bytes;
    std::thread server([&] { bytes = bytes_written_to(squatted, Deadline(10'000)); });
    const ProgramResult result = run_program(visit);
    server.join();
    EXPECT_EQ(bytes.size(), 0u) << bytes;
    expect_one_line(result, {ExitCode::not_dotnet});
    EXPECT_NE(result.err.find("process " + std::to_string(GetCurrentProcessId()) + " serves"),
              std::string::npos)
        << result.err;
  }
}

TEST(SquattedPort, IsNotListed) {
  ChildProcess native({"C:\\windows\\system32\\cmd.exe"});
  PipeIo squatted(serve(diagnostics_port_of(native.id())), nullptr);
  std::string bytes;
  std::thread server([&] { bytes = bytes_written_to(squatted, Deadline(20'000)); });
  const ProgramResult result = run_program({mixwalk_exe(), "ps"});
  server.join();
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  EXPECT_EQ(bytes.size(), 0u) << bytes;
  EXPECT_EQ(result.out.find("cmd.exe"), std::string::npos) << result.out;
}

// Attaches mixwalk.dll, and tells it to connect to the pipe with this name.
bool attach_dll(const ChildProcess& target, const std::wstring& pipe_name,
                const Deadline& deadline) {
  std::string dll = mixwalk_exe();
  dll.replace(dll.size() - 3, 3, "dll");
  const std::wstring path = to_utf16(dll);
  AttachRequest request{.timeout_ms = 10'000,
                        .profiler_path = std::u16string(path.begin(), path.end()),
                        .client_data = to_utf8(pipe_name)};
  std::memcpy(request.clsid.data(), &kProfilerClsid, sizeof kProfilerClsid);
  // The DLL of the visit before may still be leaving.
  while (true) {
    const auto reply =
        ask_diagnostics_port(target.id(), target.handle(), *encode_attach(request), deadline);
    if (reply && reply->ok) return true;
    if (deadline.remaining_ms() == 0) return false;
  }
}

// The pipe's name says which process must serve the pipe. The DLL must send nothing to another process, and leave.
TEST(SquattedSession, IsNotSpokenTo) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const unsigned char random[kPipeRandomBytes] = {};
  const std::wstring name = session_pipe_name(hang.id(), random);
  PipeIo squatted(serve(name), nullptr);
  std::string bytes;
  std::thread server([&] { bytes = bytes_written_to(squatted, Deadline(5'000)); });
  EXPECT_TRUE(attach_dll(hang, name, Deadline(20'000)));
  server.join();
  EXPECT_EQ(bytes.size(), 0u);
  const ProgramResult result = run_until_let_in({"dump", "-p", std::to_string(hang.id())});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

// Plays a visitor that attaches properly and then sends `talk`. Returns whether the DLL ended the talk.
bool talk_to_dll(const ChildProcess& target, const std::string& talk) {
  static unsigned char visits[kPipeRandomBytes] = {};
  ++visits[0];
  const std::wstring name = session_pipe_name(GetCurrentProcessId(), visits);
  PipeIo pipe(serve(name), target.handle());
  const Deadline deadline(20'000);
  if (!attach_dll(target, name, deadline)) return false;
  if (pipe.accept(deadline) != IoResult::ok) return false;
  pipe.write(talk.data(), talk.size(), deadline);
  // The DLL waits for the rest of a truncated message as long as the visitor lives, so this visitor ends the
  // connection.
  char byte;
  const Deadline soon(500);
  IoResult result;
  do {
    result = pipe.read(&byte, 1, soon);
  } while (result == IoResult::ok);
  return result == IoResult::closed;
}

TEST(HostileVisitor, TalksNonsense) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  Garbage garbage(4714);
  EXPECT_TRUE(talk_to_dll(hang, encode(DumpDone{}))) << "a message out of place";
  EXPECT_TRUE(talk_to_dll(hang, std::string(64, '\xFF')));
  for (int i = 0; i < 10; ++i) {
    talk_to_dll(hang, garbage.bytes(DumpRequest{.canary_prefix = "x", .thread_ids = {1, 2, 3}}));
    ASSERT_TRUE(hang.running()) << "after visitor " << i;
  }
  // The next visitor is admitted, and finds that every thread works as before.
  const ProgramResult result = run_until_let_in({"dump", "-p", std::to_string(hang.id())});
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

}  // namespace
}  // namespace mixwalk

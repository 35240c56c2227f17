#include <fmt/format.h>
#include <io.h>
#include <spdlog/spdlog.h>
#include <windows.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "unmanaged/minidump/whole_dump.h"
#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/count_words.h"
#include "walker/base/partial_file.h"
#include "walker/cli/output/frozen_words.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"
#include "walker/cli/win/command.h"
#include "walker/cli/win/console.h"
#include "walker/cli/win/dump_outside.h"
#include "walker/cli/win/visit.h"
#include "walker/outside/writing/minidump_memory.h"
#include "walker/outside/writing/minidump_writer.h"
#include "walker/session/win/processes.h"
#include "walker/target/win/readable_process.h"

namespace mixwalk {
namespace {

// How often Ctrl-C is checked and the progress line written.
constexpr DWORD kWaitMs = 100;
// How long the console's event waits until the process runs again and the file is removed.
constexpr DWORD kLeaveMs = 4000;
// The exit code of a program that Ctrl-C ended.
constexpr int kControlC = static_cast<int>(0xC000013A);

HANDLE g_stop = nullptr, g_process_resumed = nullptr;

// Nothing may end mixwalk.exe while the process is suspended.
BOOL WINAPI on_console_event(DWORD event) {
  SetEvent(g_stop);
  // For all other events, the system ends mixwalk.exe as soon as this function returns.
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) WaitForSingleObject(g_process_resumed, kLeaveMs);
  return TRUE;
}

// Lives until mixwalk.exe has resumed the process and closed the file. Its destructor sets g_process_resumed.
struct Work {
  ~Work() { SetEvent(g_process_resumed); }
};

std::string mib(std::uint64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

HANDLE handle_of(const PartialFile& file) {
  return reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file.stream())));
}

std::string utf8_of(const std::filesystem::path& path) { return to_utf8(path.native()); }

// The reason why the dump does not fit on the disk. To be called before anything is suspended. Returns nothing if the
// dump fits, or if the system does not say how much room there is.
std::optional<std::string> no_room(const std::filesystem::path& path, std::uint64_t bytes) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(path, error).parent_path();
  ULARGE_INTEGER free{};
  if (error || !GetDiskFreeSpaceExW(folder.c_str(), &free, nullptr, nullptr) || free.QuadPart >= bytes) {
    return std::nullopt;
  }
  return fmt::format("the process has {} of memory, and the disk has room for {}", mib(bytes), mib(free.QuadPart));
}

std::uint64_t size_of(HANDLE file) {
  LARGE_INTEGER size{};
  return GetFileSizeEx(file, &size) ? static_cast<std::uint64_t>(size.QuadPart) : 0;
}

ExitCode write(const MinidumpCommand& command, std::uint32_t id, HANDLE process, PartialFile& file) {
  const std::uint64_t all = dumped_bytes(process);
  if (const auto why = no_room(file.written(), all)) return print_failure(unwritable_output(command.output, *why));
  const std::string named = describe_process(id);
  spdlog::info("writing {} of {}", mib(all), named);
  if (const std::string& why = file.begin(); !why.empty()) {
    return print_failure(unwritable_output(command.output, why));
  }
  watch_suspensions_of(id);
  auto writer = MinidumpWriter::start(process, id, handle_of(file));
  const auto ended = [&] { return WaitForSingleObject(process, 0) == WAIT_OBJECT_0; };
  const auto report_end = [&] {
    return print_failure({ExitCode::target_exited, named + " ended while its dump was written"});
  };
  if (!writer) return ended() ? report_end() : print_failure(writer.failure());
  ProgressLine line(progress_terminal());
  while (!writer->wait(kWaitMs)) {
    if (WaitForSingleObject(g_stop, 0) == WAIT_OBJECT_0) {
      writer->cancel();
      line.clear();
      print_failure({ExitCode::ok, "\"" + command.output + "\" is not written; " + named + " runs on"});
      return static_cast<ExitCode>(kControlC);
    }
    const std::uint64_t done = size_of(handle_of(file));
    if (done != 0) line.show(fmt::format("writing: {} of {}", mib(done), mib(std::max(done, all))));
  }
  line.clear();
  const std::uint64_t size = size_of(handle_of(file));
  std::string why = writer->error();
  if (why.empty()) why = file.close();
  if (why.empty()) why = why_not_whole(utf8_of(file.written()));
  const bool cloned = writer->why_no_clone().empty();
  if (!why.empty() && !cloned && ended()) return report_end();
  if (why.empty()) why = file.commit();
  if (!why.empty()) return print_failure(unwritable_output(command.output, why));
  if (!cloned) spdlog::info("{} stood until all was written: {}", named, writer->why_no_clone());
  return print_failure({ExitCode::ok, fmt::format("{}: {}; {} of {} {}", written_words(command.output, file.replaces()),
                                                  mib(size), count_words(writer->threads(), "thread"), named,
                                                  frozen_words(writer->frozen_ns(), cloned))});
}

}  // namespace

ExitCode run(const MinidumpCommand& command) {
  const auto id = process_of(command.target);
  if (!id) return print_failure(id.failure());
  g_stop = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  g_process_resumed = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  SetConsoleCtrlHandler(&on_console_event, TRUE);
  const Work work;
  const auto process = open_readable(MinidumpWriter::kRights, *id);
  if (!process) return print_failure(process.failure());
  PartialFile file(command.output);
  if (!file.error().empty()) return print_failure(unwritable_output(command.output, file.error()));
  if (GetFileType(handle_of(file)) != FILE_TYPE_DISK) {
    return print_failure(unwritable_output(command.output, "not a file"));
  }
  return write(command, *id, process->get(), file);
}

}  // namespace mixwalk

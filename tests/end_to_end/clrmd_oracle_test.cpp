// Dumps that mixwalk has written are read by mixwalk and by ClrMD. ClrMD is Microsoft's library for dumps. It asks the
// same debugging library as mixwalk, but in its own way. The managed frames of all threads must be the same, frame by
// frame, and so must the tasks of the heap, with what they wait for.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/end_to_end/hanging_program.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/scoped_environment.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

struct ManagedFrame {
  std::string method;  // "Namespace.Type.Method", without generic arguments and parameters
  std::uint64_t ip = 0, sp = 0;
  bool called_native = false;  // only set for mixwalk's frames: the frame above is not a managed one
};
using Threads = std::map<std::uint32_t, std::vector<ManagedFrame>>;

// mixwalk and ClrMD write generic arguments and parameters differently: List`1[[…]], List<…>.
std::string plain(const std::string& method) {
  std::string text;
  int depth = 0;
  for (const char c : method) {
    if (c == '(' && depth == 0) break;
    depth -= c == '>' || c == ']';
    if (depth == 0 && c != '>' && c != ']' && c != '<' && c != '[') text += c;
    depth += c == '<' || c == '[';
  }
  std::string without_arity;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '`') {
      without_arity += text[i];
      continue;
    }
    while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') ++i;
  }
  return without_arity;
}

std::uint64_t number(const Json& hex) { return std::stoull(hex.get<std::string>(), nullptr, 16); }

// Includes managed frames, and stubs that the runtime treats as methods (IL_STUB_PInvoke).
Threads by_mixwalk(const Json& dump) {
  Threads threads;
  for (const Json& thread : dump.at("threads")) {
    auto& frames = threads[thread.at("os_id").get<std::uint32_t>()];
    bool called_native = true;
    for (const Json& frame : thread.at("frames")) {
      const auto kind = frame.at("kind").get<std::string>();
      if (frame.value("inline_depth", 0) != 0) continue;
      const bool managed = kind == "managed" || (kind == "stub" && frame.at("name").is_string());
      if (managed) {
        const auto name = frame.at("name").is_string() ? frame.at("name").get<std::string>() : "(no name)";
        frames.push_back({plain(name), number(frame.at("address")), number(frame.at("stack_pointer")), called_native});
      }
      called_native = !managed;
    }
  }
  return threads;
}

Threads by_clrmd(const std::string& lines) {
  Threads threads;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    const Json thread = Json::parse(line);
    if (!thread.contains("thread")) continue;
    auto& frames = threads[thread.at("thread").get<std::uint32_t>()];
    for (const Json& frame : thread.at("frames")) {
      const auto signature = frame.at("signature").is_string() ? frame.at("signature").get<std::string>() : "";
      std::string method = plain(signature);
      // The types to which the runtime assigns its stubs and the methods that were made at run time; a program has no
      // such types. (orders-demo binds its dynamic calls anew now and then, so a dump may contain CallSite.Target.)
      for (const std::string_view type : {"ILStubClass.", "DynamicClass."}) {
        if (method.starts_with(type)) method.erase(0, type.size());
      }
      frames.push_back({method, number(frame.at("ip")), number(frame.at("sp")), false});
    }
  }
  return threads;
}

std::string text_of(const std::vector<ManagedFrame>& frames) {
  std::ostringstream text;
  text << std::hex;
  for (const ManagedFrame& frame : frames) {
    text << "  " << frame.ip << ' ' << frame.sp << ' ' << frame.method
         << (frame.called_native ? " (called native)" : "") << '\n';
  }
  return text.str();
}

// The known differences between the two for a frame that has called native code.
struct Differences {
  std::size_t frames = 0;  // the number of frames that were compared
  // ClrMD has the ip from the runtime's InlinedCallFrame, some bytes before the return address.
  std::size_t ip_before_return = 0;
  // ClrMD's Rsp is that of the InlinedCallFrame's call. If the method has allocated memory on the stack (localloc) or
  // pushed arguments, the frame's own Rsp is lower.
  std::size_t sp_above = 0;
};

constexpr std::uint64_t kMaxBeforeReturn = 64;

void compare(const std::vector<ManagedFrame>& ours, const std::vector<ManagedFrame>& theirs, Differences& differences) {
  ASSERT_EQ(ours.size(), theirs.size()) << text_of(ours) << "ClrMD:\n" << text_of(theirs);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const ManagedFrame& our = ours[i];
    const ManagedFrame& their = theirs[i];
    ++differences.frames;
    EXPECT_EQ(our.method, their.method) << text_of({our, their});
    if (our.ip != their.ip) {
      ++differences.ip_before_return;
      EXPECT_TRUE(our.called_native && their.ip < our.ip && our.ip - their.ip <= kMaxBeforeReturn)
          << text_of({our, their});
    }
    if (our.sp != their.sp) {
      ++differences.sp_above;
      const bool inside_frame = i + 1 == ours.size() || their.sp < ours[i + 1].sp;
      EXPECT_TRUE(our.called_native && their.sp > our.sp && inside_frame) << text_of({our, their});
    }
  }
}

struct Program {
  const char* name;
  std::vector<std::string> arguments;
  std::size_t least_frames;
};

class SameDump : public testing::TestWithParam<Program> {};

TEST_P(SameDump, ManagedFramesAreThoseOfClrMd) {
  std::vector<std::string> arguments = {fixture(GetParam().name + std::string(".exe"))};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  ChildProcess program(arguments);
  const std::string ready = program.read_line().value_or("");
  ASSERT_TRUE(ready.starts_with("READY") || ready.starts_with("PARKED")) << ready;
  const std::string path = temporary_file("clrmd_oracle_test.dmp");
  const ProgramResult written =
      run_program({mixwalk_exe(), "dump", "-p", std::to_string(program.id()), "-o", path}, 200'000);
  program.terminate();
  ASSERT_EQ(written.exit_code, 0u) << written.err;

  const ProgramResult own = run_program({mixwalk_exe(), "dump", path, "-f", "json"}, 200'000);
  const ScopedEnvironment environment(dynamic_methods_may_end());
  const ProgramResult oracle = run_program({fixture("clrmd_oracle.exe"), path, fixture("mscordaccore.dll")}, 200'000);
  remove_file(path);
  ASSERT_EQ(own.exit_code, 0u) << own.err;
  ASSERT_EQ(oracle.exit_code, 0u) << oracle.err;
  const Threads ours = by_mixwalk(Json::parse(own.out));
  const Threads theirs = by_clrmd(oracle.out);
  ASSERT_FALSE(theirs.empty());
  Differences differences;
  for (const auto& [id, frames] : theirs) {
    SCOPED_TRACE(id);
    ASSERT_TRUE(ours.contains(id));
    compare(ours.at(id), frames, differences);
  }
  // Threads that ClrMD does not list have no managed frames.
  for (const auto& [id, frames] : ours) EXPECT_TRUE(frames.empty() || theirs.contains(id)) << text_of(frames);
  EXPECT_GE(differences.frames, GetParam().least_frames);
  EXPECT_LT(differences.ip_before_return + differences.sp_above, differences.frames / 2);
  RecordProperty("frames", static_cast<int>(differences.frames));
  std::printf("%s: %zu frames; ip before the return address %zu, sp above %zu\n", GetParam().name, differences.frames,
              differences.ip_before_return, differences.sp_above);
  std::printf("ClrMD: %s", oracle.out.substr(oracle.out.rfind('{')).c_str());
}

INSTANTIATE_TEST_SUITE_P(, SameDump,
                         testing::Values(Program{"hang", {}, 1000},
                                         Program{"ladder", {"--chains", "1", "--threads", "8", "--seed", "5", "--out",
                                                            temporary_file("clrmd_chain.json")}, 150},
                                         Program{"orders-demo", {}, 20}, Program{"sqlite", {}, 30}),
                         [](const auto& info) { return std::string(info.param.name).substr(0, 6); });

// A program with tasks, and the folder of its runtime.
struct TaskProgram {
  const char* name;
  std::vector<std::string> line;
  std::string folder;
  std::size_t least_open, least_edges;
};

class SameTasks : public testing::TestWithParam<TaskProgram> {
 protected:
  // Both readings of one dump. While the runtime moves objects, no reader can walk through the heap, so the next dump
  // is taken.
  void read() {
    std::vector<std::string> line = GetParam().line;
    line.front() = fixture(line.front());
    ChildProcess program(line, StartOptions{.environment = {{"DOTNET_PROCESSOR_COUNT", "4"}}});
    ASSERT_TRUE(read_until_ready(program));
    const std::string path = temporary_file("clrmd_tasks.dmp");
    const std::string library = fixture(GetParam().folder + "mscordaccore.dll");
    for (bool walkable = false; !walkable;) {
      const ProgramResult written =
          run_program({mixwalk_exe(), "dump", "-p", std::to_string(program.id()), "-o", path}, 200'000);
      ASSERT_EQ(written.exit_code, 0u) << written.err;
      const ScopedEnvironment environment(dynamic_methods_may_end());
      const ProgramResult oracle = run_program({fixture("clrmd_oracle.exe"), path, library, "--tasks"}, 200'000);
      ASSERT_EQ(oracle.exit_code, 0u) << oracle.err;
      walkable = oracle.out.find("\"heap_can_be_walked\":true") != std::string::npos;
      if (walkable) theirs_ = by_address(oracle.out);
    }
    program.terminate();
    const ProgramResult own = run_program({mixwalk_exe(), "dump", path, "--async", "-f", "json"}, 200'000);
    remove_file(path);
    ASSERT_EQ(own.exit_code, 0u) << own.err;
    ours_ = Json::parse(own.out);
    ASSERT_TRUE(ours_.contains("tasks")) << own.err;
    for (const Json& task : ours_.at("tasks")) own_.emplace(number(task.at("address")), task);
    ASSERT_EQ(own_.size(), ours_.at("tasks").size());
  }

  static std::map<std::uint64_t, Json> by_address(const std::string& lines) {
    std::map<std::uint64_t, Json> tasks;
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);) {
      const Json task = Json::parse(line);
      if (task.contains("task")) tasks[number(task.at("task"))] = task;
    }
    return tasks;
  }

  static bool is_open(const Json& status) { return status == "waiting" || status == "queued" || status == "running"; }

  std::set<std::uint64_t> awaited_by(const Json& task) const {
    std::set<std::uint64_t> addresses;
    for (const Json& index : task.value("awaits", Json::array())) {
      addresses.insert(number(ours_.at("tasks").at(index.get<std::size_t>()).at("address")));
    }
    return addresses;
  }

  Json ours_;
  std::map<std::uint64_t, Json> own_, theirs_;
};

TEST_P(SameTasks, TasksAreThoseOfClrMd) {
  ASSERT_NO_FATAL_FAILURE(read());
  // No reference leads from a WhenAll to its tasks, so they are known by their continuations.
  std::map<std::uint64_t, std::set<std::uint64_t>> continued_by;
  std::set<std::uint64_t> value_sources;
  std::size_t open = 0, edges = 0, contexts = 0;
  for (const auto& [address, task] : theirs_) {
    if (task.at("awaits").is_string()) value_sources.insert(number(task.at("awaits")));
    if (task.at("status") != "open") continue;
    ++open;
    EXPECT_TRUE(own_.contains(address)) << "mixwalk does not have " << task;
    for (const Json& continuation : task.at("continuations")) {
      if (continuation.at("runs").is_string()) continued_by[number(continuation.at("runs"))].insert(address);
    }
  }
  for (const auto& [address, task] : own_) {
    SCOPED_TRACE(task.dump());
    const auto found = theirs_.find(address);
    if (found == theirs_.end()) {
      EXPECT_TRUE(value_sources.contains(address)) << "ClrMD has no such task";
      continue;
    }
    const Json& their = found->second;
    SCOPED_TRACE(their.dump());
    const Json& status = task.at("status");
    if (their.at("status").is_string()) {
      EXPECT_EQ(is_open(status) ? Json("open") : status, their.at("status"));
    }
    if (!is_open(status)) continue;
    const std::set<std::uint64_t> awaited = awaited_by(task);
    if (their.at("machine").is_string()) {
      EXPECT_EQ(task.at("kind"), "async-method");
      EXPECT_EQ(task.value("await_number", -1), std::max(their.at("state").get<int>(), -1));
    }
    if (their.at("machine").is_string() || their.at("awaits").is_string()) {
      std::set<std::uint64_t> expected;
      if (their.at("awaits").is_string()) expected.insert(number(their.at("awaits")));
      EXPECT_EQ(awaited, expected);
      edges += expected.size();
    } else if (task.at("kind") == "when-all") {
      // The tasks that have ended are no longer known.
      std::set<std::uint64_t> still;
      for (const std::uint64_t one : awaited) {
        if (is_open(own_.at(one).at("status"))) still.insert(one);
      }
      EXPECT_EQ(still, continued_by[address]);
      edges += still.size();
    }
    std::set<Json> posted_to;
    for (const Json& continuation : their.at("continuations")) posted_to.insert(continuation.at("context"));
    posted_to.erase(nullptr);
    if (posted_to.empty()) {
      EXPECT_FALSE(task.contains("continues_on"));
    } else if (posted_to.size() == 1) {
      ASSERT_TRUE(task.contains("continues_on"));
      EXPECT_EQ(number(ours_.at("contexts").at(task.at("continues_on").get<std::size_t>()).at("address")),
                number(*posted_to.begin()));
      ++contexts;
    }
  }
  EXPECT_GE(open, GetParam().least_open);
  EXPECT_GE(edges, GetParam().least_edges);
  std::printf("%s: %zu tasks have not ended, %zu edges, %zu continuations in contexts\n", GetParam().name, open, edges,
              contexts);
}

constexpr const char* kTaskWays =
    "result-in-context+result-in-asked-context+monitor-and-context+crossed-async-semaphores+write-while-reading+"
    "forgotten-source+when-all+value-source+full-channel+timer+process-output+pool-waits";

TaskProgram hangs(const char* name, const std::string& folder, const std::string& program) {
  return {name, {folder + program, "--way", kTaskWays}, folder, 20, 15};
}

// Debug and Release builds of each runtime; on a run without MIXWALK_TASK_MATRIX, one build of each.
std::vector<TaskProgram> task_programs() {
  const std::string net8 = "..\\fixtures-net8.0\\", net9 = "..\\fixtures-net9.0\\", kestrel = "..\\fixtures-kestrel\\";
  std::vector<TaskProgram> programs = {hangs("hangs", "", "hangs.exe"), hangs("net8_debug", net8, "hangs_debug.exe"),
                                       hangs("net9", net9, "hangs.exe"),
                                       {"kestrel", {kestrel + "kestrel.exe", "--clients", "300"}, kestrel, 1000, 1000}};
  if (wanted("MIXWALK_TASK_MATRIX", 0, 0) == 0) return programs;
  programs.push_back(hangs("debug", "", "hangs_debug.exe"));
  programs.push_back(hangs("net8", net8, "hangs.exe"));
  programs.push_back(hangs("net9_debug", net9, "hangs_debug.exe"));
  return programs;
}

INSTANTIATE_TEST_SUITE_P(, SameTasks, testing::ValuesIn(task_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace mixwalk

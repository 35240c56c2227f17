// Dumps that mixwalk has written are read by mixwalk and by ClrMD. ClrMD is Microsoft's library for dumps. It asks the
// same debugging library as mixwalk, but in its own way. The managed frames of all threads must be the same, frame by
// frame.

#include <gtest/gtest.h>
#include <windows.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace
}  // namespace mixwalk

// Random chains of managed and native calls are compared with what the program itself wrote down.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/end_to_end/session.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "tests/walker/outside/win/look_outside.h"
#include "walker/naming/symbolise.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

struct Rung {
  std::string kind, name, module, hop, file;
  std::uint32_t line = 0;        // behind the line in which the program wrote itself down; 0 if the line is not known
  std::uint32_t trace_line = 0;  // by the runtime's stack trace, which the first managed frame took before it waited
};

// The type and the message of an exception.
using Exception = std::pair<std::string, std::string>;

struct WrittenChain {
  std::uint32_t os_thread_id = 0;
  std::vector<Rung> rungs;         // leaf first
  std::vector<Exception> handles;  // innermost first
};

// Returns the file of the chain that the ladder names in "PARKED i FILE". The path is not taken from the ladder's own
// output, which is in the code page and may lack letters of the folder's name.
std::string chain_file(const std::string& out, const std::string& parked, int chains) {
  constexpr std::size_t kIndexAt = 7;
  return chains == 1 ? out : out + "." + parked.substr(kIndexAt, parked.find(' ', kIndexAt) - kIndexAt);
}

WrittenChain read_chain(const std::string& path) {
  std::ifstream in{utf8_path(path)};
  const auto json = nlohmann::json::parse(in);
  WrittenChain chain{json.at("os_thread_id"), {}, {}};
  for (const auto& rung : json.at("chain")) {
    chain.rungs.push_back({rung.at("kind"), rung.at("name"), rung.at("module"), rung.at("hop"),
                           rung.at("file"), rung.at("line"), rung.at("trace_line")});
  }
  for (const auto& exception : json.at("handles")) {
    chain.handles.emplace_back(exception.at("type"), exception.at("message"));
  }
  return chain;
}

// The number of chains: fewer in an ordinary run, all 500 with MIXWALK_LADDER_CHAINS=500.
int chain_count() { return wanted("MIXWALK_LADDER_CHAINS", 40, 1); }

// Whether the ladder wrote this frame down, if it wrote down all of its own frames.
bool is_ladders(const Snapshot& snapshot, const Frame& frame) {
  if (frame.kind == FrameKind::managed) return frame.name.starts_with("Ladder.");
  if (frame.kind != FrameKind::native || frame.module == Frame::kNone) return false;
  return module_name(snapshot.modules[static_cast<std::size_t>(frame.module)])
      .starts_with("ladder_");
}

// The call that leads to the next frame is at most so many lines below the line that the program wrote down.
constexpr std::uint32_t kMostLinesToCall = 12;

struct Lines {
  std::size_t compared = 0, exact = 0;
};

// Checks the files and lines of the managed frames against the runtime's own stack trace, which the program wrote down.
//
// Folklore: in optimised code, the runtime's own trace may name a line before the call's. Situation: the JIT has moved
// the call to the end of the method, behind other cold code of that line. Real case: under Wine 10, the trace names the
// first line of Chain.Next, and mixwalk the second line, which has the call. (Under Wine 8 the JIT optimises less.)
// Also, the runtime's map of optimised code may have several lines as one: Chain.ParkCom calls in two lines, and the
// map has only the first. Remedy: some lines may differ, if they lie between the method's first call and the right one.
void expect_lines(const Snapshot& snapshot, const Thread& thread, const WrittenChain& written, Lines& lines) {
  std::size_t next = 0;
  for (const Frame& frame : thread.stack.frames) {
    if (!is_ladders(snapshot, frame)) continue;
    if (next == written.rungs.size()) break;  // expect_chain() reports this
    const Rung& rung = written.rungs[next++];
    if (frame.kind != FrameKind::managed) continue;
    EXPECT_EQ(frame.file, rung.file) << frame.name;
    EXPECT_NE(frame.line, 0u) << frame.name;
    EXPECT_TRUE(frame.line_approximate) << frame.name << ": it is a Release build";
    if (rung.line == 0) continue;
    ++lines.compared;
    lines.exact += frame.line == rung.line || frame.line == rung.trace_line;
    EXPECT_GE(frame.line, std::min(rung.line, rung.trace_line)) << frame.name;
    EXPECT_LE(frame.line, std::max(rung.line + kMostLinesToCall, rung.trace_line)) << frame.name;
  }
}

// Whether the frame may lie between a frame of the chain and its caller, given the way of the call.
bool may_lie_between(const Snapshot& snapshot, const Frame& frame, const std::string& hop) {
  const bool direct = hop == "call" || hop == "delegate" || hop == "local function" ||
                      hop == "native call";
  if (direct) return false;
  if (frame.kind == FrameKind::stub) return true;
  // The thunks of the runtime for which the CLR has no FunctionID.
  if (frame.kind == FrameKind::native && frame.module == Frame::kNone) return true;
  // Exception dispatch is managed code of the runtime. Once it has been called often enough, it is jitted anew, outside
  // every image.
  const bool handler = hop.ends_with("funclet");
  if (handler && frame.kind == FrameKind::managed &&
      (frame.name.starts_with("System.Runtime.EH.") ||
       frame.name.starts_with("System.Runtime.ExceptionServices."))) {
    return true;
  }
  if (frame.kind == FrameKind::gap || frame.module == Frame::kNone) return false;
  const std::string module =
      module_name(snapshot.modules[static_cast<std::size_t>(frame.module)]);
  // A call out of managed code passes only stubs; a call into managed code, and exception dispatch, pass the runtime's
  // own frames.
  if (hop.starts_with("P/Invoke") || hop == "calli" || hop == "COM call out") return false;
  return module == "coreclr.dll" || module == "System.Private.CoreLib.dll" ||
         module == "ntdll.dll" || module == "kernelbase.dll";
}

// In the code of the ladder's engine, each function begins at a multiple of this number.
constexpr std::uint64_t kEngineFunctionBytes = 64;

// Expects only frames of the chain, in their order, down to the thread's root. Returns how many are missing.
std::size_t expect_part_of_chain(const Snapshot& snapshot, const Thread& thread, const WrittenChain& written) {
  SCOPED_TRACE(to_text(snapshot, thread));
  EXPECT_NE(thread.stack.completeness(), Completeness::partial);
  std::size_t next = 0, found = 0;
  const auto is_rung = [&](const Frame& frame, const Rung& rung) {
    if (rung.kind != "code") return frame.name == rung.name;
    return std::stoull(rung.name, nullptr, 16) == frame.address / kEngineFunctionBytes * kEngineFunctionBytes;
  };
  for (const Frame& frame : thread.stack.frames) {
    const bool code = frame.kind == FrameKind::native && frame.module == Frame::kNone &&
                      std::ranges::any_of(written.rungs, [&](const Rung& rung) {
                        return rung.kind == "code" && is_rung(frame, rung);
                      });
    if (!code && !is_ladders(snapshot, frame)) continue;
    while (next < written.rungs.size() && !is_rung(frame, written.rungs[next])) ++next;
    if (next++ == written.rungs.size()) {
      ADD_FAILURE() << "a frame that was not there: " << std::hex << frame.address << " " << frame.name;
      break;
    }
    ++found;
  }
  return written.rungs.size() - found;
}

// Expects that the target that a stub names is right: the P/Invoke by which the native function above was called, as it
// is declared, or the interface's method, or the managed function above.
void expect_target(const Frame& stub, const Rung& callee) {
  if (callee.kind == "managed") {
    if (stub.name == "IL_STUB_ReversePInvoke" || stub.name == "IL_STUB_COMtoCLR") {
      EXPECT_EQ(stub.target, callee.name);
    }
  } else if (callee.hop == "P/Invoke, native function as delegate" || callee.hop == "calli") {
    EXPECT_EQ(stub.target, "") << "no declaration leads there";
  } else if (callee.hop.starts_with("P/Invoke")) {
    EXPECT_EQ(stub.target, "ladder_native!" + callee.name);
  } else if (callee.hop.starts_with("COM call out")) {
    static const std::map<std::string, std::string> kMethods = {
        {"ladder_com_descend", "Ladder.ILadder.Descend(Ladder.ILadderStep, System.Int32)"},
        {"ladder_com_descend_text", "Ladder.ILadder.DescendText(System.String, Ladder.ILadderStep, System.Int32)"},
        {"ladder_com_park", "Ladder.ILadder.Park(System.IntPtr, System.IntPtr)"}};
    EXPECT_EQ(stub.target, kMethods.at(callee.name));
  }
}

void expect_chain(const Snapshot& snapshot, const Thread& thread, const WrittenChain& written) {
  SCOPED_TRACE(to_text(snapshot, thread));
  ASSERT_TRUE(all_runs_closed(thread.stack));
  std::size_t next = 0;
  const Rung* callee = nullptr;
  for (const Frame& frame : thread.stack.frames) {
    if (!is_ladders(snapshot, frame)) {
      if (callee == nullptr || next == written.rungs.size()) continue;  // above or below the chain
      if (frame.kind == FrameKind::stub) expect_target(frame, *callee);
      EXPECT_TRUE(may_lie_between(snapshot, frame, callee->hop))
          << "a frame at " << std::hex << frame.address << " lies under " << callee->name
          << ", which was called by: " << callee->hop;
      continue;
    }
    ASSERT_LT(next, written.rungs.size()) << "one more frame than was written: " << frame.name;
    const Rung& rung = written.rungs[next++];
    EXPECT_EQ(frame.name, rung.name);
    EXPECT_EQ(frame.kind, rung.kind == "managed" ? FrameKind::managed : FrameKind::native);
    if (frame.kind == FrameKind::native) {
      EXPECT_EQ(module_name(snapshot.modules[static_cast<std::size_t>(frame.module)]),
                rung.module);
    }
    callee = &rung;
  }
  EXPECT_EQ(next, written.rungs.size()) << "frames are missing";
}

// Expects that in an image every frame has a name: a symbol's name, or one made from the RVA where its function begins.
// Frames outside images that the runtime does not know are frames of its thunks and helpers. Returns the number of
// those.
std::size_t expect_names(const Stack& stack) {
  std::size_t thunks = 0;
  for (const Frame& frame : stack.frames) {
    const bool thunk = frame.kind == FrameKind::native && frame.module == Frame::kNone;
    thunks += thunk;
    EXPECT_TRUE(thunk || !frame.name.empty()) << enum_name(frame.kind) << " at " << std::hex << frame.address;
  }
  return thunks;
}

// Compares everything except how a frame was found, and the indices of its module and assembly: another image may have
// been loaded between the two dumps, and the program's main thread, which says that a chain has parked, may have gone
// on to code of other assemblies.
void expect_same_frames(const Snapshot& by_snapshot, const Stack& snapshot,
                        const Snapshot& by_copy, const Stack& copy) {
  const auto base_of = [](const Snapshot& from, const Frame& frame) {
    return frame.module == Frame::kNone
               ? 0
               : from.modules[static_cast<std::size_t>(frame.module)].base;
  };
  const auto assembly_of = [](const Snapshot& from, const Frame& frame) {
    return frame.il.assembly == Frame::kNone ? ""
                                             : from.assemblies[static_cast<std::size_t>(frame.il.assembly)].path;
  };
  ASSERT_EQ(snapshot.frames.size(), copy.frames.size());
  for (std::size_t i = 0; i < copy.frames.size(); ++i) {
    EXPECT_EQ(base_of(by_snapshot, snapshot.frames[i]), base_of(by_copy, copy.frames[i]));
    EXPECT_EQ(assembly_of(by_snapshot, snapshot.frames[i]), assembly_of(by_copy, copy.frames[i]));
    StackFrame frame = snapshot.frames[i];
    frame.trust = copy.frames[i].trust;
    frame.module = copy.frames[i].module;
    frame.il.assembly = copy.frames[i].il.assembly;
    EXPECT_TRUE(frame == copy.frames[i]) << "frame " << i << " (" << frame.name << " against "
                                         << copy.frames[i].name << ")";
  }
  EXPECT_EQ(snapshot.runs(), copy.runs());
}

std::vector<Exception> handled_by(const Thread& thread) {
  std::vector<Exception> handled;
  for (const HandledException& exception : thread.handles) {
    handled.emplace_back(exception.objects.at(0).type, exception.objects.at(0).message);
  }
  return handled;
}

struct Tally {
  int chains = 0, snapshot_engine = 0, not_asked = 0;
  std::size_t frames = 0, runs = 0, thunks = 0, outside = 0, handled = 0;
  Lines lines;
};

// Writes a dump of the process while mixwalk.dll is in it, and reads it.
Snapshot dump_in_file(std::uint32_t process_id) {
  const std::string path = temporary_file("ladder.dmp");
  const ProgramResult written =
      run_program({mixwalk_exe(), "dump", "-p", std::to_string(process_id), "-o", path}, 200'000);
  EXPECT_EQ(written.exit_code, 0u) << written.err;
  Snapshot snapshot = dump_by_contracts(path);
  remove_file(path);
  name_native_frames(snapshot);
  return snapshot;
}

// `outside`: each chain is also read from outside, and in a dump file.
void climb(const std::vector<std::string>& options, int chains, bool outside = false) {
  const std::string out = temporary_file("ladder.json");
  std::vector<std::string> arguments = {fixture("ladder.exe"), "--chains", std::to_string(chains), "--out", out};
  arguments.insert(arguments.end(), options.begin(), options.end());
  ChildProcess ladder(arguments);
  std::optional<TargetSession> session;
  std::optional<OutsideSession> from_outside;
  Tally tally;
  DiskImageFiles disk;
  ManagedLines lines(disk, disk, {});
  for (int i = 0; i < chains; ++i) {
    const auto line = ladder.read_line();
    ASSERT_TRUE(line && line->starts_with("PARKED ")) << line.value_or("(closed)");
    const std::string file = chain_file(out, *line, chains);
    const WrittenChain written = read_chain(file);
    remove_file(file);
    if (!session) session.emplace(attach_to(ladder.id()));

    const Snapshot by_snapshot = dump_named(*session, {.engine = Engine::snapshot});
    const Snapshot by_copy = dump_named(*session, {.engine = Engine::copy});
    const Thread& thread = thread_of(by_snapshot, written.os_thread_id);
    expect_chain(by_snapshot, thread, written);
    const Snapshot by_auto = dump_named(*session, {.engine = Engine::automatic});
    const Thread& copied = thread_of(by_copy, written.os_thread_id);
    expect_chain(by_copy, copied, written);
    const Thread& automatic = thread_of(by_auto, written.os_thread_id);
    expect_chain(by_auto, automatic, written);
    EXPECT_EQ(automatic.probe, ProbeResult::none) << "a copy that is whole needs no runtime";
    const Snapshot at_once = dump_named(
        *session, {.engine = Engine::copy, .deadline_ms = kAtOnceDeadlineMs, .at_once = true});
    const Thread& together = thread_of(at_once, written.os_thread_id);
    expect_chain(at_once, together, written);
    expect_same_frames(by_copy, copied.stack, at_once, together.stack);
    if (outside) {
      if (!from_outside) from_outside.emplace(ladder.id(), mixwalk_exe(), RuntimeSource::contracts);
      Snapshot by_reading = from_outside->dump();
      name_native_frames(by_reading);
      const Thread& read = thread_of(by_reading, written.os_thread_id);
      expect_chain(by_reading, read, written);
      EXPECT_EQ(handled_by(read), written.handles);
      const Snapshot in_file = dump_in_file(ladder.id());
      const Thread& filed = thread_of(in_file, written.os_thread_id);
      expect_chain(in_file, filed, written);
      EXPECT_EQ(handled_by(filed), written.handles);
      tally.outside += read.stack.frames.size();
      tally.handled += written.handles.size();
    }
    SCOPED_TRACE(to_text(by_snapshot, thread) + to_text(by_copy, copied));
    expect_same_frames(by_snapshot, thread.stack, by_copy, copied.stack);
    expect_same_frames(by_snapshot, thread.stack, by_auto, automatic.stack);
    ASSERT_FALSE(testing::Test::HasFailure()) << "chain " << i;

    Snapshot with_lines = by_auto;
    add_lines(with_lines, lines);
    expect_lines(with_lines, thread_of(with_lines, written.os_thread_id), written, tally.lines);
    ASSERT_FALSE(testing::Test::HasFailure()) << "lines of chain " << i;

    tally.thunks += expect_names(automatic.stack);
    ++tally.chains;
    tally.snapshot_engine += thread.stack.engine == Engine::snapshot;
    tally.not_asked += automatic.at_risk;
    tally.frames += thread.stack.frames.size();
    tally.runs += thread.stack.runs().size();
    if (i + 1 == chains) {
      EXPECT_EQ(session->leave(), "");
    }
    ladder.write_line("NEXT");
  }
  EXPECT_EQ(ladder.read_line(), "DONE");
  std::printf("%d chains, %zu frames, %zu of them nameless thunks of the runtime, %zu lines (%zu exact), "
              "%zu runs closed; DoStackSnapshot walked %d; auto did not ask the runtime of %d; from outside: %zu, and "
              "%zu exceptions that they handle\n",
              tally.chains, tally.frames, tally.thunks, tally.lines.compared, tally.lines.exact, tally.runs,
              tally.snapshot_engine, tally.not_asked, tally.outside, tally.handled);
  EXPECT_EQ(tally.handled != 0, outside);
  EXPECT_GT(tally.lines.compared, 3 * static_cast<std::size_t>(tally.chains));
  EXPECT_GE(tally.lines.exact * 100, tally.lines.compared * 98);
  // If every walk were refused, there would be nothing to compare, and the engines would agree.
  EXPECT_GT(tally.snapshot_engine * 2, tally.chains);
  EXPECT_EQ(ladder.wait(20'000), 0u);
}

// For code of an engine of the program's own, which has no unwind data.
struct EngineTally {
  std::size_t stacks = 0, guessed = 0, rungs = 0, missing = 0;
};

EngineTally climb_engine(const std::string& engine, const std::string& seed) {
  const int chains = chain_count() / 3 + 1;
  const std::string out = temporary_file("engine.json");
  ChildProcess ladder({fixture("ladder.exe"), "--chains", std::to_string(chains), "--engine", engine, "--seed", seed,
                       "--out", out});
  std::optional<TargetSession> session;
  EngineTally tally;
  for (int i = 0; i < chains; ++i) {
    const auto line = ladder.read_line();
    if (!line || !line->starts_with("PARKED ")) {
      ADD_FAILURE() << line.value_or("(closed)");
      return tally;
    }
    const std::string file = chain_file(out, *line, chains);
    const WrittenChain written = read_chain(file);
    remove_file(file);
    if (!session) session.emplace(attach_to(ladder.id()));
    for (const Engine walked_by : {Engine::snapshot, Engine::copy}) {
      const Snapshot snapshot = dump_named(*session, {.engine = walked_by});
      const Thread& thread = thread_of(snapshot, written.os_thread_id);
      tally.missing += expect_part_of_chain(snapshot, thread, written);
      tally.rungs += written.rungs.size();
      tally.guessed += thread.stack.completeness() == Completeness::guessed;
      ++tally.stacks;
    }
    if (testing::Test::HasFailure()) return tally;
    if (i + 1 == chains) {
      EXPECT_EQ(session->leave(), "");
    }
    ladder.write_line("NEXT");
  }
  EXPECT_EQ(ladder.read_line(), "DONE");
  EXPECT_EQ(ladder.wait(20'000), 0u);
  std::printf("%zu stacks, %zu with guessed frames, %zu of %zu frames missing\n", tally.stacks, tally.guessed,
              tally.missing, tally.rungs);
  EXPECT_GT(tally.guessed * 6, tally.stacks);
  return tally;
}

TEST(Ladder, ThroughCodeOfAnEngineThatKeepsFramePointers) {
  EXPECT_EQ(climb_engine("frame-pointers", "30000").missing, 0u);
}

TEST(Ladder, ThroughCodeOfAnEngineWithoutFramePointers) { climb_engine("no-frame-pointers", "40000"); }

TEST(Ladder, EveryStackIsTheChainThatTheProgramWroteDown) { climb({}, chain_count()); }

TEST(Ladder, UnoptimisedNativeCode) {
  climb({"--dll", "O0", "--seed", "10000"}, chain_count() / 6 + 1);
}

TEST(Ladder, ThroughHandlersOfExceptions) {
  climb({"--handlers", "--seed", "20000"}, chain_count() / 3 + 1, true);
}

}  // namespace
}  // namespace mixwalk

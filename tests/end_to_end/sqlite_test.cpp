// A library by another author is part of the chain: managed code → e_sqlite3.dll → managed code → e_sqlite3.dll →
// managed code.

#include <gtest/gtest.h>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

struct SqliteRun {
  std::size_t frames = 0, exported = 0;
  bool has_step = false;
};

// Returns the native runs that consist of e_sqlite3.dll's frames, apart from stubs.
std::vector<SqliteRun> sqlite_runs(const Snapshot& snapshot, const Stack& stack) {
  std::vector<SqliteRun> runs;
  for (const Run& run : stack.runs()) {
    SqliteRun found;
    for (std::uint32_t i = 0; i < run.frame_count; ++i) {
      const Frame& frame = stack.frames[run.first_frame + i];
      if (frame.module == Frame::kNone) continue;
      if (module_name(snapshot.modules[static_cast<std::size_t>(frame.module)]) !=
          "e_sqlite3.dll") {
        continue;
      }
      ++found.frames;
      found.exported += frame.symbol == SymbolKind::exported;
      found.has_step |= frame.name == "sqlite3_step";
    }
    if (found.frames != 0) runs.push_back(found);
  }
  return runs;
}

TEST(Sqlite, BothNativeRunsAreThereAndClosed) {
  ChildProcess sqlite({fixture("sqlite.exe")});
  const auto line = sqlite.read_line();
  ASSERT_TRUE(line && line->starts_with("PARKED")) << line.value_or("(closed)");
  TargetSession session = attach_to(sqlite.id());
  for (const Engine engine : {Engine::snapshot, Engine::copy}) {
    const Snapshot snapshot = dump_named(session, {.engine = engine});
    const Thread& thread = thread_named(snapshot, "sqlite");
    SCOPED_TRACE(to_text(snapshot, thread));
    EXPECT_TRUE(all_runs_closed(thread.stack));
    const auto runs = sqlite_runs(snapshot, thread.stack);
    ASSERT_EQ(runs.size(), 2u);
    for (const SqliteRun& run : runs) {
      EXPECT_TRUE(run.has_step) << "sqlite3_step is exported";
      // The functions between are not exported, so no export's name is right for them.
      EXPECT_LT(run.exported, run.frames);
    }
    std::string managed;
    for (const Frame& frame : thread.stack.frames) {
      if (frame.kind == FrameKind::managed && frame.name.starts_with("Sqlite.Program.")) {
        managed += frame.name + "\n";
      }
    }
    EXPECT_EQ(managed.find("Sqlite.Program.CompareByLength(System.String, System.String)"), 0u)
        << managed;
    EXPECT_NE(managed.find("Sqlite.Program.SortNames("), std::string::npos) << managed;
    EXPECT_NE(managed.find("Sqlite.Program.Work(System.Object)"), std::string::npos) << managed;
  }
  EXPECT_EQ(session.leave(), "");
  sqlite.write_line("");
  EXPECT_EQ(sqlite.wait(20'000), 0u);
}

}  // namespace
}  // namespace mixwalk

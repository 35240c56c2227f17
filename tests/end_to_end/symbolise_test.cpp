// A recording whose symbols are hidden while it is made, and that gets its names later.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/end_to_end/recorded_file.h"
#include "tests/support/remove_tree.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

// Runs orders-demo.exe with its runtime in a folder of its own, without its PDB. The file of its native library is
// removed once it is loaded.
class Symbolise : public testing::Test {
 protected:
  Symbolise() {
    EXPECT_TRUE(remove_tree(folder_));
    fs::create_directories(app_);
    fs::create_directories(symbols_);
    const fs::path fixtures = utf8_path(fixture("orders-demo.exe")).parent_path();
    for (const auto& entry : fs::directory_iterator(fixtures)) {
      const fs::path name = entry.path().filename();
      if (!entry.is_regular_file() || name.extension() == ".pdb" || name.extension() == ".a")
        continue;
      std::error_code error;  // the runtime is large
      fs::create_hard_link(entry.path(), app_ / name, error);
      if (error) fs::copy_file(entry.path(), app_ / name);
    }
    fs::copy_file(fixtures / "orders-demo.pdb", symbols_ / "orders-demo.pdb");
  }
  ~Symbolise() override {
    static_cast<void>(remove_tree(folder_));
  }

  const fs::path folder_ = utf8_path(temporary_file("symbolise"));
  const fs::path app_ = folder_ / "app", symbols_ = folder_ / "sym";
};

// Returns the frames of the workers' stacks, leaf first, each with its line; only frames of orders-demo and orders.dll.
std::vector<std::string> own_frames(const Recording& recording) {
  std::vector<std::string> texts;
  for (const Recording::Sample& sample : recording.samples) {
    if (recording.threads[sample.thread].name != "Orders worker Ada") continue;
    for (const std::uint32_t index : stack_frames(recording, sample.stack)) {
      const Frame& frame = recording.frames[index];
      const bool is_native =
          frame.module != Frame::kNone &&
          module_name(recording.modules[static_cast<std::size_t>(frame.module)]) == "orders.dll";
      if (!is_native && !frame.name.starts_with("Orders.")) continue;
      texts.push_back(frame.name + " " + utf8_text(utf8_path(frame.file).filename()) + ":" +
                      std::to_string(frame.line));
    }
    break;
  }
  return texts;
}

std::string with_line(const std::vector<std::string>& frames, const std::string& name) {
  for (const std::string& frame : frames) {
    if (frame.starts_with(name)) return frame;
  }
  return "";
}

TEST_F(Symbolise, NamesAndLinesComeLater) {
  ChildProcess orders({utf8_text(app_ / "orders-demo.exe")});
  ASSERT_TRUE(orders.read_line().value_or("").starts_with("READY"));
  fs::rename(app_ / "orders.dll", symbols_ / "orders.dll");
  const std::string bare = utf8_text(folder_ / "bare.mixwalk");
  const ProgramResult recorded =
      run_program({mixwalk_exe(), "record", "-p", std::to_string(orders.id()), "-d", "1s", "-o",
                   bare, "--thread", "Orders worker", "--symbol-path", "C:\\nothing"});
  EXPECT_EQ(recorded.exit_code, 0u) << recorded.err;
  orders.write_line("");
  orders.close_input();
  orders.wait(10'000);

  const std::vector<std::string> before = own_frames(read_whole(bare));
  EXPECT_EQ(with_line(before, "wait_for_reply"), "") << "nothing names orders.dll";
  EXPECT_EQ(with_line(before, "Orders.Client.Order"), "Orders.Client.Order(System.Int32) :0");

  const ProgramResult done =
      run_program({mixwalk_exe(), "symbolise", bare, "--symbol-path", utf8_text(symbols_)});
  EXPECT_EQ(done.exit_code, 0u) << done.err;
  const Recording named = read_whole(utf8_text(folder_ / "bare.symbolised.mixwalk"));
  const std::vector<std::string> after = own_frames(named);
  EXPECT_TRUE(with_line(after, "wait_for_reply").starts_with("wait_for_reply orders.cpp:"))
      << done.err;
  EXPECT_TRUE(with_line(after, "submit_order").starts_with("submit_order orders.cpp:")) << done.err;
  EXPECT_EQ(with_line(after, "Orders.Client.Order"),
            "Orders.Client.Order(System.Int32) Program.cs:27")  // the line of SubmitOrder in fixtures/demo-app
      << done.err;
  // The original recording must be unchanged.
  const Recording recording = read_whole(bare);
  EXPECT_EQ(named.samples.size(), recording.samples.size());
  EXPECT_EQ(named.threads, recording.threads);
  const auto demo =
      std::find_if(recording.assemblies.begin(), recording.assemblies.end(),
                   [](const Assembly& one) { return one.path.ends_with("orders-demo.dll"); });
  ASSERT_NE(demo, recording.assemblies.end());
  ASSERT_TRUE(demo->pdb) << "its PDB is known without being there";
  EXPECT_TRUE(demo->pdb->path.ends_with("orders-demo.pdb")) << demo->pdb->path;
}

}  // namespace
}  // namespace mixwalk

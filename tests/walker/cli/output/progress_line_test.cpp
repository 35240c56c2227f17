#include "walker/cli/output/progress_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "walker/cli/output/print_failure.h"

namespace mixwalk {
namespace {

// The rows that a console of that width shows after these bytes. It begins a new row as soon as the last column is
// written, as consoles of Windows do.
std::vector<std::string> shown(const std::string& bytes, std::size_t columns) {
  std::vector<std::string> rows = {std::string(columns, ' ')};
  std::size_t row = 0, column = 0;
  const auto next_row = [&] {
    column = 0;
    if (++row == rows.size()) rows.emplace_back(columns, ' ');
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\r') {
      column = 0;
    } else if (bytes[i] == '\n') {
      next_row();
    } else if (bytes.compare(i, 3, "\x1b[K") == 0) {
      std::fill(rows[row].begin() + static_cast<std::ptrdiff_t>(column), rows[row].end(), ' ');
      i += 2;
    } else {
      rows[row][column] = bytes[i];
      if (++column == columns) next_row();
    }
  }
  for (std::string& text : rows) text.resize(text.find_last_not_of(' ') + 1);
  while (!rows.empty() && rows.back().empty()) rows.pop_back();
  return rows;
}

class Console {
 public:
  ProgressLine::Terminal terminal(bool escapes, std::size_t columns) {
    return {.stream = file_, .obeys_escapes = escapes, .columns = [columns] { return std::optional(columns); }};
  }
  std::string bytes() const {
    std::string all;
    std::rewind(file_);
    for (int byte; (byte = std::getc(file_)) != EOF;) all += static_cast<char>(byte);
    return all;
  }
  void write(const std::string& text) { std::fputs(text.c_str(), file_); }
  ~Console() { std::fclose(file_); }

 private:
  std::FILE* file_ = std::tmpfile();
};

const std::string kLong =
    "12 of 30 s, 295012 samples of 10 threads, 98.3 of 100 a second of each (--budget), 99.9 % whole, 0.1 % with "
    "guessed "
    "frames, 12 lost, stopped for 1.5 ms after 0.1 ms (p99)";

TEST(Fitting, LeavesOutWholeParts) {
  EXPECT_EQ(fitting("one, two, three", 100), "one, two, three");
  EXPECT_EQ(fitting("one, two, three", 16), "one, two, three");
  EXPECT_EQ(fitting("one, two, three", 15), "one, two") << "the last column stays free";
  EXPECT_EQ(fitting("one, two, three", 9), "one, two");
  EXPECT_EQ(fitting("one, two, three", 8), "one");
  EXPECT_EQ(fitting("one, two, three", 3), "on");
  EXPECT_EQ(fitting("äöü", 3), "äö") << "characters count, not bytes";
  EXPECT_EQ(fitting("one", 1), "");
  EXPECT_EQ(fitting("one", 0), "");
}

TEST(ProgressLine, NeverLeavesRowsBehind) {
  for (const std::size_t columns : {20u, 80u, 120u, 200u}) {
    for (const bool escapes : {false, true}) {
      Console console;
      {
        ProgressLine line(console.terminal(escapes, columns));
        for (int i = 0; i < 5; ++i) line.show(kLong);
        line.show("1 s, short");
        EXPECT_EQ(shown(console.bytes(), columns), std::vector<std::string>{"1 s, short"}) << columns;
        line.show(kLong);
        EXPECT_EQ(shown(console.bytes(), columns), std::vector<std::string>{fitting(kLong, columns)}) << columns;
        line.clear();
      }
      console.write("done\n");
      EXPECT_EQ(shown(console.bytes(), columns), std::vector<std::string>{"done"}) << columns;
    }
  }
}

TEST(ProgressLine, MakesRoomForAnotherMessage) {
  Console console;
  ProgressLine line(console.terminal(false, 80));
  line.show(kLong);
  testing::internal::CaptureStderr();
  print_failure({ExitCode::ok, "the recording continues"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "mixwalk: the recording continues\n");
  console.write("mixwalk: the recording continues\n");
  line.show("13 s");
  EXPECT_EQ(shown(console.bytes(), 80), (std::vector<std::string>{"mixwalk: the recording continues", "13 s"}));
}

TEST(ProgressLine, WritesNothingWithoutATerminal) {
  ProgressLine line({});
  line.show("1 s");
  line.clear();
  EXPECT_FALSE(line.on_terminal());
}

}  // namespace
}  // namespace mixwalk

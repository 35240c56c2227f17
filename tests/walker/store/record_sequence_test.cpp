#include "walker/store/record_sequence.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace mixwalk {
namespace {

using Kind = RecordSequence::Next::Kind;

// Returns the kinds of the records, as digits; the bytes arrive `step` at a time.
std::string kinds_of(std::string_view file, std::size_t step, Cut& cut) {
  RecordSequence records;
  std::string buffer, kinds;
  while (true) {
    const auto next = records.next(buffer, file.empty());
    if (next.kind == Kind::refused) return std::string(next.why);
    if (next.kind == Kind::end) break;
    if (next.kind == Kind::record) {
      kinds += static_cast<char>('0' + static_cast<int>(next.record.kind));
      buffer.erase(0, next.consumed);
    } else {
      EXPECT_FALSE(file.empty()) << "all is there";
      buffer += file.substr(0, step);
      file.remove_prefix(std::min(step, file.size()));
    }
  }
  cut = records.cut();
  return kinds;
}

TEST(RecordSequence, IsTheSameHoweverTheBytesCome) {
  const std::string whole = file_text(golden_file("wall.mixwalk"));
  ASSERT_FALSE(whole.empty());
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, whole.size()}) {
    Cut cut;
    EXPECT_EQ(kinds_of(whole, step, cut), "234") << step;
    EXPECT_EQ(cut.kind, Cut::Kind::none);
    EXPECT_EQ(kinds_of(whole.substr(0, whole.size() - 1), step, cut), "23") << step;
    EXPECT_EQ(cut.kind, Cut::Kind::torn);
    EXPECT_EQ(kinds_of(whole.substr(0, 20), step, cut), "it ends within its header") << step;
    EXPECT_EQ(kinds_of("PK", step, cut), "it is no mixwalk recording") << step;
    EXPECT_EQ(kinds_of("", step, cut), "it is no mixwalk recording") << step;
    EXPECT_EQ(kinds_of(whole + "x", step, cut), "234") << step;
  }
}

}  // namespace
}  // namespace mixwalk

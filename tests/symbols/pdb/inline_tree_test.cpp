#include "symbols/pdb/inline_tree.h"

#include <gtest/gtest.h>

#include <sstream>

namespace mixwalk {
namespace {

// Writes pieces such as "0-10 0:5 1:7": [0, 10), the function at line 5, call 1 at line 7.
class TextSink final : public ChainSink {
 public:
  void piece(std::uint32_t begin, std::uint32_t end, std::span<const ChainStep> chain) override {
    std::ostringstream line;
    line << begin << '-' << end;
    for (const ChainStep& step : chain) line << ' ' << step.scope << ':' << step.line;
    pieces.push_back(line.str());
  }
  std::vector<std::string> pieces;
};

ScopedCode code(std::uint32_t scope, std::uint32_t begin, std::uint32_t end, std::uint32_t line) {
  return {{begin, end, 0, line}, scope};
}

std::vector<std::string> cut(std::vector<std::uint32_t> parents, std::vector<ScopedCode> codes) {
  TextSink sink;
  EXPECT_TRUE(cut_into_chains(100, parents, std::move(codes), sink));
  return sink.pieces;
}
using Pieces = std::vector<std::string>;

TEST(InlineTreeTest, FunctionWithoutInlinedCalls) {
  EXPECT_EQ(cut({0}, {}), (Pieces{"0-100 0:0"}));
  EXPECT_EQ(cut({0}, {code(0, 0, 40, 5), code(0, 40, 100, 6)}), (Pieces{"0-40 0:5", "40-100 0:6"}));
}

TEST(InlineTreeTest, ChainHasTheLineOfEachStep) {
  EXPECT_EQ(cut({0, 0, 1}, {code(0, 0, 100, 5), code(1, 10, 50, 7), code(2, 20, 30, 9)}),
            (Pieces{"0-10 0:5", "10-20 0:5 1:7", "20-30 0:5 1:7 2:9", "30-50 0:5 1:7", "50-100 0:5"}));
}

TEST(InlineTreeTest, CallInTwoParts) {
  EXPECT_EQ(cut({0, 0}, {code(0, 0, 100, 5), code(1, 10, 20, 7), code(1, 20, 30, 8), code(1, 60, 70, 8)}),
            (Pieces{"0-10 0:5", "10-20 0:5 1:7", "20-30 0:5 1:8", "30-60 0:5", "60-70 0:5 1:8",
                    "70-100 0:5"}));
}

// A child without its parent would give a chain that never existed.
TEST(InlineTreeTest, ChildCountsOnlyInsideItsParent) {
  EXPECT_EQ(cut({0, 0, 1}, {code(1, 10, 20, 7), code(2, 15, 30, 9)}),
            (Pieces{"0-10 0:0", "10-15 0:0 1:7", "15-20 0:0 1:7 2:9", "20-100 0:0"}));
}

TEST(InlineTreeTest, SiblingsThatOverlapAreNotMixed) {
  EXPECT_EQ(cut({0, 0, 0, 2}, {code(1, 10, 20, 7), code(2, 15, 30, 9), code(3, 15, 30, 11)}),
            (Pieces{"0-10 0:0", "10-20 0:0 1:7", "20-30 0:0 2:9 3:11", "30-100 0:0"}));
}

TEST(InlineTreeTest, CodeBeyondTheFunctionIsCutOff) {
  EXPECT_EQ(cut({0, 0}, {code(1, 90, 200, 7), code(1, 300, 400, 7), code(7, 0, 100, 1)}),
            (Pieces{"0-90 0:0", "90-100 0:0 1:7"}));
}

// n calls claim the same code. The chain has one of them, and the work stays proportional to the input.
TEST(InlineTreeTest, ThousandsOfOverlappingCallsEndEarly) {
  std::vector<std::uint32_t> parents(20'001);
  std::vector<ScopedCode> codes;
  for (std::uint32_t i = 1; i < parents.size(); ++i) codes.push_back(code(i, i, 40'000 - i, i));
  TextSink sink;
  EXPECT_FALSE(cut_into_chains(50'000, parents, std::move(codes), sink));
  ASSERT_FALSE(sink.pieces.empty());
  EXPECT_LT(sink.pieces.size(), 5'000u);
  EXPECT_TRUE(sink.pieces.back().ends_with("-50000 0:0")) << sink.pieces.back();
}

}  // namespace
}  // namespace mixwalk

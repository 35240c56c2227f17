#include "symbols/index/index_builder.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace mixwalk {
namespace {

class IndexBuilderTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kImage = 0x10000;
  NamePool names_;
  IndexBuilder builder_{names_, kImage};

  ScopeId function(const char* name, std::uint32_t begin, std::uint32_t end) {
    const ScopeId id = builder_.add_function(builder_.name(name), begin);
    builder_.add_range(id, begin, end);
    return id;
  }
  ScopeId inlined(ScopeId parent, const char* name, std::uint32_t line, std::uint32_t begin,
                  std::uint32_t end) {
    const ScopeId id = builder_.add_inlined(parent, builder_.name(name), builder_.name("a.cpp"), line);
    builder_.add_range(id, begin, end);
    return id;
  }
  // Returns "inner:7 outer:3", innermost first, each with its line; "-" if nothing is known.
  std::string chain(const SymbolIndex& index, std::uint32_t rva) {
    SourceLocation found;
    if (!index.find(rva, names_, found)) return "-";
    std::string text;
    for (const SourceFrame& frame : found.frames) {
      if (!text.empty()) text += ' ';
      text += std::string(frame.name) + ':' + std::to_string(frame.line);
    }
    return text;
  }
  SourceLocation at(const SymbolIndex& index, std::uint32_t rva) {
    SourceLocation found;
    EXPECT_TRUE(index.find(rva, names_, found));
    return found;
  }
};

TEST_F(IndexBuilderTest, ChainIsInnermostFirstWithTheLineOfEachCall) {
  const ScopeId outer = function("outer", 0x1000, 0x1100);
  const ScopeId middle = inlined(outer, "middle", 3, 0x1020, 0x1080);
  inlined(middle, "inner", 2, 0x1030, 0x1040);
  builder_.add_line(0x1000, builder_.name("a.cpp"), 10);
  builder_.add_line(0x1030, builder_.name("b.h"), 77);
  builder_.add_line(0x1040, builder_.name("a.cpp"), 20);
  builder_.end_sequence(0x1100);
  const SymbolIndex index = builder_.build();

  EXPECT_EQ(chain(index, 0xFFF), "-");
  EXPECT_EQ(chain(index, 0x1000), "outer:10");
  EXPECT_EQ(chain(index, 0x1020), "middle:10 outer:3");
  EXPECT_EQ(chain(index, 0x1035), "inner:77 middle:2 outer:3");
  EXPECT_EQ(chain(index, 0x1040), "middle:20 outer:3");
  EXPECT_EQ(chain(index, 0x10FF), "outer:20");
  EXPECT_EQ(chain(index, 0x1100), "-");
  EXPECT_EQ(at(index, 0x1035).frames[0].file, "b.h");
  EXPECT_EQ(at(index, 0x1035).frames[1].file, "a.cpp");
  EXPECT_EQ(at(index, 0x1035).begin, 0x1000u);
}

TEST_F(IndexBuilderTest, OverlappingFunctionsNeverMixTheirChains) {
  const ScopeId first = function("first", 0x1000, 0x1100);
  inlined(first, "in_first", 1, 0x1060, 0x1100);
  const ScopeId second = function("second", 0x1050, 0x1080);
  inlined(second, "in_second", 2, 0x1050, 0x1060);
  const SymbolIndex index = builder_.build();
  EXPECT_EQ(chain(index, 0x104F), "first:0");
  EXPECT_EQ(chain(index, 0x1050), "in_second:0 second:2");
  EXPECT_EQ(chain(index, 0x1060), "second:0");
  EXPECT_EQ(chain(index, 0x1080), "in_first:0 first:1");
}

TEST_F(IndexBuilderTest, DeepestOfOverlappingCallsHasTheCode) {
  const ScopeId outer = function("outer", 0x1000, 0x1100);
  const ScopeId first = inlined(outer, "first", 1, 0x1010, 0x1030);
  inlined(first, "deep", 2, 0x1010, 0x1020);
  inlined(outer, "second", 3, 0x1010, 0x1030);
  const SymbolIndex index = builder_.build();
  EXPECT_EQ(chain(index, 0x1010), "deep:0 first:2 outer:1");
  EXPECT_EQ(chain(index, 0x1020), "second:0 outer:3");
}

TEST_F(IndexBuilderTest, FoldedFunctionsAreOneThatSaysHowMany) {
  const ScopeId chosen = function("chosen", 0x1000, 0x1010);
  inlined(chosen, "helper", 1, 0x1004, 0x1008);
  const ScopeId other = function("other", 0x1000, 0x1010);
  inlined(other, "other_helper", 1, 0x1004, 0x1008);
  function("third", 0x1000, 0x1010);
  function("alone", 0x2000, 0x2010);
  function("twin", 0x3000, 0x3010);
  function("other twin", 0x3000, 0x3010);
  builder_.add_function(builder_.name("declared only"), 0x2000);
  const SymbolIndex index = builder_.build();
  EXPECT_EQ(chain(index, 0x1004), "helper:0 chosen:1");
  EXPECT_EQ(chain(index, 0x1008), "chosen:0");
  EXPECT_EQ(at(index, 0x1004).folded, 3u);
  EXPECT_EQ(at(index, 0x2000).folded, 1u);
  EXPECT_EQ(at(index, 0x3000).folded, 2u);
  EXPECT_EQ(chain(index, 0x3000), "twin:0");
}

TEST_F(IndexBuilderTest, ColdPartBeforeTheEntryBeginsWhereThePartBegins) {
  const ScopeId hot = function("hot", 0x3000, 0x3100);
  builder_.add_range(hot, 0x1000, 0x1010);
  inlined(hot, "inlined", 4, 0x1010, 0x1020);
  builder_.add_range(hot, 0x5000, 0x5010);
  const SymbolIndex index = builder_.build();
  EXPECT_EQ(at(index, 0x1018).begin, 0x1000u);
  EXPECT_EQ(at(index, 0x3008).begin, 0x3000u);
  EXPECT_EQ(at(index, 0x5008).begin, 0x3000u);
}

TEST_F(IndexBuilderTest, LinesOfALaterSequenceBeginWhereTheEarlierOneEnds) {
  function("f", 0x1000, 0x1100);
  const NameId file = builder_.name("a.cpp");
  builder_.add_line(0x1040, file, 3);  // in any order; the last row at an address counts
  builder_.add_line(0x1000, file, 1);
  builder_.add_line(0x1000, file, 2);
  builder_.end_sequence(0x1050);
  builder_.add_line(0x1030, file, 7);
  builder_.add_line(0x1045, file, 8);
  builder_.add_line(0x1060, file, 9);
  builder_.end_sequence(0x1070);
  builder_.add_line(0x1080, file, 10);
  builder_.add_line(0x1088, file, 10);  // the row adds nothing new
  builder_.end_sequence(0x1090);
  const SymbolIndex index = builder_.build();
  const std::vector<LineRow> expected = {{0x1000, file, 2}, {0x1040, file, 3}, {0x1050, file, 8},
                                         {0x1060, file, 9}, {0x1070, 0, 0},    {0x1080, file, 10},
                                         {0x1090, 0, 0}};
  EXPECT_EQ(std::vector(index.lines().begin(), index.lines().end()), expected);
  EXPECT_EQ(chain(index, 0x1075), "f:0");
}

TEST_F(IndexBuilderTest, NonsenseIsLeftOut) {
  builder_.add_range(7, 0x1000, 0x2000);  // there is no such scope
  EXPECT_EQ(builder_.add_inlined(7, kNoName, kNoName, 1), kNoScope);
  EXPECT_EQ(builder_.add_inlined(kNoScope, kNoName, kNoName, 1), kNoScope);
  function("backwards", 0x2000, 0x1000);
  function("beyond", 0xFFF0, 0xFFFFFFFF);
  builder_.add_line(0x20000, kNoName, 1);  // the address is outside the image
  builder_.end_sequence(0x30000);
  builder_.add_line(0x2000, kNoName, 1);
  builder_.end_sequence(0x1000);  // the sequence ends before it begins
  builder_.add_line(0x3000, builder_.name("never ended"), 1);
  const SymbolIndex index = builder_.build();
  EXPECT_EQ(index.segments().size(), 2u);
  EXPECT_EQ(index.segments()[1].rva, kImage);
  EXPECT_EQ(chain(index, 0xFFFFFFFE), "-");
  EXPECT_TRUE(index.lines().empty());
}

TEST_F(IndexBuilderTest, DeepChainIsCutOffAndSaysSo) {
  ScopeId deepest = function("f", 0x1000, 0x1100);
  std::size_t depth = 1;
  for (;; ++depth) {
    const ScopeId next = inlined(deepest, "g", 1, 0x1000, 0x1100);
    if (next == kNoScope) break;
    deepest = next;
  }
  EXPECT_EQ(depth, SymbolIndex::kMaxDepth);
  EXPECT_TRUE(builder_.full());
  EXPECT_EQ(at(builder_.build(), 0x1000).frames.size(), SymbolIndex::kMaxDepth);
  EXPECT_FALSE(builder_.full());
}

// Every address of random claims is compared with a search through all claims.
TEST(DisjointTest, RandomClaimsBelongToTheStrongest) {
  std::mt19937 random(13);
  for (int round = 0; round < 2000; ++round) {
    std::vector<ClaimedRange> claims;
    const unsigned count = random() % 12;
    for (ScopeId i = 0; i < count; ++i) {
      const std::uint32_t begin = random() % 60;
      claims.push_back({begin, begin + static_cast<std::uint32_t>(random() % 20), i, random() % 4});
    }
    const SortedRows<Segment> sorted(disjoint(claims));
    const std::span<const Segment> segments = sorted.rows();
    EXPECT_LE(segments.size(), 2 * claims.size());
    for (std::size_t i = 1; i < segments.size(); ++i) {
      ASSERT_LT(segments[i - 1].rva, segments[i].rva);
      ASSERT_NE(segments[i - 1].scope, segments[i].scope);
    }
    for (std::uint32_t rva = 0; rva < 90; ++rva) {
      ScopeId strongest = kNoScope;
      std::tuple<std::uint64_t, std::uint32_t, ScopeId> best{};
      for (const ClaimedRange& claim : claims) {
        const std::tuple key(claim.rank, claim.begin, claim.scope);
        if (rva < claim.begin || rva >= claim.end || (strongest != kNoScope && key < best)) continue;
        strongest = claim.scope;
        best = key;
      }
      const Segment* const found = sorted.last_at(rva);
      ASSERT_EQ(found == nullptr ? kNoScope : found->scope, strongest) << rva;
    }
  }
}

TEST(NamePoolTest, TextsAreKeptOnce) {
  NamePool pool;
  std::map<std::string, NameId> ids;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20000; ++i) {
      const std::string text = "name" + std::to_string(i * 7919 % 10007) + std::string(i % 50, 'x');
      const NameId id = pool.intern(text);
      const auto [at, fresh] = ids.try_emplace(text, id);
      ASSERT_EQ(at->second, id);
    }
  }
  for (const auto& [text, id] : ids) ASSERT_EQ(pool.text(id), text);
  EXPECT_EQ(pool.text(kNoName), "");
  EXPECT_EQ(pool.intern(""), kNoName);
  EXPECT_LT(pool.bytes(), 2u << 20);
  const std::string huge(NamePool::kMaxName + 5, 'h');
  EXPECT_EQ(pool.text(pool.intern(huge)).size(), NamePool::kMaxName);
}

}  // namespace
}  // namespace mixwalk

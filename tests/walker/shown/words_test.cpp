#include "walker/shown/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "tests/builders/recordings.h"
#include "tests/support/golden.h"
#include "walker/store/layout.h"

namespace mixwalk {
namespace {

TEST(Words, EveryReasonHasAKeyAndASentenceOfItsOwn) {
  std::set<std::string_view> keys, sentences;
  constexpr int kReasons = static_cast<int>(kOpenReasons);
  for (int i = 0; i < kReasons; ++i) {
    keys.insert(enum_name(static_cast<OpenReason>(i)));
    sentences.insert(sentence(static_cast<OpenReason>(i)));
  }
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(kReasons));
  EXPECT_EQ(sentences.size(), static_cast<std::size_t>(kReasons));
  EXPECT_FALSE(keys.contains(""));
  EXPECT_FALSE(sentences.contains(""));
}

TEST(Words, EveryEventHasAKeyOfItsOwn) {
  std::set<std::string_view> keys;
  constexpr int kEvents = static_cast<int>(SampleEvent::module_load) + 1;
  for (int i = 0; i < kEvents; ++i) keys.insert(enum_name(static_cast<SampleEvent>(i)));
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(kEvents));
  EXPECT_FALSE(keys.contains(""));
  EXPECT_EQ(unit(SampleEvent::cpu), "nanoseconds");
  EXPECT_EQ(unit(SampleEvent::exception), "count");
  EXPECT_EQ(enum_name(SampleEvent::class_load), "class-load");
  EXPECT_EQ(enum_name(SampleEvent::module_load), "module-load");
  EXPECT_EQ(unit(SampleEvent::module_load), "count");
}

TEST(Words, TheRuntimeWithItsVersion) {
  EXPECT_EQ(runtime_text({".NET", 10, 0, 12, 5}), ".NET 10.0.12");
  EXPECT_EQ(runtime_text({}), "no .NET runtime");
}

// On a busy machine, 10 samples a second were reached of 100 that were requested.
TEST(Words, TheRateThatWasReachedStandsBesideTheOneThatWasAskedFor) {
  Recording recording = parked_recording({.threads = 2, .frames = 1, .seconds = 60});
  EXPECT_EQ(rate_sentence(recording), "10.0 samples a second of each thread, 100 asked for");
  recording.period_ns = 0;
  EXPECT_EQ(rate_sentence(recording), "10.0 samples a second of each thread");
  recording.event = SampleEvent::cpu;
  EXPECT_EQ(rate_sentence(recording), "");
}

TEST(Words, RatesHaveTheDigitsThatMatter) {
  const auto words = [](double reached_hz, std::uint64_t period_ns) {
    const RateWords rate = rate_words(reached_hz, period_ns);
    return rate.reached + " of " + rate.asked;
  };
  EXPECT_EQ(words(98.26, 10'000'000), "98.3 of 100");
  EXPECT_EQ(words(9876.54, 100'000), "9876.5 of 10000");
  EXPECT_EQ(words(100, 1'000'000'000 / 7000), "100.0 of 7000");
  EXPECT_EQ(words(0.0126, 60'000'000'000), "0.013 of 0.016667");
  EXPECT_EQ(words(0, 10'000'000), "0 of 100");
}

TEST(Words, EachKindHasALetterOfItsOwn) {
  const std::string letters = {letter(FrameKind::managed), letter(FrameKind::native), letter(FrameKind::stub),
                               letter(FrameKind::gap)};
  EXPECT_EQ(letters, "MNSG");
}

TEST(Words, ARunThatClosedOnTheStackPointerIsClosed) {
  EXPECT_EQ(enum_name(RunEnd::closed_rsp), enum_name(RunEnd::closed));
}

// The values go from `first` to `last`, because the reason "none" is written in no document.
template <class Enum>
void expect_documented(Enum first, Enum last) {
  const std::string schema = file_text(golden_file("mixwalk-dump.schema.json"));
  const std::string page = file_text(repository_file("docs/json.md"));
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
    const std::string word(enum_name(static_cast<Enum>(i)));
    EXPECT_NE(schema.find('"' + word + '"'), std::string::npos) << word;
    EXPECT_NE(page.find('`' + word + '`'), std::string::npos) << word;
  }
}

// The values go from 0 to `last`. The name of each is that of docs/mixwalk.proto in small letters.
template <class Enum>
void expect_in_file_schema(const std::string& name, Enum last) {
  const std::string schema = file_text(repository_file("docs/mixwalk.proto"));
  const std::size_t begin = schema.find("enum " + name + " {");
  ASSERT_NE(begin, std::string::npos);
  const std::string values = schema.substr(begin, schema.find('}', begin) - begin);
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    std::string word(enum_name(static_cast<Enum>(i)));
    std::ranges::transform(word, word.begin(),
                           [](char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
    EXPECT_NE(values.find("  " + word + " = " + std::to_string(i) + ';'), std::string::npos) << word;
  }
}

TEST(Words, TheSchemaOfFilesHasThemAll) {
  expect_in_file_schema("Event", layout::kLastEvent);
  expect_in_file_schema("Engine", layout::kLastEngine);
  expect_in_file_schema("Kind", layout::kLastKind);
  expect_in_file_schema("OpenReason", layout::kLastReason);
  expect_in_file_schema("LockKind", layout::kLastLock);
}

TEST(Words, TheSchemaAndItsPageHaveThemAll) {
  expect_documented(FrameKind::managed, FrameKind::gap);
  expect_documented(Trust::context, kLastTrust);
  expect_documented(SymbolKind::function_table, SymbolKind::import);
  expect_documented(CallCheck::verified, CallCheck::elsewhere);
  expect_documented(RunPosition::leaf, RunPosition::whole);
  expect_documented(RunEnd::closed, RunEnd::open);
  expect_documented(OpenReason::unreadable_stack, kLastOpenReason);
  expect_documented(Engine::snapshot, Engine::automatic);
  expect_documented(CaptureMethod::inside, CaptureMethod::file);
}

TEST(Words, HowFarTheWalkAndTheRuntimeAgree) {
  EXPECT_EQ(sentence(CallAgreement{}), "");
  EXPECT_EQ(sentence(CallAgreement{.calls = 9, .met = 8, .runs = 7, .bounded = 6, .agreed = 5}),
            "the runtime's own notes about calls confirm 5 of 7 native runs that end at managed code, and contradict 1; "
            "of 9 callers in these notes, the walk has found 8");
}

TEST(Words, SharesOfTheStandings) {
  StandingSums sums;
  EXPECT_EQ(standing_sentence(sums), "");
  sums.add(Standing::unknown, 29);
  EXPECT_EQ(standing_sentence(sums), "");
  sums.add(Standing::idle, 71);
  EXPECT_EQ(standing_sentence(sums), "idle 71 %, unknown 29 %");
  sums.add(Standing::runs, 100'000);
  EXPECT_EQ(standing_sentence(sums), "idle less than 1 %, runs 100 %, unknown less than 1 %");
}

}  // namespace
}  // namespace mixwalk

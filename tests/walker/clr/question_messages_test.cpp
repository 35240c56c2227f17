#include "walker/clr/question_messages.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

std::optional<QuestionMessage> back(const QuestionMessage& message) {
  const std::string bytes = encode_question(message);
  EXPECT_EQ(question_length(std::string_view(bytes).substr(0, 4)), bytes.size() - 4);
  return decode_question(std::string_view(bytes).substr(4));
}

const ClrCode kCode{0x1000, 0x2000, 0x30, 0x4000, 0x50, 0x6000, true};

const QuestionMessage kMessages[] = {
    OpenClr{kQuestionsVersion, "C:\\dac.dll", 0x1C4, "", "", 0x7FF8'0000'0000},
    OpenClr{kQuestionsVersion, "C:\\dac.dll", 0, "C:\\x.dmp", "srv*D:\\s", 1},
    AskCode{{1, 2, ~0ull}},
    AskCode{},
    AskMethods{{7}},
    AskCodeNames{{8, 9}},
    AskThreads{},
    TargetRan{},
    Opened{},
    NotOpened{"why not"},
    CodeAnswer{{kCode, std::nullopt, kCode}},
    CodeAnswer{},
    MethodsAnswer{{{"A.B(System.Int32)", false, "a!b", true}, {}, {"IL_STUB_PInvoke", true, {}, false}}},
    CodeNamesAnswer{{"", "JIT_WriteBarrier"}},
    ThreadsAnswer{{{0x1000, 42, 1, 0x3000, true, false}, {0x2000, 0, 2, 0, false, true}}},
    AskSyncBlocks{1},
    AskObjectTypes{{0x1234, 0x5678}},
    SyncBlocksAnswer{},
    SyncBlocksAnswer{{{{0x1000, 0x2000, 0x3000, 2, true}, {}}, 17, true}},
    ObjectTypesAnswer{{"System.Object", ""}},
    ThreadsAnswer{{{.address = 0x1000, .object = 0x5000, .state = 0x0100'0000, .thrown = 0x6000}}},
    AskTypes{{0x1234}},
    TypesAnswer{{{}, {"P+<Do>d__1", 0x1000, {{"<>1__state", 8, 8, 0}, {"<>u__1", 16, 0x11, 0x2000}}, 24, 8}}},
    AskHeap{},
    HeapAnswer{{{0x1000, 0x2000, 0x3000}, {}}, {{0x1800, 0x1900}}},
    AskHeapObjectTypes{{0x1234}},
    AskLockObjects{{0x1234, 0x5678}},
    LockObjectsAnswer{{ClrLock{7, 2, true, {0x9ABC}}, std::nullopt, ClrLock{},
                       ClrLock{7, 0, true, {1, 2, 3, ~0ull}, true}, ClrLock{0, 0, true, {5}, false, true}}},
    AskIlPlaces{{0x1234, 0x5678}},
    AskMachinePlaces{{0x1234}},
    IlPlacesAnswer{},
    IlPlacesAnswer{{{{"C:\\a.dll", {std::byte{1}, std::byte{2}}, false}, {},
                     {.pdb = CodeViewId{{std::byte{3}}, 1, ~0u, true, "C:\\a.pdb"}}},
                    {{{1, 0x0600'0007, 42}, 0x9ABC}, {}, {{0, 0, 0}, 1}}}},
};

TEST(QuestionMessages, EachComesBackAsItWas) {
  for (const QuestionMessage& message : kMessages) EXPECT_EQ(back(message), message) << message.index();
}

TEST(QuestionMessages, CutAnywhereTheyAreNone) {
  for (const QuestionMessage& message : kMessages) {
    const std::string bytes = encode_question(message).substr(4);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_EQ(decode_question(std::string_view(bytes).substr(0, length)), std::nullopt) << message.index();
    }
    EXPECT_EQ(decode_question(bytes + bytes), std::nullopt);
  }
}

TEST(QuestionMessages, AnyByteExchangedNothingBreaks) {
  for (const QuestionMessage& message : kMessages) {
    const std::string bytes = encode_question(message).substr(4);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(value);
        decode_question(changed);
      }
    }
  }
}

TEST(QuestionMessages, ListsAndNamesAreLimited) {
  AskCode ask;
  ask.ips.resize(kMaxAsked);
  EXPECT_TRUE(back(ask));
  ask.ips.resize(kMaxAsked + 1);
  EXPECT_FALSE(back(ask));
  MethodsAnswer answer{{{.name = std::string(kMaxNameBytes + 1, 'x')}}};
  EXPECT_EQ(std::get<MethodsAnswer>(*back(answer)).methods[0].name.size(), kMaxNameBytes);  // the sender cuts the name
  answer.methods.assign(kMaxNamesAsked, {std::string(kMaxNameBytes, 'x'), true, std::string(kMaxNameBytes, 'y'), true});
  EXPECT_TRUE(back(answer));  // the largest answer fits into a message
  IlPlacesAnswer places;
  CodeViewId pdb;
  pdb.path = std::string(kMaxNameBytes, 'x');
  places.places.assemblies.assign(kMaxNamesAsked, {.path = std::string(kMaxNameBytes, 'x'), .pdb = pdb});
  places.places.places.assign(kMaxNamesAsked, {{kMaxNamesAsked - 1, ~0u, ~0u}, ~0ull});
  EXPECT_TRUE(back(places));  // the largest answer fits into a message
  places.places.places.push_back({});
  EXPECT_FALSE(back(places));
  places.places.places.resize(1);
  places.places.assemblies.resize(kMaxNamesAsked - 1);
  EXPECT_FALSE(back(places));  // the place's assembly does not exist
  AskLockObjects ask_locks;
  ask_locks.objects.resize(kMaxAsked);
  EXPECT_TRUE(back(ask_locks));
  LockObjectsAnswer locks;
  locks.locks.assign(kMaxAsked, ClrLock{~0u, ~0u, true, {~0ull, ~0ull, ~0ull, ~0ull}, true});
  EXPECT_TRUE(back(locks));
  ThreadsAnswer threads;
  threads.threads.assign(kMaxClrThreads, {~0ull, ~0u, ~0u, ~0ull});
  EXPECT_TRUE(back(threads));
  TypesAnswer types;
  types.types.assign(kMaxTypesAsked, {.name = std::string(kMaxNameBytes, 'x')});
  for (ClrType& type : types.types) {
    type.fields.assign(kMaxTypeFields, {std::string(kMaxFieldNameBytes, 'x'), ~0u, 0xFF, ~0ull});
  }
  EXPECT_TRUE(back(types));  // the largest answer fits into a message
  types.types.back().fields.emplace_back();
  EXPECT_FALSE(back(types));
  HeapAnswer heap;
  heap.parts.assign(kMaxHeapParts, {~0ull, ~0ull, ~0ull});
  heap.rooms.assign(kMaxClrThreads, {~0ull, ~0ull});
  EXPECT_TRUE(back(heap));
  heap.parts.push_back({});
  EXPECT_FALSE(back(heap));
  SyncBlocksAnswer blocks;
  blocks.blocks.blocks.assign(kMaxSyncBlocks, {~0ull, ~0ull, ~0ull, ~0u, true});
  EXPECT_TRUE(back(blocks));
  blocks.blocks.blocks.push_back({});
  EXPECT_FALSE(back(blocks));
}

TEST(QuestionMessages, NamesAreCutBetweenCharacters) {
  std::string name(kMaxNameBytes - 1, 'x');
  MethodsAnswer answer{{{.name = name + "\xE2\x82\xAC"}}};
  EXPECT_EQ(std::get<MethodsAnswer>(*back(answer)).methods[0].name, name);
  // Bytes that are not valid characters become longer when they are replaced by valid ones.
  answer.methods[0].name = std::string(kMaxNameBytes, '\xFF');
  EXPECT_LE(std::get<MethodsAnswer>(*back(answer)).methods[0].name.size(), kMaxNameBytes);
}

TEST(QuestionMessages, LengthThatNoMessageHas) {
  EXPECT_EQ(question_length(std::string("\xFF\xFF\xFF\xFF", 4)), std::nullopt);
  EXPECT_EQ(question_length(std::string("\0\0\0", 3)), std::nullopt);
  EXPECT_EQ(question_length(std::string("\5\0\0\0", 4)), 5u);
}

}  // namespace
}  // namespace mixwalk

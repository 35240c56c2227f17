#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "walker/clr/clr_questions.h"

namespace mixwalk {

// The messages between mixwalk.exe and the worker in which the runtime's debugging library runs, over a private
// pipe. Each is a 32-bit little-endian length and a protobuf message with one field. The number of this field is the
// kind of the message. There is one open question at a time. The side that asks treats answers as hostile, since the
// library works on the memory of any process or file. Decoding is bounded, throws nothing except std::bad_alloc, and
// rejects what it does not understand.
inline constexpr std::uint32_t kQuestionsVersion = 7;
inline constexpr std::size_t kMaxQuestionBytes = 8 << 20;
inline constexpr std::size_t kMaxAsked = 4096;      // addresses in one question for code, or for lock objects
// The number of addresses in one question for methods, types or places in IL. All their names fit into a message.
inline constexpr std::size_t kMaxNamesAsked = 200;
inline constexpr std::size_t kMaxNameBytes = 8192;  // of one name; longer ones are cut
// The number of addresses in one question for types with their fields, and of fields of one type. Real types have some
// hundred fields, those that tools generate included.
inline constexpr std::size_t kMaxTypesAsked = 20, kMaxTypeFields = 1000;
inline constexpr std::size_t kMaxFieldNameBytes = 256;
inline constexpr std::size_t kMaxClrThreads = 100'000;
inline constexpr std::size_t kMaxSyncBlocks = 10'000;  // in one answer
inline constexpr std::size_t kMaxHeapRooms = 1024;     // besides those of threads: one for each heap of the collector
inline constexpr std::size_t kMaxHeapParts = 100'000;  // parts have 4 MB, so this is a heap of 400 GB

// The first message, from the side that asks to the worker.
struct OpenClr {
  using Answer = struct Opened;
  std::uint32_t version = kQuestionsVersion;
  std::string dac_path;  // UTF-8
  // The target is a process, by a handle that the worker has inherited, or a file.
  std::uint64_t process = 0;
  std::string dump_path;  // UTF-8; used if process is 0
  std::string symbol_path;  // --symbol-path: where images are that the dump does not contain
  std::uint64_t runtime_base = 0;
  bool operator==(const OpenClr&) const = default;
};
struct AskCode {
  using Answer = struct CodeAnswer;
  std::vector<std::uint64_t> ips;
  bool operator==(const AskCode&) const = default;
};
struct AskMethods {
  using Answer = struct MethodsAnswer;
  std::vector<std::uint64_t> methods;
  bool operator==(const AskMethods&) const = default;
};
struct AskCodeNames {
  using Answer = struct CodeNamesAnswer;
  std::vector<std::uint64_t> addresses;
  bool operator==(const AskCodeNames&) const = default;
};
struct AskThreads {
  using Answer = struct ThreadsAnswer;
  bool operator==(const AskThreads&) const = default;
};
// Asks for sync blocks from this number on (ClrQuestions::sync_blocks).
struct AskSyncBlocks {
  using Answer = struct SyncBlocksAnswer;
  std::uint32_t first = 1;
  bool operator==(const AskSyncBlocks&) const = default;
};
struct AskObjectTypes {
  using Answer = struct ObjectTypesAnswer;
  std::vector<std::uint64_t> objects;
  bool operator==(const AskObjectTypes&) const = default;
};
// ClrQuestions::types.
struct AskTypes {
  using Answer = struct TypesAnswer;
  std::vector<std::uint64_t> method_tables;
  bool operator==(const AskTypes&) const = default;
};
// ClrQuestions::heap.
struct AskHeap {
  using Answer = struct HeapAnswer;
  bool operator==(const AskHeap&) const = default;
};
// ClrQuestions::heap_object_types.
struct AskHeapObjectTypes {
  using Answer = struct ObjectTypesAnswer;
  std::vector<std::uint64_t> addresses;
  bool operator==(const AskHeapObjectTypes&) const = default;
};
struct AskLockObjects {
  using Answer = struct LockObjectsAnswer;
  std::vector<std::uint64_t> objects;
  bool operator==(const AskLockObjects&) const = default;
};
struct AskIlPlaces {
  using Answer = struct IlPlacesAnswer;
  std::vector<std::uint64_t> ips;
  bool operator==(const AskIlPlaces&) const = default;
};
// ClrQuestions::machine_places.
struct AskMachinePlaces {
  using Answer = struct IlPlacesAnswer;
  std::vector<std::uint64_t> method_tables;
  bool operator==(const AskMachinePlaces&) const = default;
};
// Says that the target has run since, so that everything is read anew.
struct TargetRan {
  using Answer = struct Opened;
  bool operator==(const TargetRan&) const = default;
};

// The answers, from the worker. Lists have one entry for each address of the question, in its order.
struct Opened {
  bool operator==(const Opened&) const = default;
};
struct NotOpened {
  std::string why;  // one line, UTF-8, no full stop
  bool operator==(const NotOpened&) const = default;
};
struct CodeAnswer {
  std::vector<std::optional<ClrCode>> codes;
  bool operator==(const CodeAnswer&) const = default;
};
struct MethodsAnswer {
  std::vector<ClrMethod> methods;
  bool operator==(const MethodsAnswer&) const = default;
};
struct CodeNamesAnswer {
  std::vector<std::string> names;
  bool operator==(const CodeNamesAnswer&) const = default;
};
struct ThreadsAnswer {
  std::vector<ClrThread> threads;
  bool operator==(const ThreadsAnswer&) const = default;
};

struct SyncBlocksAnswer {
  ClrSyncBlocks blocks;
  bool operator==(const SyncBlocksAnswer&) const = default;
};
struct ObjectTypesAnswer {
  std::vector<std::string> types;
  bool operator==(const ObjectTypesAnswer&) const = default;
};
struct TypesAnswer {
  std::vector<ClrType> types;
  bool operator==(const TypesAnswer&) const = default;
};
struct HeapAnswer {
  std::vector<HeapPart> parts;  // sorted; no part begins before the end of the part before it
  struct Room {
    std::uint64_t begin = 0, next = 0;  // HeapTypes::free_room
    bool operator==(const Room&) const = default;
  };
  std::vector<Room> rooms;
  bool operator==(const HeapAnswer&) const = default;
};
struct LockObjectsAnswer {
  std::vector<std::optional<ClrLock>> locks;
  bool operator==(const LockObjectsAnswer&) const = default;
};

struct IlPlacesAnswer {
  ClrIlPlaces places;
  bool operator==(const IlPlacesAnswer&) const = default;
};

using QuestionMessage = std::variant<OpenClr, AskCode, AskMethods, AskCodeNames, AskThreads, AskSyncBlocks,
                                     AskObjectTypes, AskTypes, AskHeap, AskHeapObjectTypes, AskLockObjects, AskIlPlaces,
                                     AskMachinePlaces, TargetRan, Opened, NotOpened, CodeAnswer, MethodsAnswer,
                                     CodeNamesAnswer, ThreadsAnswer, SyncBlocksAnswer, ObjectTypesAnswer, TypesAnswer,
                                     HeapAnswer, LockObjectsAnswer, IlPlacesAnswer>;

// The message with its length in front.
std::string encode_question(const QuestionMessage& message);
// `bytes`: one message without its length. Returns nothing if they are not a whole, known message within the limits.
std::optional<QuestionMessage> decode_question(std::string_view bytes);
// The length that four bytes announce. Returns nothing if no message has that length.
std::optional<std::size_t> question_length(std::string_view bytes) noexcept;

}  // namespace mixwalk

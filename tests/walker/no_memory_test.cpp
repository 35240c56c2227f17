// Tests everything that mixwalk.dll writes, and the checks of calls, while each allocation fails in turn. The result
// must be std::bad_alloc, and the same question asked again must be answered as if nothing had happened.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "symbols/calls/call_checker.h"
#include "tests/builders/fake_symboliser.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/recordings.h"
#include "tests/builders/snapshot_builder.h"
#include "walker/session/protocol.h"
#include "walker/store/recording_writer.h"

namespace {

constexpr std::uint64_t kNone = UINT64_MAX;
std::uint64_t g_before_failure = kNone;  // allocations that succeed before one fails

}  // namespace

// All forms of operator new that are used are replaced, since the sanitizer has its own version of each.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  const bool fails = g_before_failure != kNone && g_before_failure-- == 0;
  return fails ? nullptr : std::malloc(bytes);
}
void* operator new(std::size_t bytes) {
  void* const block = operator new(bytes, std::nothrow);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }

namespace mixwalk {
namespace {

// Returns how many allocations of `work` failed, one in each call.
template <class Work>
std::uint64_t fail_in_turn(Work work) {
  for (std::uint64_t before = 0;; ++before) {
    g_before_failure = before;
    try {
      work();
      const bool failed = g_before_failure == kNone;
      g_before_failure = kNone;
      EXPECT_FALSE(failed) << "an allocation failed, and nobody said so";
      return before;
    } catch (const std::bad_alloc&) {
      g_before_failure = kNone;
    }
  }
}

// It depends on a buffer's length which message makes it grow, so the length is varied.
constexpr std::size_t kLengths = 128;

TEST(NoMemory, MessageOfAThread) {
  std::uint64_t failed = 0;
  for (Thread thread : representative_snapshot().threads) {
    for (std::size_t length = 0; length < kLengths; ++length) {
      thread.name.assign(length, 'x');
      const Message message = thread;
      failed += fail_in_turn([&] { encode(message); });
    }
  }
  EXPECT_GT(failed, kLengths);
}

TEST(NoMemory, ARecording) {
  Recording recording = representative_recording();
  std::uint64_t failed = 0;
  for (std::size_t length = 0; length < kLengths; ++length) {
    recording.process.path.assign(length, 'x');
    recording.threads[0].name.assign(length, 'x');
    failed += fail_in_turn([&] {
      StringSink sink;
      RecordingWriter writer(sink);
      writer.begin(recording);
      writer.append(recording);
      writer.end(recording);
    });
  }
  EXPECT_GT(failed, kLengths);
}

class OneImage final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string&) override { return bytes; }
  std::vector<std::byte> bytes;
};

// All questions use one checker, because the entries that a failed question has left in its tables must be right.
TEST(NoMemory, ChecksOfCalls) {
  using test::ImageBuilder;
  constexpr std::uint64_t kBase = 0x1'8000'0000;
  constexpr std::uint32_t kCode = ImageBuilder::kCode, kWrapper = kCode + 0x20, kInner = kCode + 0x40;
  OneImage files;
  files.bytes = ImageBuilder()
                    .function(kCode, kCode + 0x20)
                    .function(kWrapper, kWrapper + 0x20)
                    .function(kInner, kInner + 0x20)
                    .put_code(kCode + 3, {0xE8, 0x18, 0, 0, 0})           // calls the wrapper
                    .put_code(kWrapper + 0x1B, {0xE9, 0, 0, 0, 0})        // the wrapper jumps to the inner function
                    .put_code(kInner + 0x1F, {0xC3})
                    .build();
  test::FakeSymboliser symboliser(files);
  const LoadedImage image{"C:\\built.dll", kBase, ImageBuilder::kSizeOfImage, ImageBuilder::kTimestamp};
  symboliser.file_of(image);
  CallChecker checker(symboliser, {image});
  const CallChecker::Callee inner{0, {kBase + kInner + 8, AddressKind::return_address}};
  const std::uint64_t failed = fail_in_turn([&] {
    EXPECT_EQ(checker.check(0, kBase + kCode + 8, &inner).check, CallCheck::verified);
  });
  EXPECT_GT(failed, 5u);
}

}  // namespace
}  // namespace mixwalk

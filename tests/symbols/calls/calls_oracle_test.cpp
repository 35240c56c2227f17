// The checks of calls, on images by other authors: every call that objdump lists must be recognised as a call, every
// direct call must be verified, and invented calls must not be.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <random>

#include "symbols/calls/call_checker.h"
#include "tests/builders/fake_symboliser.h"
#include "tests/oracles/binutils_oracle.h"
#include "tests/support/command_lines.h"
#include "unmanaged/image/imports.h"
#include "unmanaged/step/call_site.h"

namespace mixwalk {
namespace {

struct ListedCall {
  std::uint32_t rva, return_rva;
};

// Returns the calls in the code of functions that .pdata knows; between these functions objdump may take data for code.
std::vector<ListedCall> listed_calls(const std::string& path, const PeImage& image) {
  std::vector<ListedCall> calls;
  const std::string command =
      std::string(MIXWALK_OBJDUMP) + " -d -M intel --insn-width=16 '" + path + "' 2>/dev/null";
  test::each_line(command, [&](const std::string& line) {
    unsigned long long address = 0;
    int used = 0;
    if (std::sscanf(line.c_str(), " %llx:\t%n", &address, &used) != 1 || used == 0) return;
    const std::size_t end = line.find('\t', static_cast<std::size_t>(used));
    if (end == std::string::npos) return;
    std::string mnemonic = line.substr(end + 1);
    for (const char* const prefix : {"rex.W ", "rex ", "notrack ", "bnd "}) {
      if (mnemonic.starts_with(prefix)) mnemonic.erase(0, std::string_view(prefix).size());
    }
    if (!mnemonic.starts_with("call ")) return;
    std::uint32_t bytes = 0;
    for (std::size_t at = static_cast<std::size_t>(used); at + 1 < end && line[at] != ' '; at += 3) ++bytes;
    const auto rva = static_cast<std::uint32_t>(address - image.preferred_base());
    if (image.function_at(rva) != nullptr) calls.push_back({rva, rva + bytes});
  });
  return calls;
}

// Asks once for each image, since objdump lists all its instructions.
const std::vector<ListedCall>& calls_of(const std::string& path, const PeImage& image) {
  static std::map<std::string, std::vector<ListedCall>> calls;
  const auto [at, is_new] = calls.try_emplace(path);
  if (is_new) at->second = listed_calls(path, image);
  return at->second;
}

class OneFile final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    return test::read_file(path);
  }
};

// Gives the image's code to the hand-written decoder of frozen code (unmanaged/step/call_site.h).
class ImageCode final : public MemoryReader {
 public:
  explicit ImageCode(const PeImage& image) : image_(image) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    const auto found = image_.bytes_at(static_cast<std::uint32_t>(address), bytes);
    if (found) std::memcpy(into, found->data(), bytes);
    return found.has_value();
  }

 private:
  const PeImage& image_;
};

class CallsOfImage : public testing::TestWithParam<std::string> {
 protected:
  static constexpr std::uint64_t kBase = 0x7F0000000000;

  void SetUp() override {
    const std::string path =
        GetParam().find('/') == std::string::npos ? test::wine_dll(GetParam()) : GetParam();
    file_ = std::make_shared<const ImageFile>(path, test::read_file(path));
    ASSERT_EQ(file_->image.error(), PeError::none);
    image_ = {path, kBase, file_->image.size_of_image(), file_->image.timestamp()};
    calls_ = calls_of(path, file_->image);
    ASSERT_GT(calls_.size(), 100u) << "objdump lists no calls";
  }

  CallChecker::Callee callee(std::uint32_t rva) const {
    return {0, {kBase + rva, AddressKind::instruction_pointer}};
  }
  CallCheck check(CallChecker& checker, std::uint32_t return_rva, std::uint32_t callee_rva) const {
    const CallChecker::Callee above = callee(callee_rva);
    return checker.check(0, kBase + return_rva, &above).check;
  }
  std::uint32_t any_place(const PeImage::Function& function) {
    return function.begin + static_cast<std::uint32_t>(random_() % (function.end - function.begin));
  }
  const PeImage::Function& any_function() {
    const auto functions = file_->image.functions();
    return functions[random_() % functions.size()];
  }

  std::shared_ptr<const ImageFile> file_;
  LoadedImage image_;
  OneFile files_;
  test::FakeSymboliser symboliser_{files_};
  std::vector<ListedCall> calls_;
  std::mt19937 random_{20261122};
};

TEST_P(CallsOfImage, EveryCallIsOneAndTheDirectOnesAreVerified) {
  CallChecker checker(symboliser_, {image_});
  Disassembler disassembler;
  const PeImage& image = file_->image;
  std::size_t direct = 0, verified = 0, other = 0;
  for (const ListedCall& call : calls_) {
    const auto found = calls_before(image, call.return_rva, disassembler);
    const auto listed = std::ranges::find(found, call.rva, &CallBefore::rva);
    ASSERT_NE(listed, found.end()) << std::hex << call.rva;
    const SweepResult sweep = sweep_to(image, call.return_rva, disassembler);
    EXPECT_TRUE(sweep.found == Sweep::unknown || (sweep.found == Sweep::call && sweep.rva == call.rva))
        << std::hex << call.rva;
    if (listed->instruction.target != FlowInstruction::Target::direct) {
      // Whatever function is above, the call is not marked.
      const CallCheck result = check(checker, call.return_rva, any_place(any_function()));
      EXPECT_TRUE(
          result == CallCheck::possible || result == CallCheck::verified ||
          (result == CallCheck::elsewhere && listed->instruction.target == FlowInstruction::Target::slot))
          << std::hex << call.rva;
      ++other;
      continue;
    }
    const PeImage::Function* const target =
        image.function_at(static_cast<std::uint32_t>(listed->instruction.address));
    if (target == nullptr) continue;  // leaf code: its end is not known
    ++direct;
    const CallCheck result = check(checker, call.return_rva, any_place(*target));
    EXPECT_EQ(result, CallCheck::verified) << std::hex << call.rva;
    verified += result == CallCheck::verified;
  }
  std::cout << GetParam() << ": " << calls_.size() << " calls; " << verified << " of " << direct
            << " direct ones verified, " << other << " others\n";
}

TEST_P(CallsOfImage, HandWrittenDecoderFindsTheSameCalls) {
  const ImageCode code(file_->image);
  Disassembler disassembler;
  std::size_t places = 0;
  const auto compare = [&](std::uint32_t return_rva) {
    std::set<std::pair<int, std::uint64_t>> by_hand, by_capstone;
    const CallSites found = calls_before(std::uint64_t{return_rva}, code);
    for (const CallSite& site : found.sites()) {
      by_hand.emplace(static_cast<int>(site.kind), site.address);
    }
    for (const CallBefore& call : calls_before(file_->image, return_rva, disassembler)) {
      if (call.instruction.kind != FlowInstruction::Kind::call) continue;
      const int kind = call.instruction.target == FlowInstruction::Target::direct ? 0
                       : call.instruction.target == FlowInstruction::Target::slot ? 1
                                                                                  : 2;
      by_capstone.emplace(kind, call.instruction.address);
    }
    ++places;
    EXPECT_EQ(by_hand, by_capstone) << std::hex << return_rva;
  };
  for (const ListedCall& call : calls_) compare(call.return_rva);
  std::cout << GetParam() << ": the same calls at " << places << " places\n";
}

TEST_P(CallsOfImage, RandomAddressesAreNotVerified) {
  CallChecker checker(symboliser_, {image_});
  constexpr std::size_t kTries = 20'000;
  std::array<std::size_t, kCallChecks> results{};
  for (std::size_t i = 0; i < kTries; ++i) {
    const std::uint32_t return_rva = any_place(any_function()) + 1;
    ++results[static_cast<std::size_t>(check(checker, return_rva, any_place(any_function())))];
  }
  std::cout << GetParam() << ": of " << kTries << " random pairs " << results[1] << " verified, "
            << results[2] << " possible, " << results[3] << " after no call, " << results[4]
            << " elsewhere\n";
  EXPECT_LE(results[1], kTries / 1000);
}

// At real calls, the frame above is replaced by another function of the same image.
TEST_P(CallsOfImage, AnotherFunctionAboveARealCallIsNotVerified) {
  CallChecker checker(symboliser_, {image_});
  std::array<std::size_t, kCallChecks> results{};
  for (std::size_t i = 0; i < 10'000; ++i) {
    const ListedCall& call = calls_[random_() % calls_.size()];
    ++results[static_cast<std::size_t>(check(checker, call.return_rva, any_place(any_function())))];
  }
  std::cout << GetParam() << ": of 10000 wrong callees " << results[1] << " verified, " << results[2]
            << " possible, " << results[3] << " after no call, " << results[4] << " elsewhere\n";
  EXPECT_LE(results[1], 100u);  // a function that jumps to many others, or the right function by chance
  EXPECT_EQ(results[3], 0u);
}

std::vector<std::string> images() {
  if (const char* const given = std::getenv("MIXWALK_CALL_IMAGE")) return {given};
  std::vector<std::string> names = {"ntdll.dll", "kernelbase.dll"};
  names.resize(MIXWALK_IMAGES);
  return names;
}

INSTANTIATE_TEST_SUITE_P(On, CallsOfImage, testing::ValuesIn(images()));

}  // namespace
}  // namespace mixwalk

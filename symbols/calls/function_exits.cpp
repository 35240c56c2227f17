#include "symbols/calls/function_exits.h"

#include <algorithm>

namespace mixwalk {
namespace {

using Kind = FlowInstruction::Kind;
using Target = FlowInstruction::Target;

// In bytes. Leaf code consists of thunks and assembly routines; real ones are shorter.
constexpr std::uint32_t kMaxLeafBytes = 256;
// The limit for exits of one function; real functions have up to a dozen.
constexpr std::size_t kMaxExits = 256;
// In instructions. If an instruction writes the return address, a return at most this many instructions later goes to
// the written address: push, ret; or mov [rsp], rax; lfence; ret (the thunks of "retpoline" builds, through which all
// indirect calls go).
constexpr int kReturnWindow = 4;

class Reader {
 public:
  Reader(const PeImage& image, std::uint32_t begin, std::uint32_t end)
      : image_(image), begin_(begin), end_(end) {}

  // `whole` means that the code is known to end at `end`. Otherwise it ends with the first instruction that nothing
  // follows.
  FunctionExits read(bool whole, Disassembler& disassembler) {
    const auto code = image_.bytes_at(begin_, end_ - begin_);
    if (!code) return unknown();
    int since_write = kReturnWindow;
    for (std::uint32_t at = 0; at < code->size();) {
      const auto instruction = disassembler.decode(code->subspan(at), begin_ + at);
      if (!instruction) return unknown();
      since_write = instruction->writes_return ? 0 : since_write + 1;
      if (instruction->kind == Kind::end && since_write < kReturnWindow) exits_.unknown = true;
      at += instruction->bytes;
      add(*instruction);
      const bool last = instruction->kind == Kind::end || instruction->kind == Kind::jump;
      if (last && !whole) {
        end_ = begin_ + at;
        return finish();
      }
      if (at == code->size() && !last) {
        if (!whole) return unknown();
        targets_.push_back(end_);  // the code continues in what follows, unless the last call never returns
      }
    }
    return finish();
  }

 private:
  static FunctionExits unknown() { return {.unknown = true}; }

  void add(const FlowInstruction& instruction) {
    if (instruction.kind != Kind::jump && instruction.kind != Kind::conditional_jump) return;
    switch (instruction.target) {
      case Target::none: break;
      case Target::direct: add_target(instruction.address, targets_); break;
      case Target::slot: add_target(instruction.address, exits_.slots); break;
      case Target::unknown: exits_.unknown = true; break;
    }
  }

  void add_target(std::uint64_t address, std::vector<std::uint32_t>& to) {
    if (address >= image_.size_of_image()) {
      exits_.unknown = true;
    } else {
      to.push_back(static_cast<std::uint32_t>(address));
    }
  }

  FunctionExits finish() {
    for (const std::uint32_t target : targets_) {
      if (target - begin_ >= end_ - begin_) exits_.code.push_back(target);
    }
    for (auto* exits : {&exits_.code, &exits_.slots}) {
      std::sort(exits->begin(), exits->end());
      exits->erase(std::unique(exits->begin(), exits->end()), exits->end());
      if (exits->size() <= kMaxExits) continue;
      exits->resize(kMaxExits);
      exits_.unknown = true;
    }
    return std::move(exits_);
  }

  const PeImage& image_;
  const std::uint32_t begin_;
  std::uint32_t end_;
  FunctionExits exits_;
  std::vector<std::uint32_t> targets_;  // of direct jumps, also of jumps inside the function
};

}  // namespace

FunctionExits exits_of(const PeImage& image, std::uint32_t entry, Disassembler& disassembler) {
  if (!image.is_code(entry)) return {.unknown = true};
  if (const PeImage::Function* const function = image.function_at(entry)) {
    if (function->end - function->begin > kMaxExitBytes) return {.unknown = true};
    return Reader(image, function->begin, function->end).read(true, disassembler);
  }
  const PeSection& section = *image.section_at(entry);
  const std::uint32_t at = entry - section.rva;
  if (at >= section.file_bytes) return {.unknown = true};
  std::uint32_t room = std::min(kMaxLeafBytes, section.file_bytes - at);
  if (const PeImage::Function* const next = image.function_after(entry)) {
    room = std::min(room, next->begin - entry);
  }
  return Reader(image, entry, entry + room).read(false, disassembler);
}

}  // namespace mixwalk

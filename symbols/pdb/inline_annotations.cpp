#include "symbols/pdb/inline_annotations.h"

#include "symbols/byte_cursor.h"

namespace mixwalk {
namespace {

enum Operation : std::uint32_t {
  kEnd = 0,  // padding
  kCodeOffset = 1,
  kChangeCodeOffsetBase = 2,
  kChangeCodeOffset = 3,
  kChangeCodeLength = 4,
  kChangeFile = 5,
  kChangeLineOffset = 6,
  kChangeLineEndDelta = 7,
  kChangeRangeKind = 8,
  kChangeColumnStart = 9,
  kChangeColumnEndDelta = 10,
  kChangeCodeOffsetAndLineOffset = 11,
  kChangeCodeLengthAndCodeOffset = 12,
  kChangeColumnEnd = 13,
};

// The limit for a function's code; no function has so much.
constexpr std::uint64_t kMaxOffset = INT32_MAX;

// Reads a number of one, two or four bytes, as the first bits say. The other bits are the number, the highest byte
// first.
std::uint32_t number(ByteCursor& cursor) {
  const std::uint32_t first = cursor.u8();
  if ((first & 0x80) == 0) return first;
  const std::uint32_t second = cursor.u8();
  if ((first & 0xC0) == 0x80) return (first & 0x3F) << 8 | second;
  if ((first & 0xE0) != 0xC0) cursor.fail();
  const std::uint32_t third = cursor.u8();
  return (first & 0x1F) << 24 | second << 16 | third << 8 | cursor.u8();
}

// The lowest bit of `encoded` is the sign.
std::uint32_t moved(std::uint32_t line, std::uint32_t encoded) {
  return (encoded & 1) != 0 ? line - (encoded >> 1) : line + (encoded >> 1);
}

class Program {
 public:
  Program(std::uint32_t file, std::uint32_t line, std::vector<PlacedCode>& into)
      : file_(file), line_(line), into_(into), first_(into.size()) {}

  void run(std::span<const std::byte> annotations) {
    ByteCursor cursor(annotations);
    while (cursor.left() != 0 && offset_ <= kMaxOffset) {
      const std::uint32_t operation = number(cursor);
      if (operation == kEnd) continue;
      const std::uint32_t value = number(cursor);
      if (cursor.failed()) break;
      switch (operation) {
        case kCodeOffset:
          if (value < offset_) return;
          offset_ = value;
          begin_code();
          break;
        case kChangeCodeOffset:
          offset_ += value;
          begin_code();
          break;
        case kChangeCodeOffsetAndLineOffset:
          line_ = moved(line_, value >> 4);
          offset_ += value & 15;
          begin_code();
          break;
        case kChangeCodeLength:
          offset_ += value;
          end_code();
          break;
        case kChangeCodeLengthAndCodeOffset:
          offset_ += number(cursor);
          if (cursor.failed()) return;
          begin_code();
          end_code(offset_ + value);
          break;
        case kChangeFile:
          file_ = value;
          break;
        case kChangeLineOffset:
          line_ = moved(line_, value);
          break;
        case kChangeLineEndDelta:
        case kChangeRangeKind:
        case kChangeColumnStart:
        case kChangeColumnEndDelta:
        case kChangeColumnEnd:
          break;
        default:
          return;
      }
    }
  }

 private:
  void begin_code() {
    end_code();
    // Code whose length was given may reach into the code that begins here.
    if (into_.size() > first_ && into_.back().end > offset_) {
      into_.back().end = static_cast<std::uint32_t>(offset_);
      if (into_.back().begin == into_.back().end) into_.pop_back();
    }
    begin_ = offset_;
    open_ = offset_ <= kMaxOffset;
    begin_file_ = file_;
    begin_line_ = line_;
  }
  void end_code() { end_code(offset_); }
  void end_code(std::uint64_t end) {
    if (open_ && end > begin_ && end <= kMaxOffset) {
      into_.push_back({static_cast<std::uint32_t>(begin_), static_cast<std::uint32_t>(end), begin_file_,
                       begin_line_});
    }
    open_ = false;
  }

  std::uint64_t offset_ = 0;
  std::uint32_t file_, line_;
  std::vector<PlacedCode>& into_;
  std::size_t first_;  // the index in into_ from which on the entries are this program's
  bool open_ = false;        // code has begun, and its end is not known
  std::uint64_t begin_ = 0;
  std::uint32_t begin_file_ = 0, begin_line_ = 0;
};

}  // namespace

void read_annotations(std::span<const std::byte> annotations, std::uint32_t file, std::uint32_t line,
                      std::vector<PlacedCode>& into) {
  Program(file, line, into).run(annotations);
}

}  // namespace mixwalk

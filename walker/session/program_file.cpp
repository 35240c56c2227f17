#include "walker/session/program_file.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/debug_directory.h"
#include "unmanaged/image/exports_name.h"
#include "unmanaged/image/pe_image.h"
#include "unmanaged/minidump/file_kind.h"

namespace mixwalk {
namespace {

// Microsoft, "PE Format", and the CLI header of ECMA-335, II.25.3.3.
constexpr std::uint16_t kX86 = 0x14C, kArm = 0x1C0, kArmThumb = 0x1C4, kArm64 = 0xAA64;
constexpr std::uint16_t kPe32 = 0x10B, kLibrary = 0x2000;
constexpr std::uint64_t kPeAt = 0x3C, kCoffBytes = 24;  // with the signature
constexpr std::uint64_t kDirectoriesOfPe32 = 96, kDirectoriesOfPe32Plus = 112, kClrDirectory = 14 * 8;
constexpr std::uint64_t kSectionBytes = 40;
constexpr std::uint32_t kClrFlags = 16, kNeeds32Bits = 2;  // COMIMAGE_FLAGS_32BITREQUIRED

// The headers of an image for any processor. Values that lie beyond the file are 0.
class Headers {
 public:
  explicit Headers(std::span<const std::byte> file) : file_(file), pe_(at<std::uint32_t>(kPeAt)) {}

  bool is_dos() const { return at<std::uint16_t>(0) == 0x5A4D; }
  bool is_pe() const { return is_dos() && at<std::uint32_t>(pe_) == 0x4550; }
  std::uint16_t machine() const { return at<std::uint16_t>(pe_ + 4); }
  bool is_library() const { return (at<std::uint16_t>(pe_ + 22) & kLibrary) != 0; }
  std::uint32_t clr_header() const {
    const bool pe32 = at<std::uint16_t>(pe_ + kCoffBytes) == kPe32;
    return at<std::uint32_t>(pe_ + kCoffBytes + (pe32 ? kDirectoriesOfPe32 : kDirectoriesOfPe32Plus) + kClrDirectory);
  }
  bool clr_needs_32_bits() const {
    const std::uint32_t rva = clr_header();
    const std::uint64_t sections = pe_ + kCoffBytes + at<std::uint16_t>(pe_ + 20);
    for (std::uint64_t i = 0; i < at<std::uint16_t>(pe_ + 6); ++i) {
      const std::uint64_t section = sections + i * kSectionBytes;
      const std::uint64_t begin = at<std::uint32_t>(section + 12), bytes = at<std::uint32_t>(section + 16);
      if (rva < begin || rva - begin >= bytes) continue;
      return (at<std::uint32_t>(at<std::uint32_t>(section + 20) + (rva - begin) + kClrFlags) & kNeeds32Bits) != 0;
    }
    return true;
  }

 private:
  template <class T>
  T at(std::uint64_t offset) const {
    T value{};
    if (offset <= file_.size() && sizeof(T) <= file_.size() - offset) {
      std::memcpy(&value, file_.data() + offset, sizeof value);
    }
    return value;
  }

  std::span<const std::byte> file_;
  std::uint64_t pe_;
};

bool is_script(std::string_view path, std::span<const std::byte> file) {
  if (file.size() >= 2 && file[0] == std::byte{'#'} && file[1] == std::byte{'!'}) return true;
  const std::string name = ascii_lower(path);
  return std::ranges::any_of(std::initializer_list<std::string_view>{".bat", ".cmd", ".ps1", ".py", ".sh", ".vbs"},
                             [&](std::string_view extension) { return name.ends_with(extension); });
}

bool is_native_aot(std::span<const std::byte> file) {
  const PeImage image = PeImage::parse(file);
  bool aot = false;
  for (const PeExport& each : image.exports()) {
    if (each.name == kRuntimeInSingleFile) return false;
    aot = aot || each.name == kNativeAotRuntime;
  }
  return aot;
}

}  // namespace

std::optional<Failure> program_refusal(std::string_view path, std::span<const std::byte> file) {
  const std::string name(file_name(path));
  const std::string quoted = "\"" + name + "\"";
  const std::string child = "if it starts the .NET program, give that program's id with -p";
  if (is_script(path, file)) {
    return Failure{ExitCode::not_launched, quoted + " is a script: name the program that it starts, or " + child};
  }
  const Headers headers(file);
  if (!headers.is_pe()) {
    if (file_kind(file) != MinidumpError::text || headers.is_dos()) return std::nullopt;
    return Failure{ExitCode::not_launched, quoted + " is a text file, not a program: name an .exe"};
  }
  // The .dll of a program of .NET does not say that it is a library.
  if (headers.is_library() || ascii_lower(name).ends_with(".dll")) {
    if (headers.clr_header() == 0) return std::nullopt;
    return Failure{ExitCode::not_launched,
                   quoted + " is a .NET library, not a program: start it with -- dotnet " + name};
  }
  switch (headers.machine()) {
    case kX86:
      if (headers.clr_header() != 0 && !headers.clr_needs_32_bits()) return std::nullopt;
      [[fallthrough]];
    case kArm:
    case kArmThumb:
      return Failure{ExitCode::wrong_bitness, quoted + " is a 32-bit program; mixwalk walks x64 only (" + child + ")"};
    case kArm64: return Failure{ExitCode::wrong_bitness, quoted + " is a program for ARM64; mixwalk walks x64 only"};
    default: break;
  }
  if (!is_native_aot(file)) return std::nullopt;
  return Failure{ExitCode::refused, quoted + " is a NativeAOT program, whose runtime takes no mixwalk.dll: start it, "
                                             "and look at it from outside with \"mixwalk dump -p PID\""};
}

}  // namespace mixwalk

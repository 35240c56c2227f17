#include "walker/cli/options/default_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

// A program's name may be as long as a path component. Together with the rest it must still be one.
constexpr std::size_t kMaxProgramBytes = 100;

std::string default_extension(const RecordingFormat& format) {
  return format.extensions.empty() ? "." + std::string(format.name)
                                   : std::string(format.extensions.front());
}

// Replaces each character that a Windows file name may not contain by '_'. In a name that is too long and is cut, bytes
// outside ASCII are replaced too.
std::string file_name_of(std::string_view program) {
  program.remove_prefix(std::min(program.size(), program.find_last_of("/\\") + 1));
  if (ascii_lower(program).ends_with(".exe")) program.remove_suffix(4);
  std::string name(program);
  const bool cut = name.size() > kMaxProgramBytes;
  name.resize(std::min(name.size(), kMaxProgramBytes));
  for (char& byte : name) {
    const auto value = static_cast<unsigned char>(byte);
    constexpr std::string_view kReserved = "<>:\"/\\|?*";
    constexpr unsigned char kSpace = 0x20, kDelete = 0x7f;
    if (value < kSpace || value == kDelete || (cut && value > kDelete) ||
        kReserved.find(byte) != std::string_view::npos) {
      byte = '_';
    }
  }
  return name.empty() ? "recording" : name;
}

}  // namespace

std::string default_output(std::string_view program, const std::tm& when,
                           const RecordingFormat& format) {
  return fmt::format("{}-{:04}{:02}{:02}-{:02}{:02}{:02}{}", file_name_of(program),
                     when.tm_year + 1900, when.tm_mon + 1, when.tm_mday, when.tm_hour, when.tm_min,
                     when.tm_sec, default_extension(format));
}

std::string numbered_output(std::string_view path, const RecordingFormat& format, int number) {
  const std::string extension = default_extension(format);
  path.remove_suffix(extension.size());
  return fmt::format("{}-{}{}", path, number, extension);
}

std::string symbolised_output(std::string_view input) {
  constexpr std::string_view kExtension = ".mixwalk";
  if (ascii_lower(input).ends_with(kExtension)) input.remove_suffix(kExtension.size());
  return std::string(input) + ".symbolised.mixwalk";
}

}  // namespace mixwalk

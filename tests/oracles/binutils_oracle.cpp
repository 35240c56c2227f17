#include "tests/oracles/binutils_oracle.h"

#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/support/command_lines.h"

namespace mixwalk::test {
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// Reads the sections of objdump's report that matter here.
class ReportReader {
 public:
  explicit ReportReader(OracleImage& image) : image_(image) {}

  void line(const std::string& text) {
    unsigned long long base = 0, begin = 0, end = 0, at = 0;
    unsigned index = 0, ordinal = 0, rva = 0;
    int used = 0;
    if (std::sscanf(text.c_str(), "ImageBase %llx", &base) == 1) {
      image_base_ = base;
    } else if (text.starts_with("Export Address Table -- Ordinal Base")) {
      std::sscanf(text.c_str(), "Export Address Table -- Ordinal Base %u", &ordinal_base_);
    } else if (std::sscanf(text.c_str(), " [%u] +base[%u] %x %n", &index, &ordinal, &rva, &used) ==
               3) {
      const std::string rest = text.substr(static_cast<std::size_t>(used));
      const std::string forwarder = "Forwarder RVA -- ";
      image_.exports[ordinal] = {
          rva, rest.starts_with(forwarder) ? rest.substr(forwarder.size()) : std::string()};
    } else if (text.starts_with("[Ordinal/Name Pointer] Table")) {
      in_names_ = true;
    } else if (in_names_ && std::sscanf(text.c_str(), " [%u] %n", &index, &used) == 1) {
      image_.names.emplace(text.substr(static_cast<std::size_t>(used)), index + ordinal_base_);
    } else if (text.starts_with("The Function Table")) {
      in_functions_ = true;
    } else if (in_functions_ &&
               std::sscanf(text.c_str(), " %llx: %llx %llx", &at, &begin, &end) == 3) {
      image_.functions.emplace_back(begin - image_base_, end - image_base_);
    } else if (text.empty()) {
      in_names_ = in_functions_ = false;
    }
  }
  std::uint64_t image_base() const { return image_base_; }

 private:
  OracleImage& image_;
  std::uint64_t image_base_ = 0;
  unsigned ordinal_base_ = 0;
  bool in_names_ = false, in_functions_ = false;
};

}  // namespace

const std::vector<std::string> kWineDlls = {
    "ntdll.dll",   "kernel32.dll", "kernelbase.dll", "ucrtbase.dll", "user32.dll",   "rpcrt4.dll",
    "combase.dll", "ole32.dll",    "ws2_32.dll",     "advapi32.dll", "comctl32.dll", "shlwapi.dll"};

std::string wine_dll(const std::string& name) {
  const std::string path = std::string(MIXWALK_WINE_DLLS) + "/" + name;
  return exists(path) ? path : std::string();
}

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

OracleImage ask_binutils(const std::string& path) {
  OracleImage image;
  if (!exists(path)) {
    image.problem = "no Wine DLL to look at (" MIXWALK_WINE_DLLS "): install wine64";
    return image;
  }
  if (!exists(MIXWALK_OBJDUMP) || !exists(MIXWALK_NM)) {
    image.problem =
        "no oracle (" MIXWALK_OBJDUMP ", " MIXWALK_NM "): install binutils-mingw-w64-x86-64";
    return image;
  }
  ReportReader report(image);
  if (!each_line(MIXWALK_OBJDUMP " -p '" + path + "' 2>/dev/null",
                 [&](const std::string& text) { report.line(text); })) {
    image.problem = "objdump -p failed on " + path;
    return image;
  }
  const bool listed = each_line(MIXWALK_NM " '" + path + "'", [&](const std::string& text) {
    unsigned long long address = 0;
    char kind = 0;
    int used = 0;
    if (std::sscanf(text.c_str(), "%llx %c %n", &address, &kind, &used) != 2) return;
    const std::string name = text.substr(static_cast<std::size_t>(used));
    // A section's own symbol does not name a function.
    if (std::tolower(kind) != 't' || name.starts_with(".text")) return;
    image.code_symbols[static_cast<std::uint32_t>(address - report.image_base())].insert(name);
  });
  if (!listed) image.problem = "nm failed on " + path;
  if (image.exports.empty() || image.functions.empty() || image.code_symbols.empty()) {
    image.problem = "binutils found no exports, functions or symbols in " + path;
  }
  return image;
}

}  // namespace mixwalk::test

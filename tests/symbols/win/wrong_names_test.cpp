// Names by exports alone, in images without public debug information, compared with the system's own loader:
// GetProcAddress says where an exported function begins, and RtlLookupFunctionEntry says to which function an address
// belongs.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <iterator>
#include <random>

#include "symbols/image_files.h"
#include "symbols/pe_exports.h"
#include "tests/support/win/child_process.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

constexpr std::size_t kAddresses = 10'000;

// An image as the system maps it. None of its code is run.
class MappedImage {
 public:
  explicit MappedImage(const std::string& path)
      : module_(LoadLibraryExW(to_utf16(path).c_str(), nullptr, DONT_RESOLVE_DLL_REFERENCES)) {}
  ~MappedImage() {
    if (module_ != nullptr) FreeLibrary(module_);
  }
  MappedImage(const MappedImage&) = delete;
  MappedImage& operator=(const MappedImage&) = delete;

  bool mapped() const noexcept { return module_ != nullptr; }

  // Returns the RVA where the function with this address begins; 0 if the address is in no function with unwind data.
  std::uint32_t function_of(std::uint32_t rva) const {
    DWORD64 base = 0;
    const RUNTIME_FUNCTION* entry = RtlLookupFunctionEntry(this->base() + rva, &base, nullptr);
    // UNWIND_INFO has version and flags, size of the prologue, count of codes, frame register; the codes, an even
    // number of them; and, if the flag 4 is set, the entry of which this one is a part (Microsoft: x64 exception
    // handling).
    for (int depth = 0; entry != nullptr && depth < 32; ++depth) {
      const auto* info = reinterpret_cast<const unsigned char*>(this->base() + entry->UnwindData);
      if (((info[0] >> 3) & 4) == 0) return entry->BeginAddress;
      entry = reinterpret_cast<const RUNTIME_FUNCTION*>(info + 4 + ((info[2] + 1) & ~1) * 2);
    }
    return 0;
  }

  // Returns the RVA of an export, or 0 if there is none with this name. "#12" is an ordinal.
  std::uint32_t exported(const std::string& name) const {
    const char* const asked = name.starts_with('#') ? MAKEINTRESOURCEA(std::stoi(name.substr(1))) : name.c_str();
    const FARPROC found = GetProcAddress(module_, asked);
    return found == nullptr ? 0 : static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(found) - base());
  }

 private:
  std::uint64_t base() const noexcept { return reinterpret_cast<std::uint64_t>(module_); }

  HMODULE module_;
};

class WrongNamesTest : public testing::TestWithParam<std::string> {};

TEST_P(WrongNamesTest, NoneInTenThousandAddresses) {
  const std::string path = fixture(GetParam());
  DiskImageFiles files;
  auto bytes = files.read(path);
  ASSERT_TRUE(bytes) << path;
  const auto file = std::make_shared<const ImageFile>(path, std::move(*bytes));
  const MappedImage mapped(path);
  ASSERT_TRUE(mapped.mapped()) << GetLastError();

  // Up to half of the addresses lie in functions at which an export begins. In coreclr, one function in some hundreds
  // is such a function. The other addresses lie anywhere in the code.
  std::vector<std::uint32_t> everywhere, near_exports, asked;
  for (const PeSection& section : file->image.sections()) {
    for (std::uint32_t rva = section.rva; section.executable && section.contains(rva); ++rva) everywhere.push_back(rva);
  }
  for (const PeExport& found : file->image.exports()) {
    // The addresses behind the function are also tested.
    for (std::uint32_t rva = found.rva; found.forwarder.empty() && rva < found.rva + 256; ++rva) {
      if (std::ranges::binary_search(everywhere, rva)) near_exports.push_back(rva);
    }
  }
  std::mt19937 random(13);
  std::sample(near_exports.begin(), near_exports.end(), std::back_inserter(asked), kAddresses / 2, random);
  std::sample(everywhere.begin(), everywhere.end(), std::back_inserter(asked), kAddresses - asked.size(), random);

  const PeExports exports(file);
  int right = 0, leaf = 0, wrong = 0;
  for (const std::uint32_t rva : asked) {
    const auto symbol = exports.find(rva);
    if (!symbol) continue;
    const std::uint32_t begin = mapped.exported(symbol->name()), function = mapped.function_of(rva);
    if (function != 0 && begin == function) {
      ++right;
    } else if (function == 0 && begin != 0 && begin <= rva && mapped.function_of(begin) == 0) {
      ++leaf;  // not in a function with unwind data; the system does not know where the leaf function ends
      for (std::uint32_t between = begin; between < rva; ++between) {
        ASSERT_EQ(mapped.function_of(between), 0u) << std::hex << between << ' ' << symbol->name();
      }
    } else {
      ++wrong;
      ADD_FAILURE() << std::hex << rva << " in the function " << function << " is not " << symbol->name() << " of "
                    << begin;
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(right, 10);
  std::cout << GetParam() << ": of " << asked.size() << " addresses exports name " << right << " right, " << leaf
            << " in leaf functions and " << wrong << " wrong\n";
}

INSTANTIATE_TEST_SUITE_P(WithoutDebugInformation, WrongNamesTest,
                         testing::Values("coreclr.dll", "clrjit.dll", "e_sqlite3.dll"),
                         [](const auto& info) { return info.param.substr(0, info.param.find('.')); });

}  // namespace
}  // namespace mixwalk

#include "tests/oracles/symbolizer_oracle.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <set>

#include "tests/support/command_lines.h"

namespace mixwalk::test {
namespace {

bool exists(const std::string& path) {
  return std::ifstream(path).good();
}

// A tool's input, passed in a file because pipes in both directions may block.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::function<void(std::FILE*)>& write) {
    const int made = mkstemp(name_);
    std::FILE* const file = made < 0 ? nullptr : fdopen(made, "w");
    if (file == nullptr) return;
    write(file);
    std::fclose(file);
  }
  ~TemporaryFile() { std::remove(name_); }
  std::string name() const { return name_; }

 private:
  char name_[32] = "/tmp/mixwalk-oracle-XXXXXX";
};

// Reads "FILE:LINE:COLUMN"; "??" means that there is no file.
void read_place(const std::string& text, OracleFrame& frame) {
  const std::size_t column = text.rfind(':'), line = text.rfind(':', column - 1);
  if (column == text.npos || line == text.npos) return;
  if (text.compare(0, line, "??") != 0) frame.file = text.substr(0, line);
  frame.line = static_cast<std::uint32_t>(std::strtoul(text.c_str() + line + 1, nullptr, 10));
}

template <class Address>
std::vector<OracleChain> ask(const std::string& path, const std::vector<Address>& addresses,
                             const std::string& options, std::string& problem) {
  std::vector<OracleChain> chains;
  if (!exists(MIXWALK_LLVM_SYMBOLIZER)) {
    problem = "no oracle (" MIXWALK_LLVM_SYMBOLIZER "): install llvm-19";
    return chains;
  }
  const TemporaryFile list([&](std::FILE* file) {
    for (const Address address : addresses) {
      std::fprintf(file, "0x%llx\n", static_cast<unsigned long long>(address));
    }
  });
  OracleChain chain;
  const bool ran = each_line(std::string(MIXWALK_LLVM_SYMBOLIZER) + " --obj='" + path +
                                 "' --inlines --no-demangle " + options + " <" + list.name(),
                             [&, is_name = true](const std::string& text) mutable {
                               if (text.empty() && !chain.empty()) {  // an empty line ends an address
                                 chains.push_back(std::move(chain));
                                 chain.clear();
                                 is_name = true;
                                 return;
                               }
                               if (is_name) {
                                 chain.push_back({text == "??" ? "" : text, "", 0});
                               } else {
                                 read_place(text, chain.back());
                               }
                               is_name = !is_name;
                             });
  if (!ran || chains.size() != addresses.size()) problem = "llvm-symbolizer failed on " + path;
  return chains;
}

}  // namespace

std::vector<OracleChain> ask_llvm_symbolizer(const std::string& path,
                                             const std::vector<std::uint64_t>& addresses,
                                             std::string& problem) {
  return ask(path, addresses, "--functions=linkage", problem);
}

std::vector<OracleChain> ask_llvm_symbolizer(const std::string& path, const std::vector<std::uint32_t>& rvas,
                                             OracleNames names, std::string& problem) {
  return ask(path, rvas,
             names == OracleNames::plain ? "--relative-address --functions=short"
                                         : "--relative-address --functions=linkage",
             problem);
}

std::vector<std::string> ask_llvm_undname(const std::vector<std::string>& names, bool whole, std::string& problem) {
  std::vector<std::string> results;
  if (!exists(MIXWALK_LLVM_UNDNAME)) {
    problem = "no oracle (" MIXWALK_LLVM_UNDNAME "): install llvm-19";
    return results;
  }
  const TemporaryFile list([&](std::FILE* file) {
    for (const std::string& name : names) std::fprintf(file, "%s\n", name.c_str());
  });
  // For each name, the output has the name, its meaning and an empty line. If the name is refused, its meaning is
  // missing.
  std::vector<std::string> lines;
  const char* const brief = whole ? "" : " --no-calling-convention --no-return-type --no-variable-type";
  each_line(std::string(MIXWALK_LLVM_UNDNAME) + " --no-access-specifier --no-member-type" + brief + " <" +
                list.name() + " 2>/dev/null",
            [&](const std::string& text) {
              if (!text.empty()) {
                lines.push_back(text);
                return;
              }
              results.push_back(lines.size() > 1 ? lines[1] : "");
              lines.clear();
            });
  if (results.size() != names.size()) problem = "llvm-undname failed";
  return results;
}

std::vector<std::string> ask_filter(Filter filter, const std::vector<std::string>& names, std::string& problem) {
  const std::string tool = filter == Filter::llvm_cxxfilt ? MIXWALK_LLVM_CXXFILT : MIXWALK_CXXFILT " -i";
  std::vector<std::string> results;
  const TemporaryFile list([&](std::FILE* file) {
    for (const std::string& name : names) std::fprintf(file, "%s\n", name.c_str());
  });
  const bool ran = each_line(tool + " < " + list.name(), [&](const std::string& text) { results.push_back(text); });
  if (!ran || results.size() != names.size()) problem = "no oracle, or it failed: " + tool;
  return results;
}

std::vector<std::string> mangled_names_in(const std::string& path, std::string& problem, std::string_view begin) {
  std::set<std::string> names;
  // For an object file for Windows with 10,000 functions, the binutils' nm needs 12 s.
  const std::string nm = begin == "?" ? MIXWALK_LLVM_NM : MIXWALK_HOST_NM;
  const bool ran = each_line(nm + " '" + path + "' 2>/dev/null", [&](const std::string& text) {
    const std::size_t at = text.rfind(' ') + 1;
    if (text.compare(at, begin.size(), begin) != 0) return;
    // Behind the '@' of a name of ELF is its version.
    names.insert(text.substr(at, begin == "_Z" ? text.find('@', at) - at : std::string::npos));
  });
  if (!ran) problem = "nm failed on " + path;
  return {names.begin(), names.end()};
}

std::vector<std::uint32_t> instructions(const std::string& path, const PeImage& image,
                                        std::uint64_t image_base, std::string& problem) {
  std::vector<std::uint32_t> rvas;
  const bool ran = each_line(
      MIXWALK_OBJDUMP " -d --no-show-raw-insn '" + path + "'", [&](const std::string& text) {
        unsigned long long address = 0;
        int used = 0;
        if (std::sscanf(text.c_str(), " %llx:%n", &address, &used) != 1 || used == 0) return;
        const auto rva = static_cast<std::uint32_t>(address - image_base);
        if (image.function_at(rva) != nullptr) rvas.push_back(rva);
      });
  if (!ran || rvas.empty()) problem = "objdump -d failed on " + path;
  std::sort(rvas.begin(), rvas.end());
  return rvas;
}

std::vector<std::uint32_t> addresses_in_functions(const PeImage& image, std::size_t count) {
  std::vector<std::uint64_t> begins;  // begin of each function, if all functions lay side by side
  std::uint64_t bytes = 0;
  for (const PeImage::Function& function : image.functions()) {
    begins.push_back(bytes);
    bytes += function.end - function.begin;
  }
  std::mt19937_64 random(13);
  std::vector<std::uint32_t> rvas;
  while (bytes != 0 && rvas.size() < count) {
    const std::uint64_t at = random() % bytes;
    const auto i = std::upper_bound(begins.begin(), begins.end(), at) - begins.begin() - 1;
    const PeImage::Function& function = image.functions()[static_cast<std::size_t>(i)];
    rvas.push_back(function.begin + static_cast<std::uint32_t>(at - begins[static_cast<std::size_t>(i)]));
  }
  return rvas;
}

}  // namespace mixwalk::test

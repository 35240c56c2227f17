// Compares the names that a program of NativeAOT carries (StackTraceMap) with those of its own symbols, at random
// addresses of its managed code. tests/tools/native-aot runs it.
// usage: native_aot_judge PROGRAM [ADDRESSES]
//
// The symbols of a program for Windows are in the PDB beside it, which llvm-symbolizer reads; those of a program for
// Linux are in the program. Fails if a name is wrong, or if fewer than 95 of 100 addresses have one.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "symbols/byte_cursor.h"
#include "symbols/native_aot/stack_trace_map.h"
#include "tests/oracles/symbolizer_oracle.h"
#include "tests/support/command_lines.h"
#include "tests/symbols/pdb/pdb_files.h"

using namespace mixwalk;

namespace {

// What both sides say about the function at one address. `ours` is empty if the map has no name.
struct Answer {
  std::uint64_t address = 0;
  std::string ours;
  std::vector<std::string> theirs;  // a function that native code calls has several names
};

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// Which brackets are type arguments, and so left out: all of a name that the compiler has encoded; in our names those
// behind a name, but not "<Main>" of "Program.<Main>b__0"; or none, since the name of a method that implements an
// interface explicitly has the type arguments of the interface.
enum class Arguments { all, behind_names, none };

// Writes a name as the compiler encodes it: each character that C does not know becomes "_", and several become one.
std::string encoded(std::string_view text, Arguments arguments) {
  std::string result;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool behind_name = depth != 0 || (i != 0 && is_plain(text[i - 1]));
    const bool opens =
        c == '<' && (arguments == Arguments::all || (arguments == Arguments::behind_names && behind_name));
    if (opens) ++depth;
    const bool joins = !result.empty() && !result.ends_with('_');
    if (depth == 0 && (is_plain(c) || joins)) result += is_plain(c) ? c : '_';
    if (c == '>' && depth != 0) --depth;
  }
  return result;
}

// Whether `theirs` ends with `ours`, at the begin of a part. The compiler adds a number to a generic type (how many
// parameters it has), and to methods of the same name.
bool ends_with_name(std::string_view theirs, std::string_view ours, bool whole) {
  if (ours.empty()) return theirs.empty() || (!whole && theirs.ends_with('_'));
  if (theirs.empty()) return false;
  if (theirs.back() == ours.back() &&
      ends_with_name(theirs.substr(0, theirs.size() - 1), ours.substr(0, ours.size() - 1), whole)) {
    return true;
  }
  const std::size_t name = theirs.find_last_not_of("0123456789");
  const bool has_number = name != theirs.npos && name + 1 != theirs.size() && theirs[name] == '_';
  return has_number && ends_with_name(theirs.substr(0, name), ours, whole);
}

// The compiler has names of its own for types that C# has words for; "System_" alone is for those whose name it keeps.
const std::vector<std::pair<std::string, std::string>> kWords = {
    {"System_Boolean_", "Bool_"}, {"System_Byte_", "UInt8_"}, {"System_SByte_", "Int8_"}, {"System_", ""}};

// `ours` is "Namespace.Type+Inner.Method<Parameters>(Types)".
bool is_same(std::string_view theirs, std::string_view ours) {
  std::size_t open = ours.size();
  for (int depth = 0; open-- != 0;) {
    if (ours[open] == ')') ++depth;
    if (ours[open] == '(' && --depth == 0) break;
  }
  const std::string_view name = ours.substr(0, open);
  const std::string left = encoded(theirs, Arguments::all);
  for (const Arguments arguments : {Arguments::behind_names, Arguments::none}) {
    const std::string right = encoded(name, arguments);
    if (ends_with_name(left, right, false)) return true;
    for (const auto& [type, word] : kWords) {
      if (right.starts_with(type) && ends_with_name(left, word + right.substr(type.size()), true)) return true;
    }
  }
  // An exported method has the name under which native code knows it.
  return theirs.find("__") == theirs.npos && name.ends_with(theirs);
}

// The public symbols of the PDB beside a program: RVA → all names.
std::multimap<std::uint32_t, std::string> publics_of(const std::string& path, const PeImage& image) {
  std::multimap<std::uint32_t, std::string> publics;
  std::string name;
  const auto line = [&](const std::string& text) {
    constexpr std::string_view kAddress = "addr = ";
    if (const std::size_t at = text.find("] `"); at != text.npos) name = text.substr(at + 3, text.rfind('`') - at - 3);
    const std::size_t at = text.find(kAddress);
    if (at == text.npos || name.empty()) return;
    char* end = nullptr;
    const std::size_t section = std::strtoul(text.c_str() + at + kAddress.size(), &end, 10);
    if (*end != ':' || section == 0 || section > image.sections().size()) return;
    const PeSection& in = image.sections()[section - 1];
    if (in.executable) publics.emplace(in.rva + std::strtoul(end + 1, nullptr, 10), std::exchange(name, {}));
  };
  const std::string pdb = path.substr(0, path.rfind('.')) + ".pdb";
  test::each_line(MIXWALK_LLVM_PDBUTIL " dump --publics '" + pdb + "'", line);
  return publics;
}

std::vector<Answer> answers_for_windows(const std::string& path, std::size_t count, std::string& problem) {
  const auto bytes = test::file_bytes(path);
  const PeImage image = PeImage::parse(bytes);
  const auto parts = image.error() == PeError::none ? StackTraceMap::find(image) : std::nullopt;
  if (!parts) problem = "no map in " + path;
  if (!problem.empty()) return {};
  StackTraceMap map(*parts);
  map.add_code(image, bytes);
  if (map.damaged()) problem = "a damaged map in " + path;
  const auto publics = publics_of(path, image);
  if (publics.empty()) problem = "no public symbols in the PDB beside " + path;
  std::vector<Answer> answers;
  for (const std::uint32_t rva : test::addresses_in_functions(image, publics.empty() ? 0 : count)) {
    const PeImage::Function* const function = image.function_at(rva);
    const std::uint32_t begin = function->primary != 0 ? function->primary : function->begin;
    // Handlers have no symbol of their own, and lie behind their method.
    const auto after = publics.upper_bound(begin);
    Answer answer{rva, map.name_at(begin), {}};
    if (after != publics.begin()) {
      for (auto [at, end] = publics.equal_range(std::prev(after)->first); at != end; ++at)
        answer.theirs.push_back(at->second);
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

// Finds the parts of the map by the symbols of a program for Linux, and judges by these symbols.
class LinuxProgram {
 public:
  LinuxProgram(const std::string& path, std::string& problem) : bytes_(test::file_bytes(path)) {
    // NAME|ADDRESS|CLASS|TYPE|SIZE|LINE|SECTION
    const auto line = [this](const std::string& text) {
      const std::size_t at = text.find('|'), section = text.rfind('|');
      if (at == text.npos || section == at) return;
      const std::string name = text.substr(0, text.find_last_not_of(' ', at - 1) + 1);
      const std::uint64_t address = std::strtoull(text.c_str() + at + 1, nullptr, 16);
      symbols_.emplace(name, address);
      const std::string_view rest = std::string_view(text).substr(at);
      if (rest.find("FUNC") == rest.npos || rest.find("|__managedcode") == rest.npos) return;
      const std::size_t size = text.find('|', text.find("FUNC", at)) + 1;
      Function& function = functions_[address];
      function.bytes = std::strtoull(text.c_str() + size, nullptr, 16);
      function.names.push_back(name);
    };
    if (!test::each_line(MIXWALK_HOST_NM " -f sysv '" + path + "'", line)) problem = "nm failed on " + path;
    parts_ = {.metadata = from("__embedded_metadata"),
              .map = from("_stacktrace_methodRVA_to_token_mapping"),
              .map_rva = static_cast<std::uint32_t>(symbols_["_stacktrace_methodRVA_to_token_mapping"]),
              .reflection = {
                  .types = from("__type_to_metadata_map"),
                  .methods = from("__method_to_entrypoint_map"),
                  .references = from("__external_CommonFixupsTable_references"),
                  .references_rva = static_cast<std::uint32_t>(symbols_["__external_CommonFixupsTable_references"])}};
    if (parts_.map.empty() || parts_.metadata.empty() || functions_.empty()) problem = "no map in " + path;
  }

  std::vector<Answer> answers(std::size_t count) const {
    const StackTraceMap map(parts_);
    std::uint64_t bytes = 0;
    std::map<std::uint64_t, std::uint64_t> addresses;  // where a function would begin if all lay side by side
    for (const auto& [address, function] : functions_) {
      if (function.bytes != 0) addresses[bytes] = address;
      bytes += function.bytes;
    }
    std::mt19937_64 random(13);
    std::vector<Answer> answers;
    while (bytes != 0 && answers.size() < count) {
      const std::uint64_t at = random() % bytes;
      const auto& [begin, address] = *std::prev(addresses.upper_bound(at));
      answers.push_back(
          {address + at - begin, map.name_at(static_cast<std::uint32_t>(address)), functions_.at(address).names});
    }
    return answers;
  }

 private:
  struct Function {
    std::uint64_t bytes = 0;
    std::vector<std::string> names;
  };

  // The bytes of the file from a symbol on, to the end of its segment.
  std::span<const std::byte> from(const std::string& name) {
    constexpr std::size_t kTableAt = 32, kRowsAt = 54, kRowBytes = 56;
    constexpr std::uint32_t kLoaded = 1;  // PT_LOAD
    const std::span<const std::byte> file(bytes_);
    ByteCursor header(file);
    header.skip(kTableAt);
    const auto table = header.read<std::uint64_t>();
    header.skip(kRowsAt - kTableAt - 8 + 2);
    const std::uint16_t rows = header.u16();
    for (std::uint16_t i = 0; i < rows; ++i) {
      ByteCursor row(file.subspan(std::min(file.size(), static_cast<std::size_t>(table) + i * kRowBytes)));
      const std::uint32_t kind = row.u32();
      row.skip(4);
      const auto offset = row.read<std::uint64_t>(), address = row.read<std::uint64_t>();
      row.skip(8);
      const auto size = row.read<std::uint64_t>();
      const std::uint64_t wanted = symbols_[name];
      if (row.failed() || kind != kLoaded || wanted < address || wanted - address >= size) continue;
      return file.subspan(offset + (wanted - address), size - (wanted - address));
    }
    return {};
  }

  std::vector<std::byte> bytes_;
  std::map<std::string, std::uint64_t> symbols_;
  std::map<std::uint64_t, Function> functions_;  // by address
  StackTraceMap::Parts parts_;
};

// What the compiler makes itself has no entry in the map: such code is managed, and stays without a name.
bool is_managed(const std::vector<std::string>& theirs) {
  return std::ranges::any_of(
      theirs, [](const std::string& name) { return !name.starts_with('?') && name.find("__", 1) != name.npos; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string path = argv[1];
  const std::size_t count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 10'000;
  std::string problem;
  std::vector<Answer> answers;
  const auto head = test::file_bytes(path);
  if (head.size() > 4 && head[0] == std::byte{0x7F}) {
    const LinuxProgram program(path, problem);
    if (problem.empty()) answers = program.answers(count);
  } else {
    answers = answers_for_windows(path, count, problem);
  }
  if (!problem.empty()) {
    std::cerr << problem << "\n";
    return 1;
  }
  std::size_t managed = 0, same = 0, wrong = 0;
  for (const Answer& answer : answers) {
    if (answer.ours.empty() && !is_managed(answer.theirs)) continue;
    ++managed;
    if (answer.ours.empty()) continue;
    if (std::ranges::any_of(answer.theirs, [&](const auto& name) { return is_same(name, answer.ours); })) {
      ++same;
    } else if (++wrong <= 20) {
      std::cout << std::hex << answer.address << std::dec << "\n  ours   " << answer.ours << "\n  theirs "
                << (answer.theirs.empty() ? "none" : answer.theirs.front()) << "\n";
    }
  }
  std::cout << path << ": " << managed << " addresses in managed code: the same name " << same << ", another " << wrong
            << ", none " << managed - same - wrong << "\n";
  return wrong == 0 && managed != 0 && same * 100 >= managed * 95 ? 0 : 1;
}

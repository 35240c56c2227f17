// Measures what names cost: look-ups by DWARF, compared with one llvm-symbolizer that gets the same addresses.
// tests/bench/symbols runs it natively, because llvm-symbolizer is a native program.
// usage: symbol_lookups ADDRESSES IMAGE…          look-ups, compared with llvm-symbolizer
//        symbol_lookups --index IMAGE…            reads all of the debug information, one process per image

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/native_symbols.h"
#include "tests/oracles/symbolizer_oracle.h"
#include "tests/support/lazy_index_peer.h"

namespace mixwalk::bench {
namespace {

constexpr double kMiB = 1024 * 1024;

// The CPU time of this process, or of its children that have ended, both in the program and in the system. The wall
// clock would also count other work on the machine.
double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::shared_ptr<const ImageFile> read_image(const std::string& path) {
  DiskImageFiles files;
  auto bytes = files.read(path);
  if (!bytes) throw std::runtime_error(path + " cannot be read");
  return std::make_shared<const ImageFile>(path, std::move(*bytes));
}

DwarfSymbols open(const std::shared_ptr<const ImageFile>& image) {
  DiskImageFiles files;
  DwarfSymbols symbols = open_dwarf(image, files);
  if (symbols.index == nullptr) throw std::runtime_error(image->path + ": no symbols: " + symbols.problem);
  return symbols;
}

// Measures everything from reading the file to the text of each frame, as llvm-symbolizer writes it.
double our_seconds(const std::string& path, const std::vector<std::uint32_t>& rvas, std::size_t& named) {
  const double begun = cpu_seconds(RUSAGE_SELF);
  const auto image = read_image(path);
  DwarfSymbols dwarf = open(image);
  NativeSymbols symbols(image, std::move(dwarf.index), std::move(dwarf.linked_symbols));
  std::FILE* const out = std::fopen("/dev/null", "w");
  if (out == nullptr) throw std::runtime_error("/dev/null cannot be opened");
  SourceLocation found;
  std::string text;
  for (const std::uint32_t rva : rvas) {
    named += symbols.find(rva, found) != NameSource::none;
    for (const SourceFrame& frame : found.frames) {
      ((((text += frame.name) += '\n') += frame.file) += ':') += std::to_string(frame.line);
      text += '\n';
    }
    text += '\n';
    if (text.size() > 64 * 1024) {
      std::fwrite(text.data(), 1, text.size(), out);
      text.clear();
    }
  }
  std::fclose(out);
  return cpu_seconds(RUSAGE_SELF) - begun;
}

double their_seconds(const std::string& path, const std::vector<std::uint32_t>& rvas) {
  const std::uint64_t base = CoffFile::parse(read_image(path)->bytes).image_base();
  char name[] = "/tmp/mixwalk-bench-XXXXXX";
  const int made = mkstemp(name);
  std::FILE* const list = made < 0 ? nullptr : fdopen(made, "w");
  if (list == nullptr) throw std::runtime_error("no temporary file");
  for (const std::uint32_t rva : rvas) {
    std::fprintf(list, "0x%llx\n", static_cast<unsigned long long>(base + rva));
  }
  std::fclose(list);
  const double begun = cpu_seconds(RUSAGE_CHILDREN);
  const int result = std::system((MIXWALK_LLVM_SYMBOLIZER " --obj='" + path +
                                  "' --inlines --functions=linkage --no-demangle <" + name + " >/dev/null")
                                     .c_str());
  const double seconds = cpu_seconds(RUSAGE_CHILDREN) - begun;
  std::remove(name);
  if (result != 0) throw std::runtime_error("llvm-symbolizer failed");
  return seconds;
}

void show_lookups(std::size_t count, const std::string& path) {
  const auto image = read_image(path);
  const std::vector<std::uint32_t> rvas = test::addresses_in_functions(image->image, count);
  std::size_t named = 0;
  const double ours = our_seconds(path, rvas, named), theirs = their_seconds(path, rvas);
  std::printf("%-12s %10.3f s %10.2f s %8.1f x   %.2f %% named\n",
              std::filesystem::path(path).filename().c_str(), ours, theirs, theirs / ours,
              100.0 * static_cast<double>(named) / static_cast<double>(rvas.size()));
}

// Runs in a process of its own, to measure the peak of its memory.
void show_index(const std::string& path) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    const auto image = read_image(path);
    std::size_t debug_bytes = 0;
    const CoffFile file = CoffFile::parse(image->bytes);
    for (const CoffSection& section : file.sections()) {
      if (section.name.starts_with(".debug_")) debug_bytes += section.data.size();
    }
    double begun = cpu_seconds(RUSAGE_SELF);
    const DwarfSymbols symbols = open(image);
    SourceLocation found;
    symbols.index->find(image->image.functions().back().begin, found);
    const double first = cpu_seconds(RUSAGE_SELF) - begun;
    begun = cpu_seconds(RUSAGE_SELF);
    LazyIndexTestPeer::read_all(*symbols.index);
    const double all = cpu_seconds(RUSAGE_SELF) - begun;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%-12s %8.1f MB %10.4f s %8.3f s %8.1f MiB %8.1f MiB\n",
                std::filesystem::path(path).filename().c_str(), static_cast<double>(debug_bytes) / 1e6, first,
                all, static_cast<double>(symbols.index->bytes()) / kMiB,
                static_cast<double>(usage.ru_maxrss) * 1024 / kMiB);
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

}  // namespace
}  // namespace mixwalk::bench

int main(int argc, char** argv) {
  using namespace mixwalk::bench;
  if (argc < 3) return std::fprintf(stderr, "usage: symbol_lookups ADDRESSES|--index IMAGE…\n"), 2;
  try {
    const bool index = argv[1] == std::string("--index");
    const std::size_t count = index ? 0 : std::strtoull(argv[1], nullptr, 10);
    if (index) {
      std::printf("\nThe whole index, CPU time\n%-12s %11s %12s %10s %12s %12s\n", "image", "debug data",
                  "first look-up", "all", "index", "peak");
    } else {
      std::printf("\n%zu look-ups, with reading the image and the index, CPU time\n%-12s %12s %12s\n", count,
                  "image", "ours", "llvm-symbolizer");
    }
    for (int i = 2; i < argc; ++i) index ? show_index(argv[i]) : show_lookups(count, argv[i]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mixwalk: %s\n", error.what());
    return 1;
  }
}

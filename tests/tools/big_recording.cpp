// Measures the store with a recording of many samples: writes a recording, or reads one that was written.
// usage: big_recording write FILE [SAMPLES]     (1,000,000; 50 threads, 20,000 nodes)
//        big_recording read FILE
// /usr/bin/time -v shows how much memory the program took.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "tests/builders/recordings.h"
#include "walker/store/recording_reader.h"
#include "walker/store/recording_writer.h"

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

int write(const char* path, std::uint32_t samples) {
  const mixwalk::Recording recording = mixwalk::large_recording({.samples = samples});
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "wb"), &std::fclose);
  if (!file) return 1;
  mixwalk::FileSink sink(file.get());
  const auto start = Clock::now();
  if (!mixwalk::write_store(recording, sink)) return 1;
  if (std::fflush(file.get()) != 0) return 1;
  std::printf("written: %zu samples in %.0f ms, %ld bytes\n", recording.samples.size(),
              ms_since(start), std::ftell(file.get()));
  return 0;
}

int read(const char* path) {
  const auto start = Clock::now();
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto parsed = Clock::now();
  const mixwalk::ReadRecording result = mixwalk::read_recording(bytes);
  if (!result.recording) {
    std::fprintf(stderr, "%s\n", result.error.c_str());
    return 1;
  }
  std::printf("read: %zu samples, %zu nodes in %.0f ms, of these %.0f ms not the file itself\n",
              result.recording->samples.size(), result.recording->nodes.size(), ms_since(start),
              ms_since(parsed));
  return 0;
}

}  // namespace

int main(int count, char** values) {
  const std::string action = count > 2 ? values[1] : "";
  if (action == "read" && count == 3) return read(values[2]);
  if (action == "write" && count <= 4) {
    const unsigned long samples = count == 4 ? std::strtoul(values[3], nullptr, 10) : 1'000'000;
    return write(values[2], static_cast<std::uint32_t>(samples));
  }
  std::fprintf(stderr, "usage: big_recording write FILE [SAMPLES] | read FILE\n");
  return 2;
}

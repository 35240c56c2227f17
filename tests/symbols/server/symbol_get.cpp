// Loads files from symbol servers with the system's own way to ask servers, for symbol_servers.py.
//
// usage: symbol_get CERTIFICATE CASES
//
// CERTIFICATE is the file (PEM; on Windows DER) of an authority that is to be trusted. Each line of the file CASES is
// "STORE URL CONNECT_MS SILENCE_MS ALL_MS KEY …", separated by tabs; KEY is NAME/ID, or NAME/ID#SUM with the sum that
// its image says. All cases run at the same time, each as a command of its own would. A file is right if it begins with
// "right " and ends with " end". Prints for each case, in their order: the line "case"; a line for each key, "NAME
// PATH" or "NAME -"; the problems, each as a line.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "symbols/server/symbol_servers.h"
#include "tests/symbols/server/trust.h"

namespace mixwalk {
namespace {

class NoWatch final : public LoadWatch {
 public:
  void show(const LoadProgress&) override {}
  bool stop() override { return false; }
};

struct Case {
  std::vector<std::string> parts;  // of its line
  std::string output = "case\n";

  void run() {
    const auto http = system_http_get();
    NoWatch watch;
    const auto ms = [&](std::size_t i) { return std::chrono::milliseconds(std::atoi(parts[i].c_str())); };
    SymbolServers servers({{parts[1], {parts[0]}}}, *http, watch, {ms(2), ms(3), ms(4)});
    const FileCheck check = [](std::span<const std::byte> bytes) -> std::string {
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return text.starts_with("right ") && text.ends_with(" end") ? "" : "it is another file";
    };
    for (std::size_t i = 5; i < parts.size(); ++i) {
      const std::size_t slash = std::min(parts[i].rfind('/'), parts[i].size() - 1);
      const std::size_t hash = std::min(parts[i].find('#', slash), parts[i].size());
      const StoreKey wanted{parts[i].substr(0, slash), parts[i].substr(slash + 1, hash - slash - 1),
                            parts[i].substr(std::min(hash + 1, parts[i].size()))};
      const auto file = servers.fetch(wanted, check);
      output += wanted.name + ' ' + (file ? file->path : "-") + '\n';
    }
    for (const std::string& problem : servers.problems()) output += problem + '\n';
  }
};

int run(int count, char** values) {
  if (count != 3 || !test::trust(values[1])) return 2;
  std::ifstream in(values[2], std::ios::binary);
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    Case& one = cases.emplace_back();
    for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
      end = line.find('\t', at);
      one.parts.push_back(line.substr(at, end - at));
    }
    if (one.parts.size() < 6) return 2;
  }
  std::vector<std::thread> threads;
  for (Case& one : cases) threads.emplace_back(&Case::run, &one);
  for (std::thread& thread : threads) thread.join();
  for (const Case& one : cases) std::fputs(one.output.c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace mixwalk

int main(int count, char** values) {
  return mixwalk::run(count, values);
}

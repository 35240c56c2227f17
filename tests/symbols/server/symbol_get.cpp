// Loads files from a symbol server with the system's own way to ask servers, for symbol_servers.py.
//
// usage: symbol_get CERTIFICATE STORE URL CONNECT_MS SILENCE_MS ALL_MS KEY …
//
// CERTIFICATE is the file (PEM; on Windows DER) of an authority that is to be trusted. KEY is NAME/ID. A file is right
// if it begins with "right " and ends with " end". Prints a line for each key, "NAME PATH" or "NAME -", then the
// problems, each as a line.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "symbols/server/symbol_servers.h"
#include "tests/symbols/server/trust.h"

namespace mixwalk {
namespace {

class NoWatch final : public LoadWatch {
 public:
  void show(const LoadProgress&) override {}
  bool stop() override { return false; }
};

int run(int count, char** values) {
  if (count < 8 || !test::trust(values[1])) return 2;
  const auto http = system_http_get();
  NoWatch watch;
  const auto ms = [&](int i) { return std::chrono::milliseconds(std::atoi(values[i])); };
  SymbolServers servers({{values[3], {values[2]}}}, *http, watch, {ms(4), ms(5), ms(6)});
  const FileCheck check = [](std::span<const std::byte> bytes) -> std::string {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return text.starts_with("right ") && text.ends_with(" end") ? "" : "it is another file";
  };
  for (int i = 7; i < count; ++i) {
    const std::string key = values[i];
    const std::size_t slash = key.rfind('/');
    if (slash == std::string::npos) return 2;
    const StoreKey wanted{key.substr(0, slash), key.substr(slash + 1)};
    const auto file = servers.fetch(wanted, check);
    std::printf("%s %s\n", wanted.name.c_str(), file ? file->path.c_str() : "-");
  }
  for (const std::string& problem : servers.problems()) std::printf("%s\n", problem.c_str());
  return 0;
}

}  // namespace
}  // namespace mixwalk

int main(int count, char** values) {
  return mixwalk::run(count, values);
}

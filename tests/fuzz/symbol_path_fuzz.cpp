#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "symbols/server/symbol_servers.h"
#include "symbols/symbol_path.h"

namespace {

using namespace mixwalk;

void check(bool holds) {
  if (!holds) std::abort();
}

// A server without files. Its small texts are those of the input.
class Server final : public HttpGet {
 public:
  explicit Server(std::string_view text) : text_(text) {}
  HttpReply get(const std::string& url, const HttpHeaders&, const HttpLimits&, HttpTaker& taker) override {
    check(url.starts_with("http://") || url.starts_with("https://"));
    // Nothing in a key leads to another place below the server.
    check(url.find("/../") == std::string::npos && url.find('\\') == std::string::npos);
    if (!url.ends_with("/index2.txt") && !url.ends_with("/file.ptr")) return {.status = 404, .problem = {}};
    if (!text_.empty() && static_cast<unsigned char>(text_[0]) >= 0xF0) {
      return {.status = 100 + 5 * (static_cast<unsigned char>(text_[0]) - 0xF0) * 8, .problem = "no"};
    }
    if (taker.begin(std::nullopt)) taker.take(text_);
    return {.status = 200, .problem = {}};
  }

 private:
  std::string_view text_;
};

class NoWatch final : public LoadWatch {
 public:
  void show(const LoadProgress&) override {}
  bool stop() override { return false; }
};

}  // namespace

// The input is the text of a symbol path, the name and the id of a file, and a text of a server, separated by zeros.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto next = [&] {
    const std::string_view part = input.substr(0, input.find('\0'));
    input.remove_prefix(std::min(input.size(), part.size() + 1));
    return part;
  };
  const std::string text(next());
  const StoreKey key{std::string(next()), std::string(next())};
  for (const SymbolAsking asking : {SymbolAsking::by_path, SymbolAsking::online, SymbolAsking::offline}) {
    const SymbolPath path = parse_symbol_path(text, "/store", asking);
    if (asking == SymbolAsking::offline) check(path.servers.empty());
    if (asking == SymbolAsking::online) check(!path.servers.empty());
    for (const SymbolPath::Server& server : path.servers) {
      check(!server.stores.empty());
      check(server.url.starts_with("http://") || server.url.starts_with("https://"));
      check(server.url.find_first_of("@?#\\ ") == std::string::npos);
    }
    for (const SymbolPath::Folder& folder : path.folders) check(folder.path.find_first_of(";*") == std::string::npos);
    check(parse_symbol_path(folders_text(path)).servers.empty());
  }
  Server http(input);
  NoWatch watch;
  SymbolServers servers({{"https://a", {"/store"}}, {"https://b", {"/store"}}}, http, watch);
  check(!servers.fetch(key, [](std::span<const std::byte>) { return std::string(); }));
  check(servers.problems().size() <= 100);
  return 0;
}

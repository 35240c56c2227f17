#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/server/http_get.h"
#include "symbols/server/store_fetch.h"
#include "symbols/server/symbol_limits.h"
#include "symbols/symbol_path.h"

namespace mixwalk {

// The loading of a file, as a person sees it.
struct LoadProgress {
  std::string_view name;
  std::uint64_t bytes = 0;            // 0: a server is asked for the file
  std::uint64_t of = 0;               // the whole length; 0 if the server does not say it
  std::chrono::milliseconds time{0};  // since the first byte
};

// Watches the loading, for a person.
class LoadWatch {
 public:
  virtual ~LoadWatch() = default;
  virtual void show(const LoadProgress& progress) = 0;
  // Whether the person wants no more files. Asked often; once true, nothing is loaded any more.
  virtual bool stop() = 0;
};

// Loads symbol files from symbol servers into stores of this machine. One thread at a time; several processes may use
// one store at the same time, and then a file is loaded once. (Protocol: dotnet/symstore, docs/specs:
// Simple_Symbol_Query_Protocol.md and SSQP_Key_Conventions.md.)
//
// A file gets its name in the store only when it is complete and has passed its check, so the store never has a broken
// file. A server that does not answer as it should is not asked again, and no file is asked for twice.
class SymbolServers final : public StoreFetch {
 public:
  // The limit for a file, which is also that for reading one (DiskImageFiles::kMaxImageBytes).
  static constexpr std::uint64_t kMaxFileBytes = 1ull << 30;

  // All references must outlive this object.
  SymbolServers(const std::vector<SymbolPath::Server>& servers, HttpGet& http, LoadWatch& watch,
                const SymbolLimits& limits = {});

  std::optional<FetchedFile> fetch(const StoreKey& key, const FileCheck& check) override;

  // A file that was loaded.
  struct Loaded {
    std::string name;
    std::uint64_t bytes = 0;
    std::string url;    // of the server
    std::string store;  // the folder into which it was put
  };
  const std::vector<Loaded>& loaded() const noexcept { return loaded_; }
  // What went wrong, each once, as one line without a full stop. A file that a server does not have is no problem.
  const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  struct Server {
    std::string url;
    std::vector<std::string> stores;
    bool off = false;
    enum class Tiers { unknown, one, two } tiers = Tiers::unknown;
  };
  // How a request for one file ended.
  enum class Result {
    loaded,   // the body is in the partial file
    missing,  // the server does not have it
    taken,    // another process has put the file into the store meanwhile
    given_up,
  };
  class Request;

  std::optional<FetchedFile> fetch_from(Server& server, const StoreKey& key, const FileCheck& check);
  Result get(Server& server, const std::string& address, Request& request);
  // Asks for the plain file, in all of its spellings.
  Result get_plain(Server& server, Request& request);
  // Asks for the cabinet, and for the text that says where the file is instead.
  Result get_cabinet(Server& server, Request& request);
  void ask_for_pointer(Server& server, const StoreKey& key);
  // The text of a small file that a server need not have; nothing if it does not have it.
  std::optional<std::string> small_text(Server& server, const std::string& address);
  void find_tiers(Server& server);
  static bool in_two_tiers(const Server& server, const StoreKey& key);
  std::optional<FetchedFile> keep(const Server& server, Request& request, const FileCheck& check);
  // Whether nothing more is loaded: the person has stopped it, or the time is used up.
  bool is_over();
  // Notes what the answer says about the server. Returns whether the status is 200.
  bool judge(Server& server, const HttpReply& reply);
  void turn_off(Server& server, const std::string& why);
  void add_problem(std::string problem);

  HttpGet& http_;
  LoadWatch& watch_;
  const SymbolLimits limits_;
  std::vector<Server> servers_;
  std::set<std::string> asked_;  // keys, in lower case
  std::vector<Loaded> loaded_;
  std::vector<std::string> problems_;
  bool over_ = false;
  std::chrono::steady_clock::time_point end_{};  // when limits_.all is used up, if this fetch goes on till then
  std::chrono::steady_clock::duration spent_{0};  // by the fetches before
};

// Asks a server for a file that need not exist. Returns an empty text if the server answers as a symbol server does,
// otherwise why not, in one line.
std::string server_fault(HttpGet& http, const std::string& url, const SymbolLimits& limits);

// The address of a file below a server's URL: "folder/id/file", percent-encoded; in a store of two tiers
// "fo/folder/id/file". Pure.
std::string store_address(std::string_view folder, std::string_view id, std::string_view file, bool two_tiers = false);

}  // namespace mixwalk

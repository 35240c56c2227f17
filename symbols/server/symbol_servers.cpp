#include "symbols/server/symbol_servers.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "symbols/image_files.h"
#include "symbols/server/cabinet.h"
#include "symbols/server/file_lock.h"
#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

using Clock = std::chrono::steady_clock;

// How often a file is looked for that another process is loading.
constexpr std::chrono::milliseconds kLookEvery{50};
constexpr std::size_t kMaxSmallText = 4096;  // bytes of index2.txt, or of a file.ptr
constexpr std::size_t kMaxProblems = 100;

std::filesystem::path path_of_utf8(const std::string& text) {
  return std::filesystem::path(std::u8string(text.begin(), text.end()));
}

// On Windows, text that is not UTF-8 has no path: an old linker wrote the name of its PDB in another encoding.
bool is_path(const std::string& text) {
  try {
    path_of_utf8(text);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Some servers pack a body by gzip (RFC 1952), also for a client that does not accept that. No symbol file begins so.
bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() > 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B} && bytes[2] == std::byte{8};
}

std::string problem_of(const std::optional<std::vector<std::byte>>& bytes, const FileCheck& check) {
  if (!bytes) return "it cannot be read";
  const std::string why = check(*bytes);
  return !why.empty() && is_gzip(*bytes) ? "it is packed by gzip, which mixwalk does not accept" : why;
}

std::string errno_words() { return std::error_code(errno, std::generic_category()).message(); }

// FNV-1a: which byte of the store's lock file belongs to a name. Files with the same byte only wait for each other. All
// files of one name share a folder, so whoever has the lock may make and remove it.
std::uint64_t lock_byte(const std::string& name) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (const char c : ascii_lower(name)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3;
  }
  return hash & ((1ull << 62) - 1);
}

std::string cabinet_name(std::string name) {
  name.back() = '_';
  return name;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    const auto byte = static_cast<unsigned char>(c);
    if (plain) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

// Folklore: some servers of portable PDBs refuse a request that does not say which checksum the file must have, because
// the PDB of another build may have the same id. Both headers are those of dotnet/symstore and of Visual Studio. Test:
// symbol_servers (checksums).
HttpHeaders headers_of(const StoreKey& key) {
  constexpr std::size_t kMaxHeader = 1024;
  const bool sendable = key.checksums.size() <= kMaxHeader && std::ranges::all_of(key.checksums, [](char c) {
    return c > ' ' && c < 0x7F;
  });
  if (key.checksums.empty() || !sendable) return {};
  return {"SymbolChecksumValidationSupported: 1", "SymbolChecksum: " + key.checksums};
}

// Takes a text that may not be long.
class SmallText final : public HttpTaker {
 public:
  explicit SmallText(std::function<bool()> stop) : stop_(std::move(stop)) {}
  bool begin(std::optional<std::uint64_t> bytes) override { return fits(bytes.value_or(0)); }
  bool take(std::string_view bytes) override {
    text += bytes;
    return fits(text.size());
  }
  bool stop() override { return stop_(); }

  std::string text;
  bool too_long = false;

 private:
  bool fits(std::uint64_t bytes) {
    too_long = too_long || bytes > kMaxSmallText;
    return !too_long;
  }

  std::function<bool()> stop_;
};

}  // namespace

std::string server_fault(HttpGet& http, const std::string& url, const SymbolLimits& limits) {
  const auto end = Clock::now() + limits.all;
  SmallText text([&] { return Clock::now() >= end; });
  const HttpReply reply = http.get(url + "/index2.txt", {}, {limits.connect, limits.silence}, text);
  if (reply.status == 200 || reply.status == 404 || reply.status == 410) return {};
  if (reply.status != 0) return "it answers with status " + std::to_string(reply.status);
  return reply.problem.empty() ? "it does not answer within " + limit_text(limits.all) : reply.problem;
}

std::string store_address(std::string_view folder, std::string_view id, std::string_view file, bool two_tiers) {
  const std::string tier(folder.substr(0, 2));
  return (two_tiers ? percent_encoded(tier) + '/' : std::string()) + percent_encoded(folder) + '/' +
         percent_encoded(id) + '/' + percent_encoded(file);
}

// The requests for one file, and its place in the store. The partial file is removed at the end.
class SymbolServers::Request final : public HttpTaker {
 public:
  Request(SymbolServers& owner, const StoreKey& key, const std::string& store)
      : owner_(owner),
        key_(key),
        store_(path_of_utf8(store)),
        path_(join_path(join_path(join_path(store, key.name), key.id), key.name)) {
    partial_ = path_of_utf8(path_ + ".part");
  }
  ~Request() override {
    out_.close();
    if (lock_ == nullptr) return;  // nothing was written
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);
    // Folders in which there is no file now. Those with a file are not removed.
    std::filesystem::remove(partial_.parent_path(), ignored);
    std::filesystem::remove(partial_.parent_path().parent_path(), ignored);
  }

  bool begin(std::optional<std::uint64_t> bytes) override {
    length_ = bytes;
    bytes_ = 0;
    begun_ = Clock::now();
    if (bytes && *bytes > kMaxFileBytes) return fail("is larger than 1 GiB");
    if (!lock()) return false;
    out_.close();
    out_.clear();
    errno = 0;
    out_.open(partial_, std::ios::binary | std::ios::trunc);
    return out_ ? true : fail_to_write();
  }
  bool take(std::string_view bytes) override {
    bytes_ += bytes.size();
    if (bytes_ > kMaxFileBytes) return fail("is larger than 1 GiB");
    errno = 0;
    if (!out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return fail_to_write();
    owner_.watch_.show({.name = key_.name,
                        .bytes = bytes_,
                        .of = length_.value_or(0),
                        .time = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_)});
    return true;
  }
  bool stop() override { return owner_.is_over(); }

  // Waits until no other process is loading the file. Returns false if the time for that is over.
  bool wait_for_lock() {
    while (busy_) {
      if (owner_.is_over()) return false;
      std::this_thread::sleep_for(kLookEvery);
      lock();
      if (!fault_.empty()) return true;
    }
    return true;
  }
  // Closes the partial file.
  void end() {
    if (!out_.is_open()) return;  // nothing came before the command's time was over
    errno = 0;
    out_.close();
    if (!out_) fail_to_write();
  }

  const StoreKey& key() const noexcept { return key_; }
  const std::string& path() const noexcept { return path_; }
  const std::filesystem::path& partial() const noexcept { return partial_; }
  bool busy() const noexcept { return busy_; }          // another process is loading the file
  bool taken() const noexcept { return taken_; }        // another process has loaded it
  const std::string& fault() const noexcept { return fault_; }  // of this machine, or of the file's length
  std::uint64_t bytes() const noexcept { return bytes_; }
  // How the length differs from the one that the server has said; empty if it does not.
  std::string wrong_length() const {
    if (!length_ || *length_ == bytes_) return {};
    return std::to_string(bytes_) + " of " + std::to_string(*length_) + " bytes came";
  }

 private:
  // Returns whether the partial file is ours.
  bool lock() {
    if (lock_ != nullptr) return true;
    std::error_code error;
    std::filesystem::create_directories(store_, error);
    if (error) return fail("cannot be kept: " + path_of_folder() + ": " + error.message());
    const auto result = FileLock::try_lock(store_ / "mixwalk.lock", lock_byte(key_.name), lock_);
    busy_ = result == FileLock::Result::busy;
    if (result == FileLock::Result::failed) return fail("cannot be kept: " + path_of_folder() + " cannot be written");
    if (result != FileLock::Result::locked) return false;
    // The one who had the lock before may have loaded the file.
    taken_ = std::filesystem::exists(path_of_utf8(path_), error);
    if (taken_) return false;
    std::filesystem::create_directories(partial_.parent_path(), error);
    return !error || fail("cannot be kept: " + path_of_folder() + ": " + error.message());
  }
  bool fail(std::string fault) {
    fault_ = std::move(fault);
    return false;
  }
  bool fail_to_write() {
    const std::string why = errno_words();
    return fail("cannot be kept: " + path_of_folder() + ": " + why);
  }
  std::string path_of_folder() const {
    const std::u8string text = store_.u8string();
    return {text.begin(), text.end()};
  }

  SymbolServers& owner_;
  const StoreKey& key_;
  const std::filesystem::path store_;
  const std::string path_;  // where the file will be
  std::filesystem::path partial_;
  std::unique_ptr<FileLock> lock_;
  std::ofstream out_;
  std::optional<std::uint64_t> length_;
  std::uint64_t bytes_ = 0;
  Clock::time_point begun_{};
  bool busy_ = false, taken_ = false;
  std::string fault_;
};

SymbolServers::SymbolServers(const std::vector<SymbolPath::Server>& servers, HttpGet& http, LoadWatch& watch,
                             const SymbolLimits& limits)
    : http_(http), watch_(watch), limits_(limits) {
  for (const SymbolPath::Server& server : servers) servers_.push_back({.url = server.url, .stores = server.stores});
}

std::optional<FetchedFile> SymbolServers::fetch(const StoreKey& key, const FileCheck& check) {
  // A key may come from a target or a file, and becomes a part of paths and of URLs.
  if (!is_file_name(key.name) || !is_store_id(key.id)) return std::nullopt;
  if (!is_path(key.name)) return std::nullopt;
  if (over_ || servers_.empty() || !asked_.insert(ascii_lower(key.name + '/' + key.id)).second) return std::nullopt;
  const auto begin = Clock::now();
  end_ = begin + (limits_.all - spent_);
  watch_.show({.name = key.name});
  std::optional<FetchedFile> found;
  for (Server& server : servers_) {
    if (!server.off && !found && !is_over()) found = fetch_from(server, key, check);
  }
  spent_ += Clock::now() - begin;
  return found;
}

std::optional<FetchedFile> SymbolServers::fetch_from(Server& server, const StoreKey& key, const FileCheck& check) {
  Request request(*this, key, server.stores.front());
  Result result = get_plain(server, request);
  if (result == Result::missing) result = get_cabinet(server, request);
  if (result == Result::missing) ask_for_pointer(server, key);
  if (result == Result::loaded) return keep(server, request, check);
  if (result != Result::taken) return std::nullopt;
  auto bytes = DiskImageFiles().read(request.path());
  if (const std::string why = problem_of(bytes, check); !why.empty()) {
    add_problem(request.path() + " is not used: " + why + "; remove it, so that it is loaded again");
    return std::nullopt;
  }
  return FetchedFile{request.path(), std::move(*bytes)};
}

SymbolServers::Result SymbolServers::get(Server& server, const std::string& address, Request& request) {
  const HttpHeaders headers = headers_of(request.key());
  while (true) {
    const HttpReply reply = http_.get(server.url + '/' + address, headers, {limits_.connect, limits_.silence}, request);
    if (request.busy()) {
      if (!request.wait_for_lock()) return Result::given_up;
      if (request.fault().empty() && !request.taken()) continue;
    }
    if (request.taken()) return Result::taken;
    if (reply.status == 200 && request.fault().empty()) request.end();
    if (!request.fault().empty()) {
      add_problem(request.key().name + ' ' + request.fault());
      return Result::given_up;
    }
    if (is_over()) return Result::given_up;
    if (reply.status == 404 || reply.status == 410) return Result::missing;
    if (!judge(server, reply)) return Result::given_up;
    if (const std::string wrong = request.wrong_length(); !wrong.empty()) {
      turn_off(server, "of " + address + ' ' + wrong);
      return Result::given_up;
    }
    return Result::loaded;
  }
}

SymbolServers::Result SymbolServers::get_plain(Server& server, Request& request) {
  // Most servers ignore case, and folders that are served by a system other than Windows do not.
  const StoreKey& wanted = request.key();
  std::vector<StoreKey> spellings = {wanted};
  if (StoreKey lower{ascii_lower(wanted.name), ascii_lower(wanted.id)};
      lower.name != wanted.name || lower.id != wanted.id) {
    spellings.push_back(std::move(lower));
  }
  for (const StoreKey& key : spellings) {
    if (in_two_tiers(server, key)) {
      const Result result = get(server, store_address(key.name, key.id, key.name, true), request);
      if (result != Result::missing) return result;
    }
    const Result result = get(server, store_address(key.name, key.id, key.name), request);
    if (result != Result::missing) return result;
    if (server.tiers != Server::Tiers::unknown) continue;
    find_tiers(server);
    if (server.off || is_over()) return Result::given_up;
    if (in_two_tiers(server, key)) {
      const Result second = get(server, store_address(key.name, key.id, key.name, true), request);
      if (second != Result::missing) return second;
    }
  }
  return Result::missing;
}

SymbolServers::Result SymbolServers::get_cabinet(Server& server, Request& request) {
  const StoreKey& key = request.key();
  const std::string name = cabinet_name(key.name);
  const bool two = in_two_tiers(server, key);
  const std::string address = store_address(key.name, key.id, name, two);
  const auto refuse = [&](const std::string& why) {
    add_problem(name + " of " + server.url + " is not used: " + why);
    return Result::given_up;
  };
  if (const std::string why = cabinet_obstacle(); !why.empty()) {
    // It is only asked for so that the person gets to know what would help.
    SmallText text([this] { return is_over(); });
    const HttpReply reply = http_.get(server.url + '/' + address, {}, {limits_.connect, limits_.silence}, text);
    const bool there = reply.status == 200;
    return there && (text.too_long || text.text.starts_with("MSCF")) ? refuse(why) : Result::missing;
  }
  Result result = get(server, address, request);
  if (two && result == Result::missing) result = get(server, store_address(key.name, key.id, name), request);
  if (result != Result::loaded) return result;
  std::filesystem::path expanded = request.partial();
  expanded += "x";
  std::error_code error;
  std::string why = expand_cabinet(request.partial(), expanded);
  if (why.empty()) std::filesystem::rename(expanded, request.partial(), error);
  if (error) why = error.message();
  if (why.empty()) return Result::loaded;
  std::filesystem::remove(expanded, error);
  return refuse(why);
}

// A store may have a text in the place of a file. It is shown, and a path in it is never followed, because it may lead
// to any machine, which would get the user's credentials.
void SymbolServers::ask_for_pointer(Server& server, const StoreKey& key) {
  std::string text =
      small_text(server, store_address(key.name, key.id, "file.ptr", in_two_tiers(server, key))).value_or("");
  text.resize(std::min(text.size(), text.find_first_of("\r\n")));
  if (text.starts_with("PATH:")) {
    add_problem(server.url + " says that " + key.name + " is at another place, which mixwalk does not ask: " +
                text.substr(5));
  } else if (text.starts_with("MSG:")) {
    add_problem(server.url + " says of " + key.name + ": " + text.substr(4));
  }
}

// Storage services refuse what they do not have (403), so a refusal of a file that need not exist says nothing about
// the others.
std::optional<std::string> SymbolServers::small_text(Server& server, const std::string& address) {
  SmallText text([this] { return is_over(); });
  const HttpReply reply = http_.get(server.url + '/' + address, {}, {limits_.connect, limits_.silence}, text);
  if (is_over() || text.too_long) return std::nullopt;
  if (!reply.problem.empty()) turn_off(server, reply.problem);
  if (reply.status != 200 || !reply.problem.empty()) return std::nullopt;
  return text.text;
}

void SymbolServers::find_tiers(Server& server) {
  const std::optional<std::string> index = small_text(server, "index2.txt");
  if (server.off || is_over()) return;
  // A server that has a page for every address has one for this as well.
  const bool two = index && index->find('<') == std::string::npos;
  server.tiers = two ? Server::Tiers::two : Server::Tiers::one;
}

bool SymbolServers::in_two_tiers(const Server& server, const StoreKey& key) {
  return server.tiers == Server::Tiers::two && !key.name.starts_with("..");  // it would lead out of the store
}

std::optional<FetchedFile> SymbolServers::keep(const Server& server, Request& request, const FileCheck& check) {
  const std::u8string partial = request.partial().u8string();
  auto bytes = DiskImageFiles().read({partial.begin(), partial.end()});
  const StoreKey& key = request.key();
  if (const std::string why = problem_of(bytes, check); !why.empty()) {
    add_problem(key.name + " of " + server.url + " is not used: " + why);
    return std::nullopt;
  }
  std::error_code error;
  std::filesystem::rename(request.partial(), path_of_utf8(request.path()), error);
  if (error) {
    add_problem(key.name + " cannot be kept: " + request.path() + ": " + error.message());
    return std::nullopt;
  }
  loaded_.push_back({key.name, bytes->size(), server.url, server.stores.front()});
  for (std::size_t i = 1; i < server.stores.size(); ++i) {
    Request copy(*this, key, server.stores[i]);
    // The store may be the same folder by another name (C:\sym, c:/Sym). Its lock is then held by this request.
    if (std::filesystem::exists(path_of_utf8(copy.path()), error)) continue;
    const std::string_view content(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    bool begun = copy.begin(content.size());
    // Another process is loading a file of this name, perhaps another build of it.
    while (!begun && copy.busy() && copy.wait_for_lock() && !copy.taken()) begun = copy.begin(content.size());
    if (begun && copy.take(content)) {
      copy.end();
      if (copy.fault().empty()) std::filesystem::rename(copy.partial(), path_of_utf8(copy.path()), error);
      if (error) add_problem(key.name + " cannot be kept: " + copy.path() + ": " + error.message());
    }
    if (!copy.fault().empty()) add_problem(key.name + ' ' + copy.fault());
  }
  return FetchedFile{request.path(), std::move(*bytes)};
}

bool SymbolServers::is_over() {
  if (over_) return true;
  if (watch_.stop()) {
    over_ = true;
    add_problem("the loading of symbol files was stopped");
  } else if (Clock::now() >= end_) {
    over_ = true;
    add_problem("the limit for loading symbol files, " + limit_text(limits_.all) +
                ", is used up: --symbol-limits sets another");
  }
  return over_;
}

bool SymbolServers::judge(Server& server, const HttpReply& reply) {
  switch (reply.status) {
    case 200:
      if (!reply.problem.empty()) turn_off(server, reply.problem);
      return reply.problem.empty();
    case 408:
    case 500:
    case 502:
    case 503:
    case 504:  // a fault of the moment
      add_problem(server.url + " answered with status " + std::to_string(reply.status));
      return false;
    case 0: turn_off(server, reply.problem); return false;
    default: turn_off(server, "it answered with status " + std::to_string(reply.status)); return false;
  }
}

void SymbolServers::turn_off(Server& server, const std::string& why) {
  server.off = true;
  add_problem(server.url + " is not asked any more: " + why);
}

void SymbolServers::add_problem(std::string problem) {
  if (problems_.size() >= kMaxProblems) return;
  if (std::find(problems_.begin(), problems_.end(), problem) == problems_.end()) {
    problems_.push_back(std::move(problem));
  }
}

}  // namespace mixwalk

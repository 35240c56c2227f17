#include "walker/otlp/spool.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/interprocess/sync/file_lock.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <fstream>
#include <random>
#include <span>
#include <system_error>

#include "unmanaged/sha256.h"
#include "walker/base/errno_text.h"
#include "walker/base/list_folder.h"
#include "walker/base/partial_file.h"
#include "walker/base/wall_clock.h"
#include "walker/otlp/private_folder.h"

namespace mixwalk {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kExtension = ".otlp.gz";
constexpr std::string_view kTorn = ".otlp.gz.partial";
constexpr std::size_t kTimeDigits = 15;
// A file is written within milliseconds, so an incomplete one of this age was left by a run that has ended.
constexpr std::chrono::hours kTornAfter{1};

// The name of a collector's folder: readable, and different for each URL.
std::string folder_name(const CollectorUrl& url) {
  constexpr std::size_t kMaxShown = 64;
  std::string name = url.host.substr(0, kMaxShown);
  std::ranges::replace(name, ':', '_');  // for an IPv6 address, since Windows allows no colon in a name
  const std::string all = text(url);
  const auto digest = sha256(std::as_bytes(std::span(all)));
  std::string hash;
  for (const std::byte byte : std::span(digest).first(8)) {
    hash += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return fmt::format("{}-{}-{}", name, url.port, hash);
}

// The time at the beginning of a request's name.
std::uint64_t time_of(const fs::path& request) {
  std::uint64_t ms = 0;
  for (const auto c : request.filename().native().substr(0, kTimeDigits)) {
    ms = ms * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return ms;
}

// Uses the system's own characters, because names that others gave need not be Unicode.
bool ends_with(const fs::path& path, std::string_view ascii) {
  const auto& name = path.native();
  return name.size() >= ascii.size() &&
         std::equal(ascii.begin(), ascii.end(), name.end() - static_cast<int>(ascii.size()));
}

// Whether this is a file with one of our names. Links are not followed, because only files that mixwalk wrote here are
// sent and removed.
bool is_request(const fs::path& path) {
  if (!ends_with(path, kExtension)) return false;
  const fs::path::string_type name = path.filename().native();
  const auto stem = std::basic_string_view(name.data(), name.size() - kExtension.size());
  const auto is_digit = [](auto c) { return c >= '0' && c <= '9'; };
  std::error_code error;
  return stem.size() > kTimeDigits && std::ranges::all_of(stem.substr(0, kTimeDigits), is_digit) &&
         std::ranges::all_of(
             stem, [&](auto c) { return is_digit(c) || (c >= 'a' && c <= 'f') || c == '-'; }) &&
         fs::symlink_status(path, error).type() == fs::file_type::regular;
}

class LockedTurn final : public Spool::Turn {
 public:
  explicit LockedTurn(const fs::path& file) : lock_(file.c_str()) {}
  ~LockedTurn() override {
    if (held_) lock_.unlock();
  }
  bool take() { return held_ = lock_.try_lock(); }

 private:
  boost::interprocess::file_lock lock_;
  bool held_ = false;
};

}  // namespace

Spool::Spool(const fs::path& folder, const CollectorUrl& url, std::uint64_t max_bytes)
    : folder_(folder / folder_name(url)), max_bytes_(max_bytes), run_(std::random_device{}()) {
  error_ = make_private_folder(folder_);
  if (!error_.empty()) return;
  errno = 0;
  // If this file cannot be written, no request can be.
  if (!std::ofstream(folder_ / "lock", std::ios::app)) error_ = errno_text();
  error_ = error_.empty() ? list_folder(folder_).error : error_;
  forget_torn();
  // The name must sort after those of earlier runs, even if the clock was set back since.
  if (const auto files = waiting(); !files.empty()) last_ms_ = time_of(files.back()) + 1;
}

void Spool::forget_torn() const {
  const auto now = fs::file_time_type::clock::now();
  for (const std::string& name : list_folder(folder_).files) {
    const fs::path path = folder_ / path_of(name);
    std::error_code error;
    if (!ends_with(path, kTorn)) continue;
    const auto written = fs::last_write_time(path, error);
    if (!error && now - written > kTornAfter) fs::remove(path, error);
  }
}

std::string Spool::add(std::string_view request) {
  std::uint64_t bytes = request.size();
  const FolderListing listing = list_folder(folder_);
  if (!listing.error.empty()) return listing.error;
  for (const std::string& name : listing.files) {
    std::error_code error;
    const std::uint64_t size = fs::file_size(folder_ / path_of(name), error);
    if (!error) bytes += size;
  }
  if (bytes > max_bytes_) return fmt::format("it is full ({} MiB)", max_bytes_ >> 20);
  last_ms_ = std::max(unix_time_ms_now(), last_ms_);  // the clock may have been set back
  const std::string name =
      fmt::format("{:0{}}-{:08x}-{:06}{}", last_ms_, kTimeDigits, run_, count_++, kExtension);
  PartialFile file(utf8_of(folder_ / name));
  if (!file.error().empty() || !file.write(request)) return file.error();
  return file.commit();
}

std::vector<fs::path> Spool::waiting() const {
  std::vector<fs::path> files;
  for (const std::string& name : list_folder(folder_).files) {
    if (fs::path path = folder_ / path_of(name); is_request(path)) files.push_back(std::move(path));
  }
  return files;
}

std::string Spool::read(const fs::path& file, std::string& request) const {
  std::error_code error;
  const std::uint64_t size = fs::file_size(file, error);
  if (error) return error.message();
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) return errno_text();
  request.clear();
  if (size > kMaxFileBytes) return {};
  request.resize(static_cast<std::size_t>(size));
  if (!in.read(request.data(), static_cast<std::streamsize>(request.size()))) return errno_text();
  return {};
}

std::string Spool::remove(const fs::path& file) const {
  std::error_code error;
  fs::remove(file, error);
  return error ? error.message() : std::string();
}

std::string Spool::set_aside(const fs::path& file) const {
  fs::path aside = file;
  aside += ".refused";
  std::error_code error;
  fs::rename(file, aside, error);
  return error ? error.message() : std::string();
}

std::unique_ptr<Spool::Turn> Spool::take_turn() const {
  try {
    auto turn = std::make_unique<LockedTurn>(folder_ / "lock");
    return turn->take() ? std::move(turn) : nullptr;
  } catch (const std::exception&) {
    return nullptr;  // the file does not exist any more, nor does its folder
  }
}

}  // namespace mixwalk

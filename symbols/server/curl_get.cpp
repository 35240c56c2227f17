#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "symbols/server/http_get.h"
#include "symbols/server/symbol_limits.h"
#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

using Clock = std::chrono::steady_clock;

// The declarations of libcurl that are used here. Its numbers never change (curl/curl.h; libcurl ABI policy).
using Curl = void;
using CurlList = void;
using CurlOffset = std::int64_t;
constexpr long kGlobalDefault = 3;
constexpr int kOptWriteData = 10001, kOptUrl = 10002, kOptErrorBuffer = 10010, kOptUserAgent = 10018,
              kOptHttpHeader = 10023, kOptXferInfoData = 10057, kOptCaInfo = 10065,
              kOptWriteFunction = 20011, kOptXferInfoFunction = 20219,
              kOptNoProgress = 43, kOptNoSignal = 99, kOptConnectTimeoutMs = 156, kOptProtocols = 181,
              kOptQuickExit = 322;
constexpr int kInfoStatus = 0x200002, kInfoRedirectUrl = 0x100000 + 31, kInfoContentLength = 0x600000 + 15;
constexpr long kHttp = 1, kHttps = 2;
constexpr int kOk = 0;
constexpr std::size_t kErrorBytes = 256;

constexpr int kMaxRedirects = 5;
// The page of an error is read so far, because a connection with an unread rest cannot be used again.
constexpr std::size_t kMaxErrorPage = 64u << 10;

// libcurl, which a machine may lack. It is loaded when the first file is asked for, so that mixwalk itself needs no
// library.
class Library {
 public:
  Library() {
    for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
      if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library_ == nullptr) return;
    const bool found = find("curl_global_init", global_init) && find("curl_easy_init", init) &&
                       find("curl_easy_setopt", setopt) && find("curl_easy_perform", perform) &&
                       find("curl_easy_getinfo", getinfo) && find("curl_easy_cleanup", cleanup) &&
                       find("curl_easy_strerror", strerror) && find("curl_slist_append", append) &&
                       find("curl_slist_free_all", free_all);
    usable_ = found && global_init(kGlobalDefault) == kOk;
  }
  bool usable() const noexcept { return usable_; }

  int (*global_init)(long) = nullptr;
  Curl* (*init)() = nullptr;
  int (*setopt)(Curl*, int, ...) = nullptr;
  int (*perform)(Curl*) = nullptr;
  int (*getinfo)(Curl*, int, ...) = nullptr;
  void (*cleanup)(Curl*) = nullptr;
  const char* (*strerror)(int) = nullptr;
  CurlList* (*append)(CurlList*, const char*) = nullptr;
  void (*free_all)(CurlList*) = nullptr;

 private:
  template <class Function>
  bool find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    return function != nullptr;
  }

  void* library_ = nullptr;
  bool usable_ = false;
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

bool is_https(std::string_view url) { return ascii_lower(url.substr(0, 6)) == "https:"; }

// One request while it runs.
struct Transfer {
  HttpTaker& taker;
  Curl* curl;
  std::chrono::milliseconds silence;
  Clock::time_point last_byte;
  bool begun = false;
  bool is_body = false;     // of an answer with status 200
  std::size_t skipped = 0;  // bytes of the page of an error
  bool ended = false;       // by the taker
  bool too_silent = false;
};

std::size_t on_bytes(const char* bytes, std::size_t size, std::size_t count, void* of) {
  auto& transfer = *static_cast<Transfer*>(of);
  const std::size_t all = size * count;
  transfer.last_byte = Clock::now();
  if (!transfer.begun) {
    transfer.begun = true;
    long status = 0;
    CurlOffset length = -1;
    library().getinfo(transfer.curl, kInfoStatus, &status);
    library().getinfo(transfer.curl, kInfoContentLength, &length);
    transfer.is_body = status == 200;
    const auto bytes_to_come = length < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(length));
    if (transfer.is_body && !transfer.taker.begin(bytes_to_come)) transfer.ended = true;
  }
  if (!transfer.is_body) {
    transfer.skipped += all;
    return transfer.skipped > kMaxErrorPage ? 0 : all;
  }
  if (!transfer.ended) transfer.ended = !transfer.taker.take({bytes, all});
  return transfer.ended ? 0 : all;
}

int on_progress(void* of, CurlOffset, CurlOffset, CurlOffset, CurlOffset) {
  auto& transfer = *static_cast<Transfer*>(of);
  if (transfer.taker.stop()) {
    transfer.ended = true;
  } else if (Clock::now() - transfer.last_byte >= transfer.silence) {
    transfer.too_silent = true;
  }
  return transfer.ended || transfer.too_silent ? 1 : 0;
}

class CurlGet final : public HttpGet {
 public:
  ~CurlGet() override {
    if (curl_ != nullptr) library().cleanup(curl_);
  }

  HttpReply get(const std::string& url, const HttpHeaders& headers, const HttpLimits& limits,
                HttpTaker& taker) override {
    if (!library().usable()) return {0, "libcurl.so.4 is not installed on this machine (Debian: libcurl4)"};
    if (curl_ == nullptr) curl_ = library().init();  // one for all requests, so that connections are used again
    if (curl_ == nullptr) return {0, "libcurl cannot begin"};
    // libcurl would check a redirect by the first address alone, so that http may lead to https and back to http.
    std::string at = url;
    for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
      const HttpReply reply = get_once(at, headers, limits, taker);
      const char* next = nullptr;
      library().getinfo(curl_, kInfoRedirectUrl, &next);
      if (reply.status < 300 || reply.status >= 400 || next == nullptr) return reply;
      const std::string to = next;
      if (is_https(at) && !is_https(to)) return {0, "it redirects to an address that is not https"};
      at = to;
    }
    return {0, "it redirects too often"};
  }

 private:
  HttpReply get_once(const std::string& url, const HttpHeaders& headers, const HttpLimits& limits, HttpTaker& taker) {
    const Library& curl = library();
    Transfer transfer{taker, curl_, limits.silence, Clock::now()};
    std::array<char, kErrorBytes> error{};
    curl.setopt(curl_, kOptUrl, url.c_str());
    curl.setopt(curl_, kOptErrorBuffer, error.data());
    curl.setopt(curl_, kOptUserAgent, "mixwalk");
    curl.setopt(curl_, kOptNoSignal, 1L);
    // Otherwise the end of a request waits for a look-up of a name, which may take longer than all limits. (Unknown to
    // libcurl before 7.87.)
    curl.setopt(curl_, kOptQuickExit, 1L);
    curl.setopt(curl_, kOptProtocols, kHttp | kHttps);
    curl.setopt(curl_, kOptConnectTimeoutMs, static_cast<long>(limits.connect.count()));
    curl.setopt(curl_, kOptWriteFunction, &on_bytes);
    curl.setopt(curl_, kOptWriteData, &transfer);
    curl.setopt(curl_, kOptNoProgress, 0L);
    curl.setopt(curl_, kOptXferInfoFunction, &on_progress);
    curl.setopt(curl_, kOptXferInfoData, &transfer);
    // The variable of other programs for the file of certificates that count. libcurl itself does not read it.
    if (const char* certificates = std::getenv("SSL_CERT_FILE")) curl.setopt(curl_, kOptCaInfo, certificates);
    CurlList* list = nullptr;
    for (const std::string& header : headers) list = curl.append(list, header.c_str());
    curl.setopt(curl_, kOptHttpHeader, list);
    const int result = curl.perform(curl_);
    curl.setopt(curl_, kOptHttpHeader, static_cast<CurlList*>(nullptr));
    curl.free_all(list);
    long status = 0;
    curl.getinfo(curl_, kInfoStatus, &status);
    curl.setopt(curl_, kOptErrorBuffer, nullptr);
    HttpReply reply{.status = static_cast<int>(status), .problem = {}};
    if (transfer.ended || (transfer.begun && !transfer.is_body)) return reply;
    if (transfer.too_silent) {
      reply.problem = "no byte came for " + limit_text(limits.silence);
    } else if (result != kOk) {
      // A detail may quote the address of a proxy, which may have a password.
      const bool detailed = error[0] != '\0' && std::string_view(error.data()).find('@') == std::string_view::npos;
      reply.problem = detailed ? error.data() : curl.strerror(result);
    } else if (status == 200 && !transfer.begun) {
      taker.begin(0);  // an empty body
    }
    if (!reply.problem.empty() && !transfer.is_body) reply.status = 0;
    return reply;
  }

  Curl* curl_ = nullptr;
};

}  // namespace

std::unique_ptr<HttpGet> system_http_get() { return std::make_unique<CurlGet>(); }

}  // namespace mixwalk

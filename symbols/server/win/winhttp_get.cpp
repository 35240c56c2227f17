#include <windows.h>

#include <winhttp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cwchar>
#include <vector>

#include "symbols/server/http_get.h"
#include "symbols/server/symbol_limits.h"
#include "unmanaged/win/system_library.h"
#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr DWORD kLookMs = 50;  // how often the taker is asked whether it still wants the file
constexpr DWORD kMaxRedirects = 5;
constexpr std::size_t kReadBytes = 64u << 10;
// The page of an error is read so far, because a connection with an unread rest cannot be used again.
constexpr std::size_t kMaxErrorPage = 64u << 10;

std::string words_of(DWORD error) {
  switch (error) {
    case ERROR_WINHTTP_TIMEOUT: return "it does not answer";
    case ERROR_WINHTTP_NAME_NOT_RESOLVED: return "there is no machine of that name";
    case ERROR_WINHTTP_CANNOT_CONNECT: return "no connection can be made";
    case ERROR_WINHTTP_CONNECTION_ERROR: return "the connection was closed";
    case ERROR_WINHTTP_INVALID_SERVER_RESPONSE: return "its answer is no answer of HTTP";
    case ERROR_WINHTTP_REDIRECT_FAILED:
      return "it redirects from https to http, to an address that is not of the web, or too often";
    case ERROR_WINHTTP_SECURE_FAILURE:
    case ERROR_WINHTTP_SECURE_CERT_CN_INVALID:
    case ERROR_WINHTTP_SECURE_CERT_DATE_INVALID:
    case ERROR_WINHTTP_SECURE_INVALID_CA:
    case ERROR_WINHTTP_SECURE_INVALID_CERT: return "this machine does not trust its certificate";
    default: return "error " + std::to_string(error) + " of WinHTTP";
  }
}

// The functions of winhttp.dll.
struct WinHttp {
  decltype(&::WinHttpCloseHandle) close_handle = nullptr;
  decltype(&::WinHttpConnect) connect = nullptr;
  decltype(&::WinHttpCrackUrl) crack_url = nullptr;
  decltype(&::WinHttpOpen) open = nullptr;
  decltype(&::WinHttpOpenRequest) open_request = nullptr;
  decltype(&::WinHttpQueryDataAvailable) query_data_available = nullptr;
  decltype(&::WinHttpQueryHeaders) query_headers = nullptr;
  decltype(&::WinHttpReadData) read_data = nullptr;
  decltype(&::WinHttpReceiveResponse) receive_response = nullptr;
  decltype(&::WinHttpSendRequest) send_request = nullptr;
  decltype(&::WinHttpSetOption) set_option = nullptr;
  decltype(&::WinHttpSetStatusCallback) set_status_callback = nullptr;
  bool whole = false;  // nothing may be called otherwise
};

const WinHttp& winhttp() {
  static const WinHttp functions = [] {
    const SystemLibrary library(L"winhttp.dll");
    WinHttp found;
    found.whole = library.find("WinHttpCloseHandle", found.close_handle) &&
                  library.find("WinHttpConnect", found.connect) &&
                  library.find("WinHttpCrackUrl", found.crack_url) &&
                  library.find("WinHttpOpen", found.open) &&
                  library.find("WinHttpOpenRequest", found.open_request) &&
                  library.find("WinHttpQueryDataAvailable", found.query_data_available) &&
                  library.find("WinHttpQueryHeaders", found.query_headers) &&
                  library.find("WinHttpReadData", found.read_data) &&
                  library.find("WinHttpReceiveResponse", found.receive_response) &&
                  library.find("WinHttpSendRequest", found.send_request) &&
                  library.find("WinHttpSetOption", found.set_option) &&
                  library.find("WinHttpSetStatusCallback", found.set_status_callback);
    return found;
  }();
  return functions;
}

// A handle of WinHTTP.
class Internet {
 public:
  Internet() = default;
  explicit Internet(HINTERNET handle) noexcept : handle_(handle) {}
  Internet(const Internet&) = delete;
  Internet& operator=(const Internet&) = delete;
  ~Internet() {
    if (handle_ != nullptr) winhttp().close_handle(handle_);
  }
  HINTERNET get() const noexcept { return handle_; }

 private:
  HINTERNET handle_ = nullptr;
};

// What WinHTTP writes into while a request runs. It belongs to the caller and to WinHTTP, which calls back until the
// request's handle is closed, and then once more.
class Answers {
 public:
  void release() {
    if (--owners_ == 0) delete this;
  }
  static void CALLBACK on_status(HINTERNET, DWORD_PTR context, DWORD status, void* about, DWORD bytes) {
    auto* const answers = reinterpret_cast<Answers*>(context);
    if (answers == nullptr) return;
    switch (status) {
      case WINHTTP_CALLBACK_STATUS_SENDREQUEST_COMPLETE:
      case WINHTTP_CALLBACK_STATUS_HEADERS_AVAILABLE: answers->set(ERROR_SUCCESS, 0); break;
      case WINHTTP_CALLBACK_STATUS_DATA_AVAILABLE:
        answers->set(ERROR_SUCCESS, *static_cast<const DWORD*>(about));
        break;
      case WINHTTP_CALLBACK_STATUS_READ_COMPLETE: answers->set(ERROR_SUCCESS, bytes); break;
      case WINHTTP_CALLBACK_STATUS_REQUEST_ERROR:
        answers->set(static_cast<const WINHTTP_ASYNC_RESULT*>(about)->dwError, 0);
        break;
      case WINHTTP_CALLBACK_STATUS_HANDLE_CLOSING: answers->release(); break;
      default: break;
    }
  }

  const UniqueHandle came{CreateEventW(nullptr, FALSE, FALSE, nullptr)};
  std::atomic<DWORD> error = ERROR_SUCCESS, bytes = 0;
  std::vector<char> buffer = std::vector<char>(kReadBytes);

 private:
  ~Answers() = default;
  void set(DWORD with_error, DWORD with_bytes) {
    error = with_error;
    bytes = with_bytes;
    SetEvent(came.get());
  }

  std::atomic<int> owners_ = 2;
};

// One request. All calls of WinHTTP return at once, so that the time limits are ours: WinHTTP's do not hold in all
// versions of Wine, and do not stop a connection that sends a byte now and then.
class Request {
 public:
  Request(HINTERNET connection, const std::wstring& path, bool secure, HttpTaker& taker)
      : handle_(winhttp().open_request(connection, L"GET", path.c_str(), nullptr, WINHTTP_NO_REFERER,
                                   WINHTTP_DEFAULT_ACCEPT_TYPES,
                                   WINHTTP_FLAG_ESCAPE_DISABLE | (secure ? WINHTTP_FLAG_SECURE : 0))),
        taker_(taker) {
    if (handle_ == nullptr) return;
    // Nothing of the user is sent by itself: no name, no password (a server that is named by its address is not covered
    // by the policy), no cookie.
    set(WINHTTP_OPTION_DISABLE_FEATURE, WINHTTP_DISABLE_COOKIES | WINHTTP_DISABLE_AUTHENTICATION);
    set(WINHTTP_OPTION_AUTOLOGON_POLICY, WINHTTP_AUTOLOGON_SECURITY_LEVEL_HIGH);
    set(WINHTTP_OPTION_REDIRECT_POLICY, WINHTTP_OPTION_REDIRECT_POLICY_DISALLOW_HTTPS_TO_HTTP);
    set(WINHTTP_OPTION_MAX_HTTP_AUTOMATIC_REDIRECTS, kMaxRedirects);
    DWORD_PTR context = reinterpret_cast<DWORD_PTR>(answers_);
    winhttp().set_option(handle_, WINHTTP_OPTION_CONTEXT_VALUE, &context, sizeof context);
    winhttp().set_status_callback(handle_, &Answers::on_status, WINHTTP_CALLBACK_FLAG_ALL_NOTIFICATIONS, 0);
  }
  ~Request() {
    if (handle_ != nullptr) {
      winhttp().close_handle(handle_);
    } else {
      answers_->release();
    }
    answers_->release();
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  HttpReply run(const HttpHeaders& headers, const HttpLimits& limits) {
    if (handle_ == nullptr) return {0, words_of(GetLastError())};
    const DWORD_PTR context = reinterpret_cast<DWORD_PTR>(answers_);
    std::wstring lines;
    for (const std::string& header : headers) lines += to_utf16(header) + L"\r\n";
    const wchar_t* const additional = lines.empty() ? WINHTTP_NO_ADDITIONAL_HEADERS : lines.c_str();
    if (!wait(winhttp().send_request(handle_, additional, static_cast<DWORD>(lines.size()), WINHTTP_NO_REQUEST_DATA, 0,
                                     0, context),
              limits.connect, "no connection stood within ")) {
      return {0, problem_};
    }
    if (!wait(winhttp().receive_response(handle_, nullptr), limits.silence, "no byte came for ")) return {0, problem_};
    const auto status = number(WINHTTP_QUERY_STATUS_CODE);
    if (status.value_or(0) == 0) return {0, words_of(ERROR_WINHTTP_INVALID_SERVER_RESPONSE)};
    if (*status != 200) {
      for (std::size_t skipped = 0; skipped < kMaxErrorPage && read(limits) && answers_->bytes != 0;) {
        skipped += answers_->bytes;
      }
      return {static_cast<int>(*status), {}};
    }
    if (!taker_.begin(number(WINHTTP_QUERY_CONTENT_LENGTH))) return {200, {}};
    while (read(limits)) {
      const DWORD bytes = answers_->bytes;
      if (bytes == 0 || !taker_.take({answers_->buffer.data(), bytes})) return {200, {}};
    }
    return {200, problem_};
  }

 private:
  void set(DWORD option, DWORD value) { winhttp().set_option(handle_, option, &value, sizeof value); }
  // Waits for the end of what was begun. Returns false if it failed, or the taker has ended it; problem_ says why.
  bool wait(BOOL begun, Milliseconds limit, const char* too_long) {
    if (!begun) return fail(words_of(GetLastError()));
    const ULONGLONG end = GetTickCount64() + static_cast<ULONGLONG>(limit.count());
    while (true) {
      // Asked each time, or a download that flows would never be stopped.
      if (taker_.stop()) return fail({});
      if (WaitForSingleObject(answers_->came.get(), kLookMs) == WAIT_OBJECT_0) break;
      if (GetTickCount64() >= end) return fail(too_long + limit_text(limit));
    }
    const DWORD error = answers_->error;
    return error == ERROR_SUCCESS || fail(words_of(error));
  }
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  // Reads the next bytes of the body, none at its end.
  //
  // Folklore: in Wine 8, a read of more bytes than have come does not return until all have come, or until WinHTTP's
  // own time is over, if the first ones are there already. Real case: a server that sends a byte now and then, by http,
  // was waited for without end. Remedy: only what has come is read. Test: symbol_servers (http-trickle,
  // http-silent-within).
  bool read(const HttpLimits& limits) {
    constexpr const char* kTooLong = "no byte came for ";
    if (!wait(winhttp().query_data_available(handle_, nullptr), limits.silence, kTooLong)) return false;
    if (answers_->bytes == 0) return true;
    std::vector<char>& buffer = answers_->buffer;
    const DWORD bytes = std::min<DWORD>(answers_->bytes, static_cast<DWORD>(buffer.size()));
    return wait(winhttp().read_data(handle_, buffer.data(), bytes, nullptr), limits.silence, kTooLong);
  }
  // A number of the headers.
  std::optional<std::uint64_t> number(DWORD which) const {
    std::array<wchar_t, 32> text{};
    DWORD bytes = static_cast<DWORD>(sizeof(wchar_t) * (text.size() - 1));
    if (!winhttp().query_headers(handle_, which, WINHTTP_HEADER_NAME_BY_INDEX, text.data(), &bytes,
                             WINHTTP_NO_HEADER_INDEX)) {
      return std::nullopt;
    }
    wchar_t* end = nullptr;
    const std::uint64_t value = std::wcstoull(text.data(), &end, 10);
    if (end == text.data() || text[0] == L'-') return std::nullopt;  // wcstoull() reads -1 as the largest number
    return value;
  }

  const HINTERNET handle_;
  HttpTaker& taker_;
  Answers* const answers_ = new Answers;
  std::string problem_;
};

class WinHttpGet final : public HttpGet {
 public:
  HttpReply get(const std::string& url, const HttpHeaders& headers, const HttpLimits& limits,
                HttpTaker& taker) override {
    if (!winhttp().whole) return {0, "winhttp.dll, or a function of it, is missing"};
    if (session_ == nullptr) {
      session_ = std::make_unique<Internet>(winhttp().open(L"mixwalk", WINHTTP_ACCESS_TYPE_AUTOMATIC_PROXY,
                                                        WINHTTP_NO_PROXY_NAME, WINHTTP_NO_PROXY_BYPASS,
                                                        WINHTTP_FLAG_ASYNC));
    }
    if (session_->get() == nullptr) return {0, words_of(GetLastError())};
    const std::wstring wide = to_utf16(url);
    URL_COMPONENTS parts{.dwStructSize = sizeof parts};
    parts.dwHostNameLength = parts.dwUrlPathLength = static_cast<DWORD>(-1);
    if (!winhttp().crack_url(wide.c_str(), static_cast<DWORD>(wide.size()), 0, &parts)) {
      return {0, words_of(GetLastError())};
    }
    const std::wstring host(parts.lpszHostName, parts.dwHostNameLength);
    const Internet connection(winhttp().connect(session_->get(), host.c_str(), parts.nPort, 0));
    if (connection.get() == nullptr) return {0, words_of(GetLastError())};
    const std::wstring path(parts.lpszUrlPath, parts.dwUrlPathLength);
    return Request(connection.get(), path, parts.nScheme == INTERNET_SCHEME_HTTPS, taker).run(headers, limits);
  }

 private:
  std::unique_ptr<Internet> session_;  // opened for the first request; the requests share connections
};

}  // namespace

std::unique_ptr<HttpGet> system_http_get() { return std::make_unique<WinHttpGet>(); }

}  // namespace mixwalk

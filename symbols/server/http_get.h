#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// Takes the answer of a server while it comes.
class HttpTaker {
 public:
  virtual ~HttpTaker() = default;
  // The status is 200, and the body follows; `bytes` is its length, if the server says it. If the result is false, the
  // request ends.
  virtual bool begin(std::optional<std::uint64_t> bytes) = 0;
  // The next bytes of the body. If the result is false, the request ends.
  virtual bool take(std::string_view bytes) = 0;
  // Asked at least once a second, also while no byte comes. If the result is true, the request ends.
  virtual bool stop() = 0;
};

// How a request ended. Nothing in it is trusted.
struct HttpReply {
  int status = 0;       // 0 if no answer came
  std::string problem;  // why no answer came, or why its body is incomplete; one line; empty if the taker ended it
};

struct HttpLimits {
  std::chrono::milliseconds connect{5'000};   // until the connection stands
  std::chrono::milliseconds silence{15'000};  // without a byte, also before the first one
};

// Headers of a request, each as "Name: value". They are printable ASCII.
using HttpHeaders = std::vector<std::string>;

// Asks servers for files, by http and https. Redirects are followed, but never from https to http. The names of the
// user are never sent. One thread at a time. Not frozen-safe.
class HttpGet {
 public:
  virtual ~HttpGet() = default;
  // The call blocks, but has the time limits. `url`: http:// or https://.
  virtual HttpReply get(const std::string& url, const HttpHeaders& headers, const HttpLimits& limits,
                        HttpTaker& taker) = 0;
};

// The system's way to ask servers. If the system has none, the answers to all requests say so.
std::unique_ptr<HttpGet> system_http_get();

}  // namespace mixwalk

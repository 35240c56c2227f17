#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// The answer to a POST. Its content is not trusted. It is no longer than the limits of the HttpPost.
struct HttpAnswer {
  int status = 0;                         // 0 if none came
  std::string problem;                    // why none came, or why its body is incomplete; one line
  std::string content_type, retry_after;  // header fields; empty if there are none
  std::string body;
};

// Sends one request to a collector once, without a retry; redirects are not followed. The call blocks, but has a time
// limit.
class HttpPost {
 public:
  virtual ~HttpPost() = default;
  // `request`: an ExportProfilesServiceRequest, compressed by gzip.
  virtual HttpAnswer post(std::string_view request) = 0;
};

}  // namespace mixwalk

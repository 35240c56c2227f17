// Reads arbitrary bytes as the URL of a collector and as a collector's answer: they must be refused, or parsed to
// values that are safe in a request or in a line of output.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "walker/base/utf8.h"
#include "walker/otlp/collector_url.h"
#include "walker/otlp/otel_settings.h"
#include "walker/otlp/reply.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void read_url(std::string_view bytes) {
  const mixwalk::ParsedUrl parsed = mixwalk::parse_collector_url(bytes);
  check(parsed.url.has_value() == parsed.problem.empty());
  if (!parsed.url) return;
  check(parsed.url->port != 0 && !parsed.url->host.empty() && parsed.url->path.starts_with('/'));
  const std::string text = mixwalk::text(*parsed.url);
  for (const char c : text) check(c > ' ' && c < 0x7f);
  const mixwalk::ParsedUrl again = mixwalk::parse_collector_url(text);
  check(text.size() > 2000 || again.url == parsed.url);
}

// The result must be headers that may be sent and attributes that are text, or the reason why there are none.
void read_names(const std::string& bytes) {
  const auto attributes =
      mixwalk::resource_attributes({bytes}, bytes, {.resource_attributes = bytes});
  check(attributes.problem.empty() || attributes.pairs.empty());
  for (const auto& [name, value] : attributes.pairs) {
    check(mixwalk::valid_utf8(name) == name && mixwalk::valid_utf8(value) == value);
  }
  const auto headers = mixwalk::request_headers({}, {.headers = bytes});
  check(headers.problem.empty() || headers.pairs.empty());
  for (const auto& [name, value] : headers.pairs) {
    check(!name.empty() && (name + value).find_first_of("\r\n") == std::string::npos);
  }
}

void read_answer(const mixwalk::HttpAnswer& answer) {
  constexpr std::chrono::sys_seconds kNow{std::chrono::seconds(1'800'000'000)};
  const mixwalk::Reply reply = mixwalk::reply_of(answer, kNow);
  check(reply.words.size() < 400);
  check(!reply.wait || (reply.wait->count() >= 0 && reply.wait->count() <= 86'400));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_url(bytes);
  read_names(bytes);
  for (const char* type : {"application/x-protobuf", "text/plain"}) {
    for (const int status : {200, 400}) {
      read_answer({.status = status, .content_type = type, .body = bytes});
    }
  }
  read_answer({.status = 503, .retry_after = bytes});
  return 0;
}

#include "walker/otlp/reply.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>

#include "walker/base/checked_protozero.h"
#include "walker/base/count_words.h"

namespace mixwalk {
namespace {

using Tag = protozero::pbf_tag_type;
using std::chrono::seconds;

// Field numbers of profiles_service.proto and google/rpc/status.proto.
enum class ResponseField : Tag { partial_success = 1 };
enum class PartialSuccessField : Tag { rejected_profiles = 1, error_message = 2 };
enum class StatusField : Tag { message = 2 };

// A longer Retry-After counts as this time, since no pause is that long.
constexpr seconds kLongestWait{24 * 60 * 60};

bool is_of_type(const HttpAnswer& answer, std::string_view type) {
  return answer.content_type.starts_with(type);
}

std::string quoted_message(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  constexpr std::size_t kMax = 200;
  return text.empty() ? "" : ": \"" + std::string(text.substr(0, kMax)) + "\"";
}

void read_partial_success(protozero::pbf_message<PartialSuccessField> partial, Reply& reply) {
  std::string message;
  while (partial.next()) {
    switch (partial.tag_and_type()) {
      case protozero::tag_and_type(PartialSuccessField::rejected_profiles,
                                   protozero::pbf_wire_type::varint):
        reply.rejected = static_cast<std::uint64_t>(std::max(partial.get_int64(), std::int64_t{0}));
        break;
      case protozero::tag_and_type(PartialSuccessField::error_message,
                                   protozero::pbf_wire_type::length_delimited):
        message = partial.get_string();
        break;
      default:
        partial.skip();
    }
  }
  if (reply.rejected != 0) {
    reply.words = "the collector rejected " + count_words(reply.rejected, "profile") +
                  quoted_message(message);
  } else if (!message.empty()) {
    reply.words = "the collector took the profiles, but says" + quoted_message(message);
  }
}

Reply accepted(const HttpAnswer& answer) {
  Reply reply{.meaning = Reply::Meaning::accepted};
  // Even if the body is not protobuf, the request counts as accepted, since the status said so.
  if (!is_of_type(answer, "application/x-protobuf")) return reply;
  try {
    protozero::pbf_message<ResponseField> response(answer.body);
    while (response.next()) {
      if (response.tag_and_type() ==
          protozero::tag_and_type(ResponseField::partial_success,
                                  protozero::pbf_wire_type::length_delimited)) {
        read_partial_success(response.get_message(), reply);
      } else {
        response.skip();
      }
    }
  } catch (const std::exception&) {
    reply.words = "the collector took the profiles, but its answer is not valid";
  }
  return reply;
}

// The collector's description of an error.
std::string message_of(const HttpAnswer& answer) {
  if (is_of_type(answer, "text/plain")) return quoted_message(answer.body);
  if (!is_of_type(answer, "application/x-protobuf")) return {};
  try {
    protozero::pbf_message<StatusField> status(answer.body);
    while (status.next()) {
      if (status.tag_and_type() ==
          protozero::tag_and_type(StatusField::message,
                                  protozero::pbf_wire_type::length_delimited)) {
        return quoted_message(status.get_string());
      }
      status.skip();
    }
  } catch (const std::exception&) {
  }
  return {};
}

// "Sun, 06 Nov 1994 08:49:37 GMT": of the forms in RFC 9110, only this one is sent.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) {
  constexpr std::string_view kForm = "Aaa, 00 Aaa 0000 00:00:00 GMT";
  if (text.size() != kForm.size() || !text.ends_with(" GMT")) return std::nullopt;
  const auto number = [text](std::size_t at, std::size_t size) {
    int value = -1;
    const char* const end = text.data() + at + size;
    const auto parsed = std::from_chars(text.data() + at, end, value);
    return parsed.ptr == end ? value : -1;
  };
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto month = std::ranges::find(kMonths, text.substr(8, 3)) - kMonths.begin() + 1;
  const int day = number(5, 2), year = number(12, 4);
  const int hour = number(17, 2), minute = number(20, 2), second = number(23, 2);
  if (day < 0 || year < 0 || hour < 0 || minute < 0 || second < 0) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         seconds(second);
}

}  // namespace

std::optional<seconds> parse_retry_after(std::string_view text, std::chrono::sys_seconds now) {
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (!text.empty() && end == last) {
    if (error != std::errc{}) return kLongestWait;  // more than 64 bits of seconds
    return seconds(std::min(number, static_cast<std::uint64_t>(kLongestWait.count())));
  }
  const auto date = parse_http_date(text);
  if (!date) return std::nullopt;
  return std::clamp(*date - now, seconds(0), kLongestWait);
}

Reply reply_of(const HttpAnswer& answer, std::chrono::sys_seconds now) {
  if (answer.status >= 200 && answer.status < 300) return accepted(answer);
  if (answer.status < 200) {
    return {.words = answer.status == 0 ? answer.problem : "its answer is not valid"};
  }
  const std::string words = "status " + std::to_string(answer.status) + message_of(answer);
  constexpr std::array kRetryable = {429, 502, 503, 504};
  if (std::ranges::find(kRetryable, answer.status) != kRetryable.end()) {
    return {.words = words, .wait = parse_retry_after(answer.retry_after, now)};
  }
  const bool redirect = answer.status < 400;
  return {.meaning = Reply::Meaning::refused,
          .words = redirect ? words + " (redirects are not followed)" : words};
}

}  // namespace mixwalk

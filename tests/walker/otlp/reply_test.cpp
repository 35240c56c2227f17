#include "walker/otlp/reply.h"

#include <gtest/gtest.h>

#include <string>

namespace mixwalk {
namespace {

using Meaning = Reply::Meaning;
using std::chrono::seconds;

constexpr std::chrono::sys_seconds kNow{seconds(784'111'770)};  // Sun, 06 Nov 1994 08:49:30 GMT
constexpr char kProtobuf[] = "application/x-protobuf";

Reply reply(int status, const std::string& type = "", const std::string& body = "") {
  return reply_of({.status = status, .content_type = type, .body = body}, kNow);
}

TEST(Reply, TheStatusDecides) {
  for (const int status : {200, 202, 204, 299}) EXPECT_EQ(reply(status).meaning, Meaning::accepted);
  for (const int status : {429, 502, 503, 504}) EXPECT_EQ(reply(status).meaning, Meaning::later);
  for (const int status : {300, 307, 400, 401, 403, 404, 408, 413, 500, 501, 505, 999}) {
    EXPECT_EQ(reply(status).meaning, Meaning::refused) << status;
  }
  EXPECT_EQ(reply(100).meaning, Meaning::later) << "no answer yet, and none followed";
  EXPECT_EQ(reply(307).words, "status 307 (redirects are not followed)");
  const Reply none = reply_of({.problem = "Connection refused"}, kNow);
  EXPECT_EQ(none.meaning, Meaning::later);
  EXPECT_EQ(none.words, "Connection refused");
}

TEST(Reply, PartialSuccess) {
  const Reply some = reply(200, kProtobuf, std::string("\x0a\x09\x08\x03\x12\x05") + "stale");
  EXPECT_EQ(some.meaning, Meaning::accepted);
  EXPECT_EQ(some.rejected, 3u);
  EXPECT_EQ(some.words, "the collector rejected 3 profiles: \"stale\"");
  const Reply warning = reply(200, kProtobuf, std::string("\x0a\x05\x12\x03") + "old");
  EXPECT_EQ(warning.rejected, 0u);
  EXPECT_EQ(warning.words, "the collector took the profiles, but says: \"old\"");
  EXPECT_EQ(reply(200, kProtobuf, "").words, "");
  EXPECT_EQ(reply(200, "text/html", "<html>").words, "");
}

TEST(Reply, AnAnswerThatMakesNoSenseIsStillOne) {
  for (const std::string& body :
       {std::string("\x0a"), std::string("\x0a\x7f"), std::string("\xff\xff\xff"),
        std::string("\x0a\x02\x08\xff"), std::string(70'000, '\xff')}) {
    const Reply made = reply(200, kProtobuf, body);
    EXPECT_EQ(made.meaning, Meaning::accepted);
    EXPECT_EQ(made.words, "the collector took the profiles, but its answer is not valid");
  }
  // The fields have other types than they should, and a count is negative.
  EXPECT_EQ(reply(200, kProtobuf, std::string("\x08\x01")).words, "");
  EXPECT_EQ(reply(200, kProtobuf, std::string("\x0a\x05\x0d\x01\x02\x03\x04")).words, "");
  EXPECT_EQ(reply(200, kProtobuf, "\x0a\x0b\x08" + std::string(9, '\xff') + "\x01").rejected, 0u);
}

TEST(Reply, SaysWhatTheCollectorSays) {
  EXPECT_EQ(reply(400, kProtobuf, std::string("\x08\x03\x12\x04") + "what").words,
            "status 400: \"what\"");
  EXPECT_EQ(reply(404, "text/plain; charset=utf-8", "404 page not found\r\n").words,
            "status 404: \"404 page not found\"");
  EXPECT_EQ(reply(400, kProtobuf, "\xff").words, "status 400");
  EXPECT_EQ(reply(400, "text/html", "<html>").words, "status 400");
  EXPECT_LT(reply(400, "text/plain", std::string(60'000, 'a')).words.size(), 300u);
}

TEST(Reply, RetryAfter) {
  EXPECT_EQ(parse_retry_after("0", kNow), seconds(0));
  EXPECT_EQ(parse_retry_after("120", kNow), seconds(120));
  EXPECT_EQ(parse_retry_after("99999999999999999999999", kNow), seconds(86'400));
  EXPECT_EQ(parse_retry_after("18446744073709551615", kNow), seconds(86'400));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", kNow), seconds(7));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:00 GMT", kNow), seconds(0)) << "is over";
  EXPECT_EQ(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", kNow), seconds(86'400));
  for (const char* text : {"", "-1", "1.5", "soon", "Sun, 06 Nov 1994 08:49:37 CET",
                           "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
                           "Sun, xx Nov 1994 08:49:37 GMT", "Sun, -1 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
  }
  const Reply busy = reply_of({.status = 503, .retry_after = "9"}, kNow);
  EXPECT_EQ(busy.wait, seconds(9));
  EXPECT_EQ(reply_of({.status = 400, .retry_after = "9"}, kNow).wait, std::nullopt);
}

}  // namespace
}  // namespace mixwalk

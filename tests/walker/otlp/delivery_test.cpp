#include "walker/otlp/delivery.h"
#include "tests/support/remove_tree.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <optional>

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Gives the answers that the test sets, the last one repeatedly, and remembers the requests that it answered with a
// 2xx.
class FakePost final : public HttpPost {
 public:
  HttpAnswer post(std::string_view request) override {
    ++posts;
    if (on_post) on_post();
    HttpAnswer answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    if (answer.status / 100 == 2) taken.emplace_back(request.substr(2));
    return answer;
  }
  std::deque<HttpAnswer> answers = {{.status = 200}};
  std::vector<std::string> taken;
  int posts = 0;
  std::function<void()> on_post;
};

// A clock that advances only while somebody waits.
class FakePauses final : public Pauses {
 public:
  bool wait(std::chrono::milliseconds time) override {
    if (time > left) return false;
    left -= time;
    waits.push_back(time);
    return true;
  }
  void succeeded() override { left = 10s; }
  std::chrono::milliseconds left = 10s;
  std::vector<std::chrono::milliseconds> waits;
};

class DeliveryTest : public testing::Test {
 protected:
  DeliveryTest() { EXPECT_TRUE(remove_tree(folder_)); }
  ~DeliveryTest() override { EXPECT_TRUE(remove_tree(folder_)); }

  void add(const std::string& request) { EXPECT_EQ(spool().add("\x1f\x8b" + request), ""); }
  Spool& spool() {
    if (!spool_) spool_.emplace(folder_, CollectorUrl{.host = "localhost"});
    return *spool_;
  }
  bool run() { return delivery_.emplace(spool(), post_, pauses_, 1).run(); }
  const DeliveryReport& report() const { return delivery_->report(); }
  using Strings = std::vector<std::string>;

  const fs::path folder_ = fs::path(testing::TempDir()) / "mixwalk_delivery_test";
  FakePost post_;
  FakePauses pauses_;
  std::optional<Spool> spool_;
  std::optional<Delivery> delivery_;
};

TEST_F(DeliveryTest, SendsTheOldestFirstAndRemovesIt) {
  for (const char* request : {"a", "b", "c"}) add(request);
  EXPECT_TRUE(run());
  EXPECT_EQ(post_.taken, (Strings{"a", "b", "c"}));
  EXPECT_TRUE(spool().waiting().empty());
  EXPECT_EQ(report().delivered, 3u);
  EXPECT_TRUE(pauses_.waits.empty());
}

TEST_F(DeliveryTest, TriesAgainLaterAndLater) {
  add("a");
  post_.answers = {
      {.problem = "Connection refused"}, {.status = 503}, {.status = 429}, {.status = 200}};
  EXPECT_TRUE(run());
  EXPECT_EQ(post_.taken, Strings{"a"});
  ASSERT_EQ(pauses_.waits.size(), 3u);
  EXPECT_LE(pauses_.waits[0], 1s);
  EXPECT_GE(pauses_.waits[1], 1s);
  EXPECT_GE(pauses_.waits[2], 2s);
}

TEST_F(DeliveryTest, WaitsAsLongAsTheCollectorAsks) {
  add("a");
  post_.answers = {{.status = 503, .retry_after = "9"}, {.status = 200}};
  EXPECT_TRUE(run());
  EXPECT_EQ(pauses_.waits, std::vector<std::chrono::milliseconds>{9s});
}

TEST_F(DeliveryTest, KeepsEverythingWhenPatienceEnds) {
  add("a");
  add("b");
  post_.answers = {{.status = 502}};
  EXPECT_FALSE(run());
  EXPECT_GE(post_.posts, 3);
  EXPECT_EQ(spool().waiting().size(), 2u);
  EXPECT_EQ(report().why_waiting, "status 502");
  EXPECT_EQ(report().delivered, 0u);
}

TEST_F(DeliveryTest, ASuccessBringsPatienceBack) {
  for (const char* request : {"a", "b", "c"}) add(request);
  post_.answers = {{.status = 503, .retry_after = "9"},
                   {.status = 200},
                   {.status = 503, .retry_after = "9"},
                   {.status = 200}};
  EXPECT_TRUE(run());
  EXPECT_EQ(post_.taken, (Strings{"a", "b", "c"}));
}

TEST_F(DeliveryTest, WhatIsRefusedForGoodHoldsNothingUp) {
  add("a");
  add("b");
  post_.answers = {{.status = 400}, {.status = 200}};
  EXPECT_TRUE(run());
  EXPECT_EQ(post_.posts, 2);
  EXPECT_EQ(post_.taken, Strings{"b"});
  EXPECT_EQ(report().refused, 1u);
  ASSERT_EQ(report().lines.size(), 1u);
  EXPECT_NE(report().lines[0].find("refused it for good: status 400"), std::string::npos);
  EXPECT_TRUE(spool().waiting().empty());
}

TEST_F(DeliveryTest, WhatIsDamagedIsNotSent) {
  EXPECT_EQ(spool().add("no gzip"), "");
  add("b");
  EXPECT_TRUE(run());
  EXPECT_EQ(post_.taken, Strings{"b"});
  EXPECT_EQ(report().refused, 1u);
  EXPECT_NE(report().lines.at(0).find("it is damaged"), std::string::npos);
}

TEST_F(DeliveryTest, WhatComesMeanwhileIsSentToo) {
  add("a");
  post_.on_post = [this] {
    if (post_.posts == 1) add("b");
  };
  EXPECT_TRUE(run());
  EXPECT_EQ(post_.taken, (Strings{"a", "b"}));
}

TEST_F(DeliveryTest, TheSameIsSaidOnce) {
  for (int i = 0; i < 20; ++i) add("a");
  post_.answers = {{.status = 200,
                    .content_type = "application/x-protobuf",
                    .body = std::string("\x0a\x02\x08\x01")}};
  EXPECT_TRUE(run());
  EXPECT_EQ(report().refused, 20u);
  EXPECT_EQ(report().lines, Strings{"the collector rejected 1 profile"});
}

}  // namespace
}  // namespace mixwalk

#include "walker/otlp/requests.h"

#include <gtest/gtest.h>

#include "tests/builders/recordings.h"

namespace mixwalk {
namespace {

struct Parts {
  std::vector<std::string> requests;
  std::size_t samples = 0;
};

Parts parts(const Recording& recording, std::size_t max_bytes) {
  Parts made;
  for_each_request(recording, {}, max_bytes, [&](std::string request, std::size_t samples) {
    EXPECT_TRUE(request.starts_with("\x1f\x8b"));
    made.requests.push_back(std::move(request));
    made.samples += samples;
  });
  return made;
}

TEST(Requests, ASmallRecordingIsOne) {
  const Recording recording = representative_recording();
  const Parts made = parts(recording, kMaxRequestBytes);
  EXPECT_EQ(made.requests.size(), 1u);
  EXPECT_EQ(made.samples, recording.samples.size());
  EXPECT_EQ(parts(Recording{}, kMaxRequestBytes).requests.size(), 1u);
}

TEST(Requests, ALargeOneIsSplitDownToASample) {
  const Recording recording = representative_recording();
  const Parts some = parts(recording, 2500);
  EXPECT_GT(some.requests.size(), 1u);
  EXPECT_EQ(some.samples, recording.samples.size());
  const Parts all = parts(recording, 1);
  EXPECT_EQ(all.requests.size(), recording.samples.size());
}

}  // namespace
}  // namespace mixwalk

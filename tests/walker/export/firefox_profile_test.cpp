#include "walker/export/firefox_profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/builders/recordings.h"
#include "tests/support/full_sink.h"

namespace mixwalk {
namespace {

std::string profile_of(const Recording& recording) {
  StringSink sink;
  EXPECT_TRUE(write_firefox_profile(recording, sink));
  return sink.text;
}

TEST(FirefoxProfile, NanosecondsKeepTheirDigits) {
  Recording recording = representative_recording();
  recording.samples.resize(1);
  recording.samples[0].value = UINT64_MAX;
  EXPECT_NE(profile_of(recording).find("\"weight\":[18446744073709.551615]"), std::string::npos);
}

TEST(FirefoxProfile, WithoutThreadsThereIsOneThatSaysSo) {
  const auto threads = nlohmann::json::parse(profile_of(Recording{})).at("threads");
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads.at(0).at("name"), "[no samples]");
  EXPECT_EQ(threads.at(0).at("samples").at("length"), 0);
}

TEST(FirefoxProfile, TheRuntimesOwnImagesAreACategory) {
  Recording recording;
  recording.modules.push_back({.base = 0x1000, .size = 0x1000, .path = "C:\\dotnet\\CoreCLR.dll"});
  recording.frames.push_back({.address = 0x1010, .module = 0});
  recording.frames.push_back({.address = 0x3010});
  recording.nodes = {{Recording::kNone, 0}, {0, 1}};
  const auto profile = nlohmann::json::parse(profile_of(recording));
  const auto name = [&](int frame) {
    const int category = profile.at("shared").at("frameTable").at("category").at(frame);
    return profile.at("meta").at("categories").at(category).at("name");
  };
  EXPECT_EQ(name(0), "Runtime");
  EXPECT_EQ(name(1), "Native");
}

TEST(FirefoxProfile, TheLeafOfAThreadThatWaitsHasACategoryOfItsOwn) {
  Recording recording;
  recording.threads.push_back({.os_id = 7});
  recording.frames = {{.name = "main"}, {.name = "wait"}};
  recording.nodes = {{Recording::kNone, 0}, {0, 1}};
  recording.samples = {{.stack = 1},
                       {.stack = 1, .standing = Standing::idle},
                       {.stack = 1, .standing = Standing::waits},
                       {.stack = 1, .standing = Standing::idle}};
  const auto profile = nlohmann::json::parse(profile_of(recording));
  const auto& shared = profile.at("shared");
  std::vector<std::string> categories;
  for (const int stack : profile.at("threads").at(0).at("samples").at("stack")) {
    const int frame = shared.at("stackTable").at("frame").at(stack);
    EXPECT_EQ(shared.at("stackTable").at("prefix").at(stack), 0);
    const int category = shared.at("frameTable").at("category").at(frame);
    categories.push_back(profile.at("meta").at("categories").at(category).at("name"));
  }
  EXPECT_EQ(categories, (std::vector<std::string>{"Native", "Idle thread", "Waiting", "Idle thread"}));
  EXPECT_EQ(shared.at("frameTable").at("length"), 4);
}

// A program and its runtime, in one image or in two. Frame 0 is managed, frame 1 is native code of the program.
std::string category_of_program(bool runtime_is_an_image) {
  Recording recording;
  recording.process.path = "C:\\orders\\Orders.exe";
  recording.modules.push_back({.base = 0x1000, .size = 0x1000, .path = "C:\\orders\\orders.exe"});
  recording.modules.push_back({.base = 0x3000, .size = 0x1000, .path = "C:\\orders\\clrjit.dll"});
  if (runtime_is_an_image) recording.modules.push_back({.base = 0x5000, .path = "C:\\coreclr.dll"});
  recording.frames.push_back({.kind = FrameKind::managed, .address = 0x9000, .name = "Main()"});
  recording.frames.push_back({.address = 0x1010, .module = 0});
  recording.nodes = {{Recording::kNone, 1}, {0, 0}};
  const auto profile = nlohmann::json::parse(profile_of(recording));
  const int category = profile.at("shared").at("frameTable").at("category").at(1);
  return profile.at("meta").at("categories").at(category).at("name");
}

// The Profiler shows the text of files that it knows as "git:".
TEST(FirefoxProfile, FilesOfGitHubHaveTheNameThatTheProfilerReads) {
  Recording recording;
  for (const char* url : {"https://raw.githubusercontent.com/dotnet/runtime/0a1b/src/libraries/A.cs",
                          "https://a.org/A.cs", "https://raw.githubusercontent.com/dotnet/runtime/0a1b",
                          "https://raw.githubusercontent.com/",
                          "https://raw.githubusercontent.com/a/b/c/d?e", ""}) {
    recording.frames.push_back({.kind = FrameKind::managed, .name = "A.B()", .file = "/_/A.cs", .source_url = url});
  }
  recording.nodes = {{Recording::kNone, 0}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
  const auto shared = nlohmann::json::parse(profile_of(recording)).at("shared");
  std::set<std::string> files;
  for (const int name : shared.at("sources").at("filename")) files.insert(shared.at("stringArray").at(name));
  EXPECT_EQ(files, (std::set<std::string>{"/_/A.cs", "git:github.com/dotnet/runtime:src/libraries/A.cs:0a1b"}));
}

TEST(FirefoxProfile, ASingleFileProgramHasItsRuntimeInItsOwnImage) {
  EXPECT_EQ(category_of_program(false), "Runtime");
  EXPECT_EQ(category_of_program(true), "Native");
}

TEST(FirefoxProfile, AFrameBeforeItsImageHasNoAddress) {
  Recording recording;
  recording.modules.push_back({.base = 0x1000, .size = 0x1000, .path = "a.dll"});
  recording.frames.push_back({.address = 0xfff, .module = 0, .name = "f", .displacement = 4});
  recording.nodes = {{Recording::kNone, 0}};
  const auto frames = nlohmann::json::parse(profile_of(recording)).at("shared").at("frameTable");
  EXPECT_EQ(frames.at("address").at(0), -1);
  EXPECT_TRUE(frames.at("nativeSymbol").at(0).is_null());
}

TEST(FirefoxProfile, TheRateThatWasReachedIsAmongTheFacts) {
  Recording recording = parked_recording({.seconds = 10});
  const auto meta = nlohmann::json::parse(profile_of(recording)).at("meta");
  EXPECT_EQ(meta.at("interval"), 10);
  EXPECT_EQ(meta.at("extra"), nlohmann::json::parse(R"([{"label": "Sampling", "entries": [{"label": "Rate reached",
      "format": "string", "value": "10.0 samples a second of each thread, 100 asked for"}]}])"));
  recording.event = SampleEvent::cpu;
  EXPECT_FALSE(nlohmann::json::parse(profile_of(recording)).at("meta").contains("extra"));
}

TEST(FirefoxProfile, SaysWhenTheSinkIsFull) {
  FullSink sink;
  EXPECT_FALSE(write_firefox_profile(representative_recording(), sink));
}

}  // namespace
}  // namespace mixwalk

#include "walker/cli/symbol_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <thread>

#include "symbols/shares.h"
#include "walker/base/interrupt.h"
#include "walker/cli/doctor_symbols.h"
#include "walker/cli/local_symbols.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// Every file of it has the text "file".
class FakeServer final : public HttpGet {
 public:
  HttpReply get(const std::string& url, const HttpHeaders&, const HttpLimits&, HttpTaker& taker) override {
    if (url.starts_with("https://bad")) return {0, "no connection"};
    if (url.starts_with("https://busy")) return {503, {}};
    if (url.find("none.pdb") != std::string::npos || url.ends_with("index2.txt")) return {404, {}};
    if (taker.begin(4)) taker.take("file");
    return {200, {}};
  }
};

class SymbolLoaderTest : public testing::Test {
 protected:
  SymbolLoaderTest() { fs::remove_all(folder_); }
  ~SymbolLoaderTest() override { fs::remove_all(folder_); }

  SymbolLoader loader(const std::string& path, SymbolAsking asking = SymbolAsking::by_path) {
    return SymbolLoader(parse_symbol_path(path, folder_, asking), {.asking = asking}, std::make_unique<FakeServer>());
  }

  const std::string folder_ = testing::TempDir() + "symbol_loader";
  static std::string any(std::span<const std::byte>) { return {}; }
};

TEST_F(SymbolLoaderTest, SaysOnceWhatWasLoadedFromWhere) {
  SymbolLoader both = loader("srv*https://bad;srv*https://good");
  ASSERT_NE(both.servers(), nullptr);
  for (const char* name : {"a.pdb", "b.pdb", "none.pdb", "c.pdb", "d.pdb", "e.pdb", "f.pdb"}) {
    both.fetch({name, "1"}, any);
  }
  EXPECT_THAT(both.lines({{"none.pdb", "1"}}),
              ElementsAre("loaded 6 files (0.0 MB) from https://good into \"" + folder_ +
                              "\": a.pdb, b.pdb, c.pdb, d.pdb, e.pdb and 1 more",
                          "https://bad is not asked any more: no connection", "1 PDB was not found: none.pdb"));
}

TEST_F(SymbolLoaderTest, SaysHowMissingFilesAreFound) {
  SymbolLoader by_path = loader("");
  EXPECT_EQ(by_path.servers(), nullptr);
  EXPECT_THAT(by_path.lines({{"a.pdb", "1"}, {"b.pdb", "1"}}),
              ElementsAre("2 PDBs were not found: a.pdb, b.pdb; with --symbols online, mixwalk asks Microsoft's symbol "
                          "server"));
  EXPECT_TRUE(by_path.lines({}).empty());
  // Who wants no server needs no advice.
  EXPECT_TRUE(loader("", SymbolAsking::offline).lines({{"a.pdb", "1"}}).empty());
  // Nor does who has followed it, but has no store.
  SymbolLoader no_store(parse_symbol_path("", "", SymbolAsking::online), {.asking = SymbolAsking::online},
                        std::make_unique<FakeServer>());
  EXPECT_EQ(no_store.servers(), nullptr);
  EXPECT_THAT(no_store.lines({{"a.pdb", "1"}}), ElementsAre("1 PDB was not found: a.pdb"));
}

// A server that is silent: it asks for a while whether it may go on.
class SilentServer final : public HttpGet {
 public:
  HttpReply get(const std::string& url, const HttpHeaders&, const HttpLimits&, HttpTaker& taker) override {
    if (url.find("silent.pdb") == std::string::npos) return {404, {}};
    for (int i = 0; i < 30 && !taker.stop(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return {0, "no byte came"};
  }
};

TEST_F(SymbolLoaderTest, ShowsTheFileForWhichAServerIsSilent) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::tmpfile(), &std::fclose);
  ASSERT_NE(stream, nullptr);
  SymbolLoader loader(parse_symbol_path("srv*https://good", folder_), {}, std::make_unique<SilentServer>(),
                      {.stream = stream.get(), .obeys_escapes = false, .columns = [] { return 100; }});
  loader.fetch({"first.pdb", "1"}, any);
  loader.fetch({"silent.pdb", "1"}, any);
  std::string shown(1000, ' ');
  std::rewind(stream.get());
  shown.resize(std::fread(shown.data(), 1, shown.size(), stream.get()));
  EXPECT_THAT(shown, HasSubstr("asking for first.pdb"));
  EXPECT_THAT(shown, HasSubstr("asking for silent.pdb"));
}

TEST_F(SymbolLoaderTest, CtrlCEndsTheCommandAgainForGood) {
  const auto before = std::signal(SIGINT, SIG_DFL);  // a job in the background ignores it
  SymbolLoader both = loader("srv*https://good");
  both.fetch({"a.pdb", "1"}, any);
  EXPECT_TRUE(InterruptCatcher::exists());
  both.say({});
  EXPECT_FALSE(InterruptCatcher::exists());
  EXPECT_TRUE(both.fetch({"b.pdb", "1"}, any));
  EXPECT_FALSE(InterruptCatcher::exists());
  std::signal(SIGINT, before);
}

TEST_F(SymbolLoaderTest, Progress) {
  EXPECT_EQ(progress_text({.name = "a.pdb", .bytes = 1'500'000, .of = 3'000'000, .time = std::chrono::seconds(2)}),
            "loading a.pdb, 1.5 of 3.0 MB, 0.8 MB/s");
  EXPECT_EQ(progress_text({.name = "a.pdb"}), "asking for a.pdb");
  EXPECT_EQ(progress_text({.name = "a\x1b.pdb", .bytes = 1'500'000}), "loading a\\x1b.pdb, 1.5 MB");
}

TEST_F(SymbolLoaderTest, DoctorAsksEachServer) {
  fs::create_directories(folder_);
  FakeServer http;
  const auto lines = symbol_path_lines(
      parse_symbol_path(folder_ + ";/no/such/folder;srv*/made/later*https://good/x;srv*https://bad;srv*https://busy;"
                                  "\\\\server\\share",
                        folder_, false),
      {}, http);
  std::vector<std::string> texts;
  for (const DoctorLine& line : lines) {
    texts.push_back((line.state == DoctorLine::State::good ? "good " : "note ") + line.check + ": " + line.found);
  }
  EXPECT_THAT(texts, ElementsAre("good symbol path: " + folder_, "note symbol path: /no/such/folder is not a folder",
                                 "good symbol path: /made/later", "good symbol path: " + folder_,
                                 "good symbol server: https://good/x answers",
                                 "note symbol server: https://bad: no connection",
                                 "note symbol server: https://busy: it answers with status 503",
                                 "note symbol path: \\\\server\\share is on another machine, and is left out"));
  EXPECT_THAT(symbol_path_lines({}, {}, http).at(0).advice, HasSubstr("--symbols online"));
}

// Nobody knows whether there is such a folder.
TEST_F(SymbolLoaderTest, ShareThatDoesNotAnswer) {
  const auto end = std::make_shared<std::atomic<bool>>(false);
  const auto work = [=](const ShareProgress&) {
    while (!*end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  EXPECT_FALSE(ask_share(R"(\\mute\x)", work, std::chrono::milliseconds(20)));
  *end = true;
  SymbolPath path;
  path.folders = {{.path = R"(\\mute\symbols)"}, {.path = "/no/such/folder"}};
  FakeServer http;
  const auto lines = symbol_path_lines(path, {}, http);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].state, DoctorLine::State::note);
  EXPECT_EQ(lines[0].found, R"(\\mute\symbols does not answer)");
  EXPECT_EQ(lines[1].found, "/no/such/folder is not a folder");
  EXPECT_THAT(missing_folders(path), ElementsAre("\"/no/such/folder\" is not a folder, and is left out"));
}

}  // namespace
}  // namespace mixwalk

#include "symbols/server/symbol_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "symbols/image_files.h"
#include "symbols/server/cabinet.h"
#include "symbols/symboliser.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/pdb_samples.h"
#include "tests/builders/portable_pdb_builder.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using Texts = std::vector<std::string>;

// A server of the test. What it does not know is 404.
class FakeServer final : public HttpGet {
 public:
  struct Page {
    int status = 200;
    std::string body;
    std::optional<std::uint64_t> length = {};  // that the server claims
    std::string problem = {};                  // how the request ends
  };

  HttpReply get(const std::string& url, const HttpHeaders& with, const HttpLimits&, HttpTaker& taker) override {
    asked.push_back(url);
    if (!url.ends_with("index2.txt") && !url.ends_with("file.ptr")) headers = with;
    const auto found = pages.find(url);
    if (found == pages.end()) return {.status = 404, .problem = {}};
    const Page& page = found->second;
    if (page.status != 200) return {page.status, page.problem};
    if (taker.stop()) return {.status = 0, .problem = {}};
    if (!taker.begin(page.length) || !taker.take(page.body)) return {.status = 200, .problem = {}};
    return {.status = 200, .problem = page.problem};
  }

  std::map<std::string, Page> pages;
  Texts asked;
  HttpHeaders headers;  // of the last request for a file
};

class FakeWatch final : public LoadWatch {
 public:
  void show(const LoadProgress& progress) override {
    shown.push_back(std::string(progress.name) + ' ' + std::to_string(progress.bytes) + '/' +
                    std::to_string(progress.of));
  }
  bool stop() override { return stopped; }

  Texts shown;
  bool stopped = false;
};

const StoreKey kKey{"app.pdb", "ABC1"};

class SymbolServersTest : public testing::Test {
 protected:
  SymbolServersTest() {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ = (fs::path(testing::TempDir()) / (std::string("symbol_servers_") + test.name())).generic_string();
    fs::remove_all(folder_);
  }
  ~SymbolServersTest() override { fs::remove_all(folder_); }

  std::string store(const std::string& name = "store") const { return folder_ + "/" + name; }
  std::string kept(const StoreKey& key = kKey) const {
    return store() + "/" + key.name + "/" + key.id + "/" + key.name;
  }
  static FileCheck says(const std::string& text) {
    return [text](std::span<const std::byte> bytes) {
      const std::string_view found(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return found == text ? std::string() : "it is another file";
    };
  }
  SymbolServers servers(std::vector<std::string> urls, SymbolLimits limits = {}) {
    std::vector<SymbolPath::Server> all;
    for (std::string& url : urls) all.push_back({std::move(url), {store()}});
    return SymbolServers(all, http_, watch_, limits);
  }
  // The files below the folder of the test, without the lock.
  Texts files() const {
    Texts found;
    if (!fs::exists(folder_)) return found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_directory() || entry.path().filename() == "mixwalk.lock") continue;
      found.push_back(entry.path().generic_string());
    }
    return found;
  }

  std::string folder_;
  FakeServer http_;
  FakeWatch watch_;
};

TEST_F(SymbolServersTest, IsKeptInTheStore) {
  http_.pages["https://a/x/app.pdb/ABC1/app.pdb"] = {.body = "pdb", .length = 3};
  SymbolServers asked = servers({"https://a/x"});
  const auto found = asked.fetch(kKey, says("pdb"));
  ASSERT_TRUE(found);
  EXPECT_EQ(fs::path(found->path).lexically_normal(), fs::path(kept()).lexically_normal());
  EXPECT_EQ(found->bytes.size(), 3u);
  EXPECT_EQ(files(), Texts{kept()});
  ASSERT_EQ(asked.loaded().size(), 1u);
  EXPECT_EQ(asked.loaded()[0].url, "https://a/x");
  EXPECT_EQ(asked.loaded()[0].store, store());
  EXPECT_EQ(watch_.shown, (Texts{"app.pdb 0/0", "app.pdb 3/3"}));
  EXPECT_TRUE(asked.problems().empty());
}

TEST_F(SymbolServersTest, IsAskedForInAllSpellingsOnce) {
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch({"My App.pdb", "ABC1"}, says("")));
  EXPECT_THAT(http_.asked,
              ElementsAre("https://a/My%20App.pdb/ABC1/My%20App.pdb", "https://a/index2.txt",
                          "https://a/my%20app.pdb/abc1/my%20app.pdb", "https://a/My%20App.pdb/ABC1/My%20App.pd_",
                          "https://a/My%20App.pdb/ABC1/file.ptr"));
  http_.asked.clear();
  EXPECT_FALSE(asked.fetch({"my app.pdb", "abc1"}, says("")));
  EXPECT_TRUE(http_.asked.empty()) << "a 404 is not asked for twice";
  EXPECT_FALSE(asked.fetch({"b.pdb", "1"}, says("")));
  EXPECT_THAT(http_.asked,
              ElementsAre("https://a/b.pdb/1/b.pdb", "https://a/b.pdb/1/b.pd_", "https://a/b.pdb/1/file.ptr"));
  EXPECT_TRUE(asked.problems().empty());
  EXPECT_TRUE(files().empty());
  EXPECT_FALSE(fs::exists(store())) << "no folder is made for nothing";
}

TEST_F(SymbolServersTest, TwoTiers) {
  http_.pages["https://a/index2.txt"] = {.body = "."};
  http_.pages["https://a/ap/app.pdb/ABC1/app.pdb"] = {.body = "pdb"};
  http_.pages["https://a/bp/bpp.pdb/1/bpp.pdb"] = {.body = "pdb"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_TRUE(asked.fetch(kKey, says("pdb")));
  EXPECT_TRUE(asked.fetch({"bpp.pdb", "1"}, says("pdb")));
  EXPECT_EQ(http_.asked.back(), "https://a/bp/bpp.pdb/1/bpp.pdb");
  EXPECT_EQ(http_.asked.size(), 4u);
  // A first tier that would lead out of the store, and one that is no whole character.
  EXPECT_FALSE(asked.fetch({"..x.pdb", "1"}, says("pdb")));
  EXPECT_EQ(http_.asked[4], "https://a/..x.pdb/1/..x.pdb");
  EXPECT_FALSE(asked.fetch({"a\xC3\xA4.pdb", "1"}, says("pdb")));
  EXPECT_THAT(http_.asked, testing::Contains("https://a/a%C3/a%C3%A4.pdb/1/a%C3%A4.pdb"));
}

TEST_F(SymbolServersTest, TwoTiersOfCompressedFilesAndTexts) {
  http_.pages["https://a/index2.txt"] = {.body = "."};
  http_.pages["https://a/bp/bpp.pdb/1/file.ptr"] = {.body = "MSG: we never had it"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  EXPECT_THAT(http_.asked, testing::Contains("https://a/ap/app.pdb/ABC1/app.pd_"));
  EXPECT_FALSE(asked.fetch({"bpp.pdb", "1"}, says("pdb")));
  EXPECT_EQ(http_.asked.back(), "https://a/bp/bpp.pdb/1/file.ptr");
  EXPECT_THAT(asked.problems(), ElementsAre("https://a says of bpp.pdb:  we never had it"));
}

// Storage services answer 403 for what they do not have, and some servers fail for a path that they do not expect.
TEST_F(SymbolServersTest, RefusalOfAFileThatNeedNotExistSaysNothing) {
  for (const int status : {403, 500}) {
    http_.asked.clear();
    http_.pages["https://a/index2.txt"] = {.status = status};
    http_.pages["https://a/b.pdb/1/file.ptr"] = {.status = status};
    http_.pages["https://a/c.pdb/1/c.pdb"] = {.body = "pdb"};
    SymbolServers asked = servers({"https://a"});
    EXPECT_FALSE(asked.fetch({"b.pdb", "1"}, says("pdb")));
    EXPECT_TRUE(asked.fetch({"c.pdb", "1"}, says("pdb"))) << status;
    EXPECT_FALSE(asked.fetch({"d.pdb", "1"}, says("pdb")));
    EXPECT_EQ(std::count(http_.asked.begin(), http_.asked.end(), "https://a/index2.txt"), 1);
    EXPECT_TRUE(asked.problems().empty()) << asked.problems().front();
    fs::remove_all(folder_);
  }
}

TEST_F(SymbolServersTest, ServerThatGoesAwayIsOff) {
  http_.pages["https://a/index2.txt"] = {.status = 0, .problem = "the connection was closed"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  EXPECT_EQ(http_.asked.size(), 2u);
  EXPECT_THAT(asked.problems(), ElementsAre("https://a is not asked any more: the connection was closed"));
}

TEST_F(SymbolServersTest, PageForEveryAddressIsNoIndex) {
  http_.pages["https://a/index2.txt"] = {.body = "<html>"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch({"b.pdb", "1"}, says("pdb")));
  EXPECT_EQ(http_.asked[2], "https://a/b.pdb/1/b.pd_");
}

TEST_F(SymbolServersTest, KeysThatAreNoFilesAreNotAskedFor) {
  SymbolServers asked = servers({"https://a"});
  for (const StoreKey& key : {StoreKey{"..", "1"}, StoreKey{"../x", "1"}, StoreKey{"a\\b", "1"}, StoreKey{"a/b", "1"},
                              StoreKey{"C:x", "1"}, StoreKey{"con", "1"}, StoreKey{"", "1"}, StoreKey{"a.pdb", ".."},
                              StoreKey{"a.pdb", "1/2"}, StoreKey{"a.pdb", ""}, StoreKey{"a.pdb", "1 "}}) {
    EXPECT_FALSE(asked.fetch(key, says(""))) << key.name << ' ' << key.id;
  }
  EXPECT_TRUE(http_.asked.empty());
  EXPECT_TRUE(files().empty());
}

// An old linker wrote the name of its PDB in another encoding than UTF-8, which is no path of Windows.
TEST_F(SymbolServersTest, NameThatIsNoTextEndsNothing) {
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch({"\xE4.pdb", "ABC1"}, says("")));
}

TEST_F(SymbolServersTest, AllStoresOnTheLeftGetIt) {
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "pdb"};
  SymbolServers asked({{"https://a", {store("one"), store("two"), store("three")}}}, http_, watch_);
  const auto found = asked.fetch(kKey, says("pdb"));
  ASSERT_TRUE(found);
  const fs::path kept_there = store("one") + "/app.pdb/ABC1/app.pdb";
  EXPECT_EQ(fs::path(found->path).lexically_normal(), kept_there.lexically_normal());
  EXPECT_EQ(files().size(), 3u);
}

// Real case: cache*C:/sym;srv*C:\Sym*https://a. The command waited for its own lock, until all time was used up.
TEST_F(SymbolServersTest, OneFolderByTwoNames) {
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "pdb"};
  SymbolServers asked({{"https://a", {store(), store() + "/", store() + "/../store"}}}, http_, watch_,
                      {.all = std::chrono::seconds(60)});
  EXPECT_TRUE(asked.fetch(kKey, says("pdb")));
  EXPECT_THAT(asked.problems(), ElementsAre());
  EXPECT_EQ(files(), Texts{kept()});
}

TEST_F(SymbolServersTest, OtherFileIsNotKept) {
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "other"};
  http_.pages["https://b/app.pdb/ABC1/app.pdb"] = {.body = "pdb"};
  SymbolServers asked = servers({"https://a", "https://b"});
  const auto found = asked.fetch(kKey, says("pdb"));
  ASSERT_TRUE(found) << "the next server is asked";
  EXPECT_EQ(asked.loaded()[0].url, "https://b");
  EXPECT_THAT(asked.problems(), ElementsAre("app.pdb of https://a is not used: it is another file"));
  EXPECT_EQ(files(), Texts{kept()});
}

// Another tool, or a machine that lost its power, may leave one.
TEST_F(SymbolServersTest, BrokenFileThatIsInTheStore) {
  fs::create_directories(fs::path(kept()).parent_path());
  std::ofstream(kept()) << "broken";
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "pdb"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  ASSERT_EQ(asked.problems().size(), 1u);
  EXPECT_THAT(asked.problems()[0],
              HasSubstr("app.pdb is not used: it is another file; remove it, so that it is loaded again"));
  EXPECT_EQ(files(), Texts{kept()}) << "it may be another tool's";
}

TEST_F(SymbolServersTest, FileThatTheServerHasPacked) {
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "\x1F\x8B\x08 and so on"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  EXPECT_THAT(asked.problems(),
              ElementsAre("app.pdb of https://a is not used: it is packed by gzip, which mixwalk does not accept"));
  EXPECT_TRUE(files().empty());
}

TEST_F(SymbolServersTest, LengthsThatLie) {
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "pdb", .length = 5};
  http_.pages["https://b/app.pdb/ABC1/app.pdb"] = {.body = "pdb", .length = 2};
  http_.pages["https://c/app.pdb/ABC1/app.pdb"] = {.body = "pdb", .length = SymbolServers::kMaxFileBytes + 1};
  SymbolServers asked = servers({"https://a", "https://b", "https://c"});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  EXPECT_THAT(asked.problems(),
              ElementsAre("https://a is not asked any more: of app.pdb/ABC1/app.pdb 3 of 5 bytes came",
                          "https://b is not asked any more: of app.pdb/ABC1/app.pdb 3 of 2 bytes came",
                          "app.pdb is larger than 1 GiB"));
  EXPECT_TRUE(files().empty());
}

TEST_F(SymbolServersTest, BodyThatIsCutOff) {
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "pd", .problem = "the connection was closed"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch(kKey, says("pd")));
  EXPECT_THAT(asked.problems(), ElementsAre("https://a is not asked any more: the connection was closed"));
  EXPECT_TRUE(files().empty());
}

TEST_F(SymbolServersTest, ServerThatFailsIsOffForTheRun) {
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.status = 0, .problem = "no connection"};
  http_.pages["https://b/app.pdb/ABC1/app.pdb"] = {.status = 403};
  SymbolServers asked = servers({"https://a", "https://b"});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  EXPECT_FALSE(asked.fetch({"b.pdb", "1"}, says("pdb")));
  EXPECT_EQ(http_.asked.size(), 2u);
  EXPECT_THAT(asked.problems(), ElementsAre("https://a is not asked any more: no connection",
                                            "https://b is not asked any more: it answered with status 403"));
}

TEST_F(SymbolServersTest, FaultOfTheMomentCostsOneFile) {
  for (const int status : {408, 500, 502, 503, 504}) {
    http_.pages["https://a/app" + std::to_string(status) + ".pdb/1/app" + std::to_string(status) + ".pdb"] = {
        .status = status};
  }
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "pdb"};
  SymbolServers asked = servers({"https://a"});
  for (const int status : {408, 500, 502, 503, 504}) {
    EXPECT_FALSE(asked.fetch({"app" + std::to_string(status) + ".pdb", "1"}, says("")));
  }
  EXPECT_EQ(http_.asked.size(), 5u) << "other spellings are not tried";
  EXPECT_TRUE(asked.fetch(kKey, says("pdb")));
  EXPECT_EQ(asked.problems().size(), 5u);
}

TEST_F(SymbolServersTest, PersonStopsTheLoading) {
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "pdb"};
  SymbolServers asked = servers({"https://a"});
  watch_.stopped = true;
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  watch_.stopped = false;
  EXPECT_FALSE(asked.fetch({"b.pdb", "1"}, says("pdb")));
  EXPECT_THAT(asked.problems(), ElementsAre("the loading of symbol files was stopped"));
  EXPECT_TRUE(files().empty());
}

TEST_F(SymbolServersTest, TimeOfTheCommandIsUsedUp) {
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "pdb"};
  SymbolServers asked = servers({"https://a"}, {.all = std::chrono::milliseconds(0)});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  EXPECT_THAT(asked.problems(),
              ElementsAre("the limit for loading symbol files, 0 s, is used up: --symbol-limits sets another"));
}

TEST_F(SymbolServersTest, TextOfALimit) {
  const auto text = [](int ms) { return limit_text(std::chrono::milliseconds(ms)); };
  EXPECT_EQ(text(120'000), "120 s");
  EXPECT_EQ(text(2'500), "2.5 s");
  EXPECT_EQ(text(1), "1 ms") << "not 0 s";
  EXPECT_EQ(text(1'234), "1234 ms");
}

TEST_F(SymbolServersTest, StoreThatCannotBeWrittenCostsTheFile) {
  fs::create_directories(folder_);
  std::ofstream(store()) << "a file where the store should be";
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "pdb"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  ASSERT_EQ(asked.problems().size(), 1u);
  EXPECT_THAT(asked.problems()[0], HasSubstr("app.pdb cannot be kept: " + store()));
}

TEST_F(SymbolServersTest, PathToAnotherPlaceIsShownAndNotFollowed) {
  http_.pages["https://a/app.pdb/ABC1/file.ptr"] = {.body = "PATH:\\\\server\\share\\app.pdb\r\n"};
  http_.pages["https://a/b.pdb/1/file.ptr"] = {.body = "MSG: we never had it"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  EXPECT_FALSE(asked.fetch({"b.pdb", "1"}, says("pdb")));
  EXPECT_THAT(asked.problems(),
              ElementsAre("https://a says that app.pdb is at another place, which mixwalk does not ask: "
                          "\\\\server\\share\\app.pdb",
                          "https://a says of b.pdb:  we never had it"));
}

// A cabinet with one file in one block, which is not compressed. (Microsoft, "Microsoft Cabinet Format".)
// `folder`: the number of the file's folder.
std::string cabinet_of(const std::string& content, const std::string& name = "app.pdb", std::uint16_t folder = 0) {
  const auto number = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  const std::size_t file_at = 36 + 8, data_at = file_at + 16 + name.size() + 1;
  const std::size_t end = data_at + 8 + content.size();
  return "MSCF" + number(0, 4) + number(end, 4) + number(0, 4) + number(file_at, 4) + number(0, 4) + number(3, 1) +
         number(1, 1) + number(1, 2) + number(1, 2) + number(0, 6) +           // one folder, one file
         number(data_at, 4) + number(1, 2) + number(0, 2) +                    // the folder: one block
         number(content.size(), 4) + number(0, 4) + number(folder, 2) + number(0, 4 + 2) + name + '\0' +  // the file
         number(0, 4) + number(content.size(), 2) + number(content.size(), 2) + content;
}

TEST_F(SymbolServersTest, CabinetIsExpanded) {
  ASSERT_EQ(cabinet_obstacle(), "") << "tests/tools/install installs it";
  http_.pages["https://a/app.pdb/ABC1/app.pd_"] = {.body = cabinet_of("pdb")};
  SymbolServers asked = servers({"https://a"});
  EXPECT_TRUE(asked.fetch(kKey, says("pdb")));
  EXPECT_THAT(asked.problems(), ElementsAre());
  EXPECT_EQ(files(), Texts{kept()});
}

TEST_F(SymbolServersTest, CabinetThatIsCutOff) {
  std::string cabinet = cabinet_of("pdb");
  cabinet.pop_back();
  http_.pages["https://a/app.pdb/ABC1/app.pd_"] = {.body = cabinet};
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  EXPECT_EQ(asked.problems().size(), 1u);
  EXPECT_TRUE(files().empty());
}

// The beginning of the file would be in another cabinet. Nothing is printed, because a name may hold a terminal's
// escapes.
TEST_F(SymbolServersTest, CabinetOfASetPrintsNothing) {
  constexpr std::uint16_t kBegunBefore = 0xFFFD;
  http_.pages["https://a/app.pdb/ABC1/app.pd_"] = {.body = cabinet_of("pdb", "\x1B[31mred", kBegunBefore)};
  SymbolServers asked = servers({"https://a"});
  testing::internal::CaptureStderr();
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_EQ(asked.problems().size(), 1u);
  EXPECT_THAT(asked.problems()[0], HasSubstr("app.pd_ of https://a is not used: it is no whole cabinet"));
  EXPECT_TRUE(files().empty());
}

TEST_F(SymbolServersTest, CabinetThatIsNone) {
  http_.pages["https://a/app.pdb/ABC1/app.pd_"] = {.body = "MSCF nonsense"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  ASSERT_EQ(asked.problems().size(), 1u);
  EXPECT_THAT(asked.problems()[0], HasSubstr("app.pd_ of https://a is not used: it is"));
  EXPECT_TRUE(files().empty());
}

TEST_F(SymbolServersTest, RestOfAProcessThatWasKilledIsReplaced) {
  fs::create_directories(fs::path(kept()).parent_path());
  std::ofstream(kept() + ".part") << "half of a much longer file";
  http_.pages["https://a/app.pdb/ABC1/app.pdb"] = {.body = "pdb"};
  SymbolServers asked = servers({"https://a"});
  EXPECT_TRUE(asked.fetch(kKey, says("pdb")));
  EXPECT_EQ(files(), Texts{kept()});
}

// Gives one file to 100 requests at once, slowly.
class SlowServer final : public HttpGet {
 public:
  explicit SlowServer(int ms = 20) : pause_(ms) {}
  HttpReply get(const std::string&, const HttpHeaders&, const HttpLimits&, HttpTaker& taker) override {
    if (!taker.begin(3)) return {.status = 200, .problem = {}};
    ++bodies;
    for (const char* byte : {"p", "d", "b"}) {
      if (pause_.count() != 0) std::this_thread::sleep_for(pause_);
      if (!taker.take(byte)) return {.status = 200, .problem = {}};
    }
    return {.status = 200, .problem = {}};
  }
  std::atomic<int> bodies = 0;

 private:
  const std::chrono::milliseconds pause_;
};

TEST_F(SymbolServersTest, HundredAtOnceShareOneDownload) {
  SlowServer http;
  std::atomic<int> found = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i) {
    threads.emplace_back([&] {
      FakeWatch watch;
      SymbolServers asked({{"https://a", {store()}}}, http, watch);
      const auto file = asked.fetch(kKey, says("pdb"));
      if (file && file->bytes.size() == 3) ++found;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 100);
  EXPECT_EQ(http.bodies, 1);
  EXPECT_EQ(files(), Texts{kept()});
}

// Builds of one name share a folder. It is removed when nothing came of a load, while another one puts its file there.
TEST_F(SymbolServersTest, FolderThatIsMadeAndRemovedAtOnce) {
  constexpr int kFiles = 150;
  Texts problems;
  std::mutex lock;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      SlowServer http(0);
      FakeWatch watch;
      SymbolServers asked({{"https://a", {store()}}}, http, watch);
      for (int file = 0; file < kFiles; ++file) {
        asked.fetch({"app.pdb", std::to_string(i) + std::to_string(file)}, says("another one"));
      }
      const std::lock_guard guard(lock);
      for (const std::string& problem : asked.problems()) problems.push_back(problem);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(problems, testing::Each(HasSubstr("it is another file")));
}

TEST_F(SymbolServersTest, WaitForAnotherProcessHasALimit) {
  SlowServer http;
  SymbolServers asked({{"https://a", {store()}}}, http, watch_, {.all = std::chrono::milliseconds(200)});
  // Another thread begins the file and never ends.
  class Endless final : public HttpGet {
   public:
    HttpReply get(const std::string&, const HttpHeaders&, const HttpLimits&, HttpTaker& taker) override {
      taker.begin(std::nullopt);
      begun = true;
      while (!end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return {.status = 0, .problem = "ended"};
    }
    std::atomic<bool> begun = false, end = false;
  } endless;
  std::thread other([&] {
    FakeWatch watch;
    SymbolServers({{"https://a", {store()}}}, endless, watch).fetch(kKey, says("pdb"));
  });
  while (!endless.begun) std::this_thread::yield();
  EXPECT_FALSE(asked.fetch(kKey, says("pdb")));
  endless.end = true;
  other.join();
  EXPECT_EQ(http.bodies, 0);
  EXPECT_EQ(asked.problems().size(), 1u);
  EXPECT_TRUE(files().empty());
}

// What the seam gives to those who look for files.

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class SymbolFilesOfServers : public SymbolServersTest {
 protected:
  class NoFiles final : public ImageFiles {
   public:
    std::optional<std::vector<std::byte>> read(const std::string&) override { return std::nullopt; }
  };
  NoFiles none_;
};

TEST_F(SymbolFilesOfServers, PdbsOfImagesThatAreNowhere) {
  test::PdbBuilder pdb = test::pdb_with_inlining();
  pdb.named_stream("sourcelink$1", R"({"documents": {"*": "https://example.org/*"}})");
  http_.pages["https://a/app.pdb/070707070707070707070707070707071/app.pdb"] = {
      .body = text_of(pdb.build())};
  SymbolServers asked = servers({"https://a"});
  Symboliser symboliser(none_, none_, {}, &asked);
  LoadedImage image{.path = "C:\\app\\app.exe", .base = 0x10000, .size = 0x5000, .timestamp = 7};
  image.code_view = CodeViewId{.age = 1, .path = "D:\\build\\app.pdb"};
  image.code_view->guid.fill(std::byte{7});
  const auto found = symboliser.name(image, {0x10000 + test::PdbBuilder::kCode});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->symbol.name(), "ns::outer");
  EXPECT_EQ(found->symbol.frames.back().url, "https://example.org/a.cpp");
  EXPECT_TRUE(symboliser.missing().empty());
  EXPECT_EQ(http_.asked.front(), "https://a/app.exe/000000075000/app.exe") << "the image first, for its .pdata";
}

TEST_F(SymbolFilesOfServers, WhatALoadedPdbLacks) {
  test::PdbBuilder pdb = test::pdb_with_inlining();
  pdb.fast_link = true;
  http_.pages["https://a/app.pdb/070707070707070707070707070707071/app.pdb"] = {.body = text_of(pdb.build())};
  SymbolServers asked = servers({"https://a"});
  PdbFinder finder(none_, none_, {}, &asked);
  CodeViewId id{.age = 1, .path = "app.pdb"};
  id.guid.fill(std::byte{7});
  EXPECT_TRUE(finder.open({.path = "app.exe", .size = 0x5000, .code_view = id}).index);
  EXPECT_THAT(finder.problems(), ElementsAre(HasSubstr("link with /DEBUG:FULL")));
}

TEST_F(SymbolFilesOfServers, WrongGuid) {
  http_.pages["https://a/app.pdb/080808080808080808080808080808081/app.pdb"] = {
      .body = text_of(test::pdb_with_inlining().build())};
  SymbolServers asked = servers({"https://a"});
  Symboliser symboliser(none_, none_, {}, &asked);
  LoadedImage image{.path = "app.exe", .base = 0x10000, .size = 0x5000, .timestamp = 7};
  image.code_view = CodeViewId{.age = 1, .path = "app.pdb"};
  image.code_view->guid.fill(std::byte{8});
  EXPECT_FALSE(symboliser.name(image, {0x10000 + test::PdbBuilder::kCode}));
  EXPECT_THAT(asked.problems(),
              ElementsAre("app.pdb of https://a is not used: the PDB belongs to another image (its GUID differs)"));
  EXPECT_EQ(symboliser.missing().size(), 1u);
  EXPECT_TRUE(files().empty());
}

TEST_F(SymbolFilesOfServers, PathInTheNameOfAPdb) {
  SymbolServers asked = servers({"https://a"});
  PdbFinder finder(none_, none_, {}, &asked);
  CodeViewId id{.age = 1, .path = "C:\\build\\.."};
  EXPECT_FALSE(finder.open({.path = "app.exe", .size = 1, .code_view = id}).index);
  EXPECT_TRUE(http_.asked.empty());
}

TEST_F(SymbolFilesOfServers, Images) {
  const auto image = test::ImageBuilder().build();
  const std::string id = image_store_id(test::ImageBuilder::kTimestamp, test::ImageBuilder::kSizeOfImage);
  const std::string url = "https://a/app.dll/" + id + "/app.dll";
  http_.pages[url] = {.body = text_of(image)};
  SymbolServers asked = servers({"https://a"});
  EXPECT_TRUE(fetch_image(&asked, "C:\\x\\app.dll", test::ImageBuilder::kTimestamp, test::ImageBuilder::kSizeOfImage));
  // The end of a section is missing.
  fs::remove_all(folder_);
  http_.pages[url].body.resize(image.size() - 1);
  SymbolServers again = servers({"https://a"});
  EXPECT_FALSE(fetch_image(&again, "app.dll", test::ImageBuilder::kTimestamp, test::ImageBuilder::kSizeOfImage));
  EXPECT_THAT(again.problems(), ElementsAre("app.dll of https://a is not used: it is cut off"));
  EXPECT_FALSE(fetch_image(nullptr, "app.dll", 1, 1));
}

// An image's signatures follow its sections, and their directory has their offset in the file.
TEST_F(SymbolFilesOfServers, ImageWhoseSignaturesAreCutOff) {
  constexpr std::size_t kCertificates = test::ImageBuilder::kDirectoriesAt + 4 * 8;
  auto image = test::ImageBuilder().build();
  test::ImageBuilder::put32(image, kCertificates, static_cast<std::uint32_t>(image.size()));
  test::ImageBuilder::put32(image, kCertificates + 4, 100);
  const FileCheck check = image_check(test::ImageBuilder::kTimestamp, test::ImageBuilder::kSizeOfImage);
  EXPECT_EQ(check(image), "it is cut off");
  image.resize(image.size() + 100);
  EXPECT_EQ(check(image), "");
}

TEST_F(SymbolFilesOfServers, PortablePdbsByTheirSums) {
  const auto dll = test::ImageBuilder()
                       .code_view(7, 1, "lib.pdb", true)
                       .debug_entry(DebugEntry::kPdbChecksum, 0, {'S', 'H', 'A', '2', '5', '6', 0, 0xA1, 2})
                       .build();
  http_.pages["https://a/lib.pdb/07070707070707070707070707070707FFFFFFFF/lib.pdb"] = {
      .body = text_of(test::PortablePdbBuilder().build())};
  SymbolServers asked = servers({"https://a"});
  PdbFinder finder(none_, none_, {}, &asked);
  EXPECT_EQ(finder.open_portable("lib.dll", dll).error, PortablePdbError::altered);
  EXPECT_THAT(http_.headers, ElementsAre("SymbolChecksumValidationSupported: 1", "SymbolChecksum: SHA256:a102"));
  EXPECT_THAT(asked.problems(), ElementsAre(HasSubstr("lib.pdb of https://a is not used: the portable PDB is not as")));
  EXPECT_TRUE(files().empty());
  // Nothing else gets into a request, and a PDB of native code has no sum.
  EXPECT_FALSE(asked.fetch({"b.pdb", "1", "A:1\r\nCookie: x"}, says("")));
  EXPECT_THAT(http_.headers, ElementsAre());
  asked.fetch({"c.pdb", "1"}, says(""));
  EXPECT_THAT(http_.headers, ElementsAre());
}

TEST_F(SymbolFilesOfServers, PortablePdbs) {
  test::PortablePdbBuilder pdb;
  const auto bytes = pdb.build();
  CodeViewId id{.age = 1, .timestamp = test::ImageBuilder::kTimestamp, .portable = true, .path = "lib.pdb"};
  id.guid.fill(std::byte{7});
  http_.pages["https://a/lib.pdb/07070707070707070707070707070707FFFFFFFF/lib.pdb"] = {.body = text_of(bytes)};
  SymbolServers asked = servers({"https://a"});
  PdbFinder finder(none_, none_, {}, &asked);
  EXPECT_EQ(finder.open_portable("lib.dll", id).error, PortablePdbError::none);
  EXPECT_TRUE(finder.missing().empty());
}

}  // namespace
}  // namespace mixwalk

#include "walker/clr/dac_search.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/builders/code_builder.h"
#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

constexpr const char* kCoreclr = "C:\\app\\coreclr.dll";
const DacStamp kStamp{ImageBuilder::kTimestamp, ImageBuilder::kSizeOfImage};
const Module kModule{.base = 0x10000, .size = 0x51'0000, .timestamp = 0x6900'5678, .path = kCoreclr};
const RuntimeIdentity kRuntime{kStamp, {10, 0, 1226, 42308}};

class TheseFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    asked.push_back(path);
    const auto found = files.find(path);
    return found != files.end() ? std::optional(found->second) : std::nullopt;
  }
  std::map<std::string, std::vector<std::byte>> files;
  std::vector<std::string> asked;
};

class TheseSignatures final : public FileSignatures {
 public:
  std::string doubt(const std::string& path) override {
    asked.push_back(path);
    return answer;
  }
  std::string answer;
  std::vector<std::string> asked;
};

class DacSearch : public testing::Test {
 protected:
  Outcome<std::string> find() { return find_dac(kModule, kRuntime, settings_, files_, signatures_); }
  static std::vector<std::byte> fitting() { return ImageBuilder().build(); }
  static std::vector<std::byte> other() {
    auto bytes = ImageBuilder().build();
    const auto headers = static_cast<std::size_t>(bytes[0x3C]);
    bytes[headers + 8] ^= std::byte{1};  // TimeDateStamp
    return bytes;
  }

  DacSettings settings_;
  TheseFiles files_;
  TheseSignatures signatures_;
};

TEST_F(DacSearch, InThisOrder) {
  settings_.installed = {"C:\\dotnet\\10.0.12", "C:\\dotnet\\9.0.1"};
  settings_.symbol_path = parse_symbol_path("D:\\symbols;srv*E:\\store");
  EXPECT_EQ(dac_candidates(kModule, {{0x6900'1234, 0x14'F000}, {10, 0, 1226, 42308}}, settings_),
            (std::vector<std::string>{"C:\\app\\mscordaccore.dll", "C:\\dotnet\\10.0.12\\mscordaccore.dll",
                                      "C:\\dotnet\\9.0.1\\mscordaccore.dll", "D:\\symbols\\mscordaccore.dll",
                                      "D:\\symbols\\mscordaccore.dll\\6900123414f000\\mscordaccore.dll",
                                      "D:\\symbols\\mscordaccore.dll\\69005678510000\\mscordaccore.dll",
                                      "D:\\symbols\\mscordaccore_amd64_amd64_10.0.1226.42308.dll\\69005678510000\\"
                                      "mscordaccore_amd64_amd64_10.0.1226.42308.dll",
                                      "E:\\store\\mscordaccore.dll\\6900123414f000\\mscordaccore.dll",
                                      "E:\\store\\mscordaccore.dll\\69005678510000\\mscordaccore.dll",
                                      "E:\\store\\mscordaccore_amd64_amd64_10.0.1226.42308.dll\\69005678510000\\"
                                      "mscordaccore_amd64_amd64_10.0.1226.42308.dll"}));
}

TEST_F(DacSearch, TheFileThatTheUserNamesAndNoOther) {
  settings_.dac = "X:\\mine.dll";
  settings_.installed = {"C:\\dotnet\\10.0.12"};
  files_.files["X:\\mine.dll"] = fitting();
  signatures_.answer = "it has none";
  const auto found = find();
  ASSERT_TRUE(found) << found.failure().message;
  EXPECT_EQ(*found, "X:\\mine.dll");
  EXPECT_TRUE(signatures_.asked.empty());
  files_.files.clear();
  ASSERT_FALSE(find());
  EXPECT_EQ(find().failure().message,
            "runtime 10.0.1226.42308 needs mscordaccore.dll " + store_key(kStamp) +
                ": X:\\mine.dll cannot be read, or is no x64 image");
}

TEST_F(DacSearch, RuntimeOfAnotherMachineIsNotLookedFor) {
  Module runtime = kModule;
  for (const char* path : {"\\\\server\\share\\coreclr.dll", "coreclr.dll"}) {
    runtime.path = path;
    EXPECT_TRUE(dac_candidates(runtime, kRuntime, settings_).empty()) << path;
  }
}

TEST_F(DacSearch, FileOfAnotherBuildIsPassedOver) {
  settings_.installed = {"C:\\dotnet\\10.0.12"};
  files_.files["C:\\app\\mscordaccore.dll"] = other();
  ASSERT_FALSE(find());
  EXPECT_EQ(find().failure().message, "runtime 10.0.1226.42308 needs mscordaccore.dll " + store_key(kStamp) +
                                          ": C:\\app\\mscordaccore.dll is of another build, " +
                                          store_key({kStamp.timestamp ^ 1, kStamp.size}));
  EXPECT_TRUE(signatures_.asked.empty());
  files_.files["C:\\dotnet\\10.0.12\\mscordaccore.dll"] = fitting();
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, "C:\\dotnet\\10.0.12\\mscordaccore.dll");
  EXPECT_EQ(signatures_.asked, std::vector<std::string>{*found});
}

TEST_F(DacSearch, FileThatNobodyVouchesFor) {
  files_.files["C:\\app\\mscordaccore.dll"] = fitting();
  signatures_.answer = "it is not signed";
  const auto found = find();
  ASSERT_FALSE(found);
  EXPECT_NE(found.failure().message.find("C:\\app\\mscordaccore.dll is not trusted: it is not signed; --dac "),
            std::string::npos)
      << found.failure().message;
}

TEST_F(DacSearch, None) {
  ASSERT_FALSE(find());
  EXPECT_NE(find().failure().message.find("none was found"), std::string::npos);
}

class TheseServers final : public StoreFetch {
 public:
  std::optional<FetchedFile> fetch(const StoreKey& key, const FileCheck& check) override {
    asked.push_back(key.name + '/' + key.id);
    const auto found = files.find(asked.back());
    if (found == files.end() || !check(found->second).empty()) return std::nullopt;
    return FetchedFile{"C:\\store\\" + key.name, found->second};
  }
  std::map<std::string, std::vector<std::byte>> files;
  std::vector<std::string> asked;
};

TEST_F(DacSearch, KeysOfServers) {
  TheseServers servers;
  settings_.servers = &servers;
  ASSERT_FALSE(find());
  EXPECT_EQ(servers.asked,
            (std::vector<std::string>{"mscordaccore.dll/" + image_store_id(kStamp.timestamp, kStamp.size),
                                      "mscordaccore.dll/69005678510000",
                                      "mscordaccore_amd64_amd64_10.0.1226.42308.dll/69005678510000"}));
}

TEST_F(DacSearch, FromAServerIfItIsOfThisBuildAndTrusted) {
  TheseServers servers;
  settings_.servers = &servers;
  servers.files["mscordaccore.dll/" + image_store_id(kStamp.timestamp, kStamp.size)] = other();
  servers.files["mscordaccore_amd64_amd64_10.0.1226.42308.dll/69005678510000"] = fitting();
  signatures_.answer = "it is not signed";
  EXPECT_FALSE(find());
  signatures_.answer.clear();
  const auto found = find();
  ASSERT_TRUE(found) << found.failure().message;
  EXPECT_EQ(*found, "C:\\store\\mscordaccore_amd64_amd64_10.0.1226.42308.dll");
  EXPECT_EQ(signatures_.asked, (std::vector<std::string>{*found, *found}));
  // A file of this machine comes first, and one that the user names is the only one.
  servers.asked.clear();
  files_.files["C:\\app\\mscordaccore.dll"] = fitting();
  EXPECT_TRUE(find());
  settings_.dac = "X:\\none.dll";
  EXPECT_FALSE(find());
  EXPECT_TRUE(servers.asked.empty());
}

TEST_F(DacSearch, RuntimeAmongTheModules) {
  const BuiltMemory nothing(0, 1);
  const std::vector<Module> modules{{.base = 1, .path = "C:\\app\\app.exe"},
                                    {.base = 2, .path = "C:\\app\\CoreCLR.dll"}};
  ASSERT_NE(runtime_image(modules, nothing), nullptr);
  EXPECT_EQ(runtime_image(modules, nothing)->base, 2u);
  EXPECT_EQ(runtime_image(std::span(modules).first(1), nothing), nullptr);
}

}  // namespace
}  // namespace mixwalk

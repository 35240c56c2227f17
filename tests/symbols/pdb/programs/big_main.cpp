// A program of several libraries, for a PDB of more than 20 MB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

int run_json1(const char*);
int run_json2(const char*);
int run_json3(const char*);
int run_json4(const char*);
int run_json5(const char*);
int run_log(const char*);

namespace {

using namespace testing;

struct Store {
  virtual ~Store() = default;
  virtual int find(int key) = 0;
  virtual std::string name(const std::map<std::string, int>& values) = 0;
};
struct MockStore : Store {
  MOCK_METHOD(int, find, (int), (override));
  MOCK_METHOD(std::string, name, ((const std::map<std::string, int>&)), (override));
};

TEST(StoreTest, FindsAndNames) {
  MockStore store;
  EXPECT_CALL(store, find(Gt(3))).WillOnce(Return(5));
  EXPECT_CALL(store, name(SizeIs(1))).WillRepeatedly(Return("one"));
  EXPECT_EQ(store.find(4), 5);
  EXPECT_THAT(store.name({{"a", 1}}), HasSubstr("on"));
  EXPECT_THAT((std::vector<int>{1, 2, 3}), ElementsAre(1, AllOf(Gt(1), Lt(5)), 3));
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app;
  std::string text;
  app.add_option("-f", text);
  CLI11_PARSE(app, count, arguments);
  testing::InitGoogleTest(&count, arguments);
  const char* const json = text.c_str();
  return RUN_ALL_TESTS() + run_json1(json) + run_json2(json) + run_json3(json) + run_json4(json) +
         run_json5(json) + run_log(json);
}

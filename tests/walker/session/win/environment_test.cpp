#include "walker/session/win/environment.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>

namespace mixwalk {
namespace {

std::vector<std::wstring> entries(const std::wstring& block) {
  std::vector<std::wstring> result;
  for (const wchar_t* entry = block.c_str(); *entry != 0; entry += result.back().size() + 1) {
    result.emplace_back(entry);
  }
  return result;
}

TEST(EnvironmentWith, SetsAndRemovesInAnyCase) {
  SetEnvironmentVariableW(L"Environment_Test_A", L"old");
  SetEnvironmentVariableW(L"ENVIRONMENT_TEST_B", L"goes");
  const auto block = entries(environment_with({{L"ENVIRONMENT_TEST_A", L"new"},
                                               {L"Environment_Test_B", std::nullopt},
                                               {L"ENVIRONMENT_TEST_C", L"=x="}}));
  SetEnvironmentVariableW(L"Environment_Test_A", nullptr);
  SetEnvironmentVariableW(L"ENVIRONMENT_TEST_B", nullptr);
  std::vector<std::wstring> ours;
  std::copy_if(block.begin(), block.end(), std::back_inserter(ours), [](const std::wstring& entry) {
    return CompareStringOrdinal(entry.c_str(), 17, L"ENVIRONMENT_TEST_", 17, TRUE) == CSTR_EQUAL;
  });
  EXPECT_EQ(ours.size(), 2u);
  EXPECT_NE(std::find(ours.begin(), ours.end(), L"ENVIRONMENT_TEST_C==x="), ours.end());
  EXPECT_EQ(std::count_if(ours.begin(), ours.end(),
                          [](const std::wstring& entry) { return entry.ends_with(L"=new"); }),
            1);
}

}  // namespace
}  // namespace mixwalk

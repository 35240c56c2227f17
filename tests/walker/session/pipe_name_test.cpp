#include "walker/session/pipe_name.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

const unsigned char kRandom[kPipeRandomBytes] = {0x00, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd,
                                                 0xef, 0xff, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba};
const std::wstring kHex = L"000123456789abcdefff1032547698ba";

TEST(PipeName, SaysItsServer) {
  const std::wstring name = session_pipe_name(4711, kRandom);
  EXPECT_EQ(name, L"\\\\.\\pipe\\mixwalk-4711-" + kHex);
  EXPECT_EQ(server_of_session_pipe(name), 4711u);
  EXPECT_EQ(server_of_session_pipe(session_pipe_name(UINT32_MAX, kRandom)), UINT32_MAX);
}

TEST(PipeName, AnyOtherSpellingIsNoneOfOurs) {
  const std::wstring begin = L"\\\\.\\pipe\\mixwalk-";
  for (const std::wstring& name :
       {std::wstring(), begin, begin + L"-" + kHex, begin + L"0-" + kHex, begin + L"04711-" + kHex,
        begin + L"-4711-" + kHex, begin + L"4711" + kHex, begin + L"4294967296-" + kHex,
        begin + L"99999999999999999999999-" + kHex, begin + L"4711-" + kHex + L"0",
        begin + L"4711-" + kHex.substr(1), begin + L"4711-" + kHex.substr(1) + L"g",
        begin + L"4711-" + kHex.substr(1) + L"A", begin + L"4711-" + kHex.substr(1) + L"\\",
        L"\\\\server\\pipe\\mixwalk-4711-" + kHex, L"\\\\.\\pipe\\other-4711-" + kHex,
        begin + L"4711-" + kHex + std::wstring(1, L'\0')}) {
    EXPECT_EQ(server_of_session_pipe(name), std::nullopt) << std::string(name.begin(), name.end());
  }
}

}  // namespace
}  // namespace mixwalk

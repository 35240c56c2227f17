#include "walker/session/diagnostics_ipc.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

std::string bytes_of(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

// A message as the protocol's document describes it, put down by hand.
std::string message(std::size_t length, int command_set, int command, const std::string& payload) {
  return std::string("DOTNET_IPC_V1") + '\0' +
         bytes_of({static_cast<int>(length & 0xFF), static_cast<int>(length >> 8), command_set,
                   command, 0, 0}) +
         payload;
}

TEST(DiagnosticsIpc, AttachAsTheDocumentHasIt) {
  AttachRequest request{.timeout_ms = 0x01020304, .profiler_path = u"C:\\a", .client_data = "xyz"};
  for (int i = 0; i < 16; ++i) request.clsid[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  const std::string payload =
      bytes_of({4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,  // CLSID
                5, 0, 0, 0, 'C', 0, ':', 0, '\\', 0, 'a', 0, 0, 0,                  // path
                3, 0, 0, 0, 'x', 'y', 'z'});
  EXPECT_EQ(encode_attach(request), message(20 + payload.size(), 3, 1, payload));
}

TEST(DiagnosticsIpc, APathTooLongForOneMessage) {
  EXPECT_FALSE(encode_attach({.profiler_path = std::u16string(40'000, u'x')}));
}

TEST(DiagnosticsIpc, RepliesOfBothKinds) {
  const auto ok = decode_ipc_reply(message(24, 0xFF, 0, bytes_of({0, 0, 0, 0})));
  ASSERT_TRUE(ok);
  EXPECT_TRUE(ok->ok);
  EXPECT_EQ(ok->hresult, 0u);
  const auto error = decode_ipc_reply(message(24, 0xFF, 0xFF, bytes_of({0x6A, 0x13, 0x13, 0x80})));
  ASSERT_TRUE(error);
  EXPECT_FALSE(error->ok);
  EXPECT_EQ(error->hresult, 0x8013'136Au);
}

TEST(DiagnosticsIpc, WhatIsNoReply) {
  EXPECT_FALSE(decode_ipc_reply(""));
  EXPECT_FALSE(decode_ipc_reply("DOTNET_IPC_V1"));
  EXPECT_FALSE(decode_ipc_reply(message(25, 0xFF, 0, bytes_of({0, 0, 0, 0})))) << "wrong length";
  EXPECT_FALSE(decode_ipc_reply(message(24, 0x04, 0, bytes_of({0, 0, 0, 0})))) << "a request";
  EXPECT_FALSE(decode_ipc_reply(message(24, 0xFF, 7, bytes_of({0, 0, 0, 0}))));
  EXPECT_FALSE(ipc_message_bytes(message(19, 0xFF, 0, ""))) << "shorter than its own header";
}

std::string process_info(const std::string& command_line_length) {
  return std::string(24, '\1') + command_line_length +
         bytes_of({'a', 0, 0xFC, 0, 0x3D, 0xD8, 0x00, 0xDE, 0, 0,  // "aü😀"
                   1, 0, 0, 0, 0, 0,                               // OS: ""
                   4, 0, 0, 0, 'x', 0, '6', 0, '4', 0, 0, 0,
                   1, 0, 0, 0, 0, 0,  // entry assembly
                   7, 0, 0, 0, '1', 0, '0', 0, '.', 0, '0', 0, '+', 0, 'a', 0, 0, 0});
}

TEST(DiagnosticsIpc, ProcessInfo) {
  const auto info = decode_process_info(process_info(bytes_of({5, 0, 0, 0})));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->command_line, "a\xC3\xBC\xF0\x9F\x98\x80");
  EXPECT_EQ(info->architecture, "x64");
  EXPECT_EQ(info->runtime_version, "10.0") << "what follows the plus is a commit";
}

TEST(DiagnosticsIpc, ProcessInfoWithALengthBeyondItsEnd) {
  EXPECT_FALSE(decode_process_info(process_info(bytes_of({0xFF, 0xFF, 0xFF, 0xFF}))));
  const std::string whole = process_info(bytes_of({5, 0, 0, 0}));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(decode_process_info(std::string_view(whole).substr(0, bytes))) << bytes;
  }
}

}  // namespace
}  // namespace mixwalk

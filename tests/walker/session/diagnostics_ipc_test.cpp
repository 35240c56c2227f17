#include "walker/session/diagnostics_ipc.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

std::string bytes_of(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

// A message as the protocol's document describes it, built by hand.
std::string message(std::size_t length, int command_set, int command, const std::string& payload) {
  return std::string("DOTNET_IPC_V1") + '\0' +
         bytes_of({static_cast<int>(length & 0xFF), static_cast<int>(length >> 8), command_set,
                   command, 0, 0}) +
         payload;
}

TEST(DiagnosticsIpc, AttachAsTheDocumentHasIt) {
  AttachRequest request{.timeout_ms = 0x01020304, .profiler_path = u"C:\\a", .client_data = "xyz"};
  for (int i = 0; i < 16; ++i)
    request.clsid[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  const std::string payload = bytes_of(
      {4, 3, 2, 1, 0,   1,   2,   3, 4,    5, 6,   7, 8, 9, 10, 11, 12, 13, 14, 15,  // CLSID
       5, 0, 0, 0, 'C', 0,   ':', 0, '\\', 0, 'a', 0, 0, 0,                          // path
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
         bytes_of({'a', 0, 0xFC, 0, 0x3D, 0xD8, 0x00, 0xDE, 0,   0,  // "aü😀"
                   1,   0, 0,    0, 0,    0,                         // OS: ""
                   4,   0, 0,    0, 'x',  0,    '6',  0,    '4', 0,
                   0,   0, 1,    0, 0,    0,    0,    0,  // entry assembly
                   7,   0, 0,    0, '1',  0,    '0',  0,    '.', 0,
                   '0', 0, '+',  0, 'a',  0,    0,    0});
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

TEST(DiagnosticsIpc, ProcessInfoIsAskedForWithAHeaderAlone) {
  EXPECT_EQ(encode_process_info(), message(20, 4, 4, ""));
}

TEST(DiagnosticsIpc, TheLongestMessageJustFits) {
  // A request has 20 bytes of header, 4 of timeout, 16 of CLSID, 4 + 2 of an empty path, and 4 of a length.
  const std::size_t room = kMaxIpcBytes - 50;
  const auto longest = encode_attach({.client_data = std::string(room, 'x')});
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->size(), kMaxIpcBytes);
  EXPECT_EQ(ipc_message_bytes(*longest), kMaxIpcBytes);
  EXPECT_FALSE(encode_attach({.client_data = std::string(room + 1, 'x')}));
}

TEST(DiagnosticsIpc, AReplyCutAnywhereIsNone) {
  const std::string whole = message(24, 0xFF, 0xFF, bytes_of({0x6A, 0x13, 0x13, 0x80}));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(decode_ipc_reply(std::string_view(whole).substr(0, bytes))) << bytes;
    EXPECT_EQ(ipc_message_bytes(std::string_view(whole).substr(0, bytes)).has_value(), bytes >= 20);
  }
  EXPECT_FALSE(decode_ipc_reply(whole + 'x'));
}

TEST(DiagnosticsIpc, AReplyOfAnotherMagic) {
  std::string reply = message(20, 0xFF, 0, "");
  EXPECT_TRUE(decode_ipc_reply(reply));
  reply[12] = '2';
  EXPECT_FALSE(decode_ipc_reply(reply));
}

TEST(DiagnosticsIpc, AReplyWithoutRoomForAnHresultHasNone) {
  const auto reply = decode_ipc_reply(message(23, 0xFF, 0, bytes_of({1, 2, 3})));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->hresult, 0u);
  EXPECT_EQ(reply->payload, bytes_of({1, 2, 3}));
}

// Parses a process info whose command line has these UTF-16 units and a terminator.
std::string command_line_of(const std::u16string& units) {
  std::string payload(24, '\0');
  const auto put = [&payload](const std::u16string& text) {
    payload += bytes_of({static_cast<int>(text.size() + 1), 0, 0, 0});
    for (const char16_t unit : text) payload += bytes_of({unit & 0xFF, unit >> 8});
    payload += bytes_of({0, 0});
  };
  put(units);
  for (int i = 0; i < 4; ++i) put(u"");
  const auto info = decode_process_info(payload);
  return info ? info->command_line : "no process info";
}

TEST(DiagnosticsIpc, CharactersOfEveryLength) {
  EXPECT_EQ(command_line_of(u"\u007F\u0080\u07FF\u0800\uFFFF"),
            "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF");
  EXPECT_EQ(command_line_of({0xD800, 0xDC00, 0xDBFF, 0xDFFF}), "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
}

TEST(DiagnosticsIpc, AHalfCharacterCostsNoOther) {
  EXPECT_EQ(command_line_of({'a', 0xDC00, 'b'}), "a?b");  // the second half alone
  EXPECT_EQ(command_line_of({'a', 0xD800, 'b'}), "a?b");  // the first half alone
  EXPECT_EQ(command_line_of({0xD800, 0xD800, 0xDC00}), "?\xF0\x90\x80\x80");
  EXPECT_EQ(command_line_of({'a', 0xD800}), "a?");
}

}  // namespace
}  // namespace mixwalk

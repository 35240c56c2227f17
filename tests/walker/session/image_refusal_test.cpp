#include "walker/session/image_refusal.h"

#include <gtest/gtest.h>

#include <set>

namespace mixwalk {
namespace {

struct RefusedImage {
  std::uint32_t error;
  const char* name;  // in winerror.h
  const char* says;  // the reason
  const char* advises;
};

// Copied from winerror.h of the Windows SDK, one by one.
constexpr RefusedImage kImages[] = {
    {32, "ERROR_SHARING_VIOLATION", "holds the file open", "try again"},
    {127, "ERROR_PROC_NOT_FOUND", "needs a function", "too old for a.exe and a.dll"},
    {193, "ERROR_BAD_EXE_FORMAT", "as a valid image", "complete"},
    {216, "ERROR_EXE_MACHINE_TYPE_MISMATCH", "another kind of processor", "right one"},
    {225, "ERROR_VIRUS_INFECTED", "blocks it", "if you trust a.exe and a.dll, add an exception"},
    {226, "ERROR_VIRUS_DELETED", "removed it", "restore the file"},
    {577, "ERROR_INVALID_IMAGE_HASH", "requires a signature", "sign a.exe and a.dll"},
    {786, "ERROR_ACCESS_DISABLED_NO_SAFER_UI_BY_POLICY", "software restriction", "allows a.exe and a.dll"},
    {1114, "ERROR_DLL_INIT_FAILED", "could not be initialised", "try again"},
    {1260, "ERROR_ACCESS_DISABLED_BY_POLICY", "AppLocker", "sign a.exe and a.dll for a rule"},
    {1657, "ERROR_STRICT_CFG_VIOLATION", "Control Flow Guard", "Use strict CFG"},
    {4551, "ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION", "Smart App Control", "allow a.exe and a.dll in the policy"},
};

TEST(ImageRefusal, EachHasAReasonAndAnAdvice) {
  std::set<std::string> texts;
  for (const RefusedImage& one : kImages) {
    SCOPED_TRACE(one.name);
    const auto text = image_refusal(one.error, "a.exe and a.dll");
    ASSERT_TRUE(text);
    const auto colon = text->find(": ");
    ASSERT_NE(colon, std::string::npos) << *text;
    EXPECT_NE(text->substr(0, colon).find(one.says), std::string::npos) << *text;
    EXPECT_NE(text->substr(colon).find(one.advises), std::string::npos) << *text;
    EXPECT_EQ(text->find('\n'), std::string::npos);
    EXPECT_TRUE(texts.insert(*text).second) << "this is the sentence of another error";
  }
}

TEST(ImageRefusal, EveryResultOfApplicationControl) {
  const auto policy = image_refusal(4551, "a.dll");
  for (const std::uint32_t error : {4550u, 4556u, 4559u, 4580u, 4583u})
    EXPECT_EQ(image_refusal(error, "a.dll"), policy) << error;
  // 4560 is ERROR_VSM_NOT_INITIALIZED.
  for (const std::uint32_t error : {4549u, 4560u, 4579u, 4584u}) EXPECT_FALSE(image_refusal(error, "a.dll")) << error;
}

TEST(ImageRefusal, OtherErrorsHaveTheTextOfTheSystem) {
  for (const std::uint32_t error : {0u, 2u, 5u, 126u, 740u}) EXPECT_FALSE(image_refusal(error, "a.dll")) << error;
}

// The pairs are those of RtlNtStatusToDosError; HRESULT_FROM_NT sets one bit more.
TEST(LoaderError, InAnHresultAndInAStatus) {
  const std::pair<std::uint32_t, std::uint32_t> cases[] = {
      {0x80070241, 577},  {0x800711C7, 4551}, {0x800704EC, 1260}, {0x800700E1, 225},  {0x800700E2, 226},
      {0x8007045A, 1114}, {0x80070679, 1657}, {0xC0000428, 577},  {0xD0000428, 577},  {0xC0E90002, 4551},
      {0xD0E90002, 4551}, {0xC0000361, 1260}, {0xC0000906, 225},  {0xC0000907, 226},  {0xC0000142, 1114},
      {0xC0000606, 1657}, {0xC000007B, 193},  {0xC0000139, 127},
  };
  for (const auto& [code, error] : cases) EXPECT_EQ(loader_error_in(code), error) << std::hex << code;
  for (const std::uint32_t code : {0u, 577u, 0x8013136Au, 0x80131515u, 0xC0000005u, 0xE0434352u}) {
    EXPECT_FALSE(loader_error_in(code)) << std::hex << code;
  }
}

}  // namespace
}  // namespace mixwalk

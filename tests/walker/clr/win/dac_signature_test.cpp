#include "walker/clr/win/dac_signature.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

std::string genuine() { return fixture("mscordaccore.dll"); }

TEST(DacSignature, LibraryOfMicrosoft) { EXPECT_EQ(WindowsSignatures().doubt(genuine()), ""); }

TEST(DacSignature, OneByteExchanged) {
  std::ifstream in(utf8_path(genuine()), std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  ASSERT_GT(bytes.size(), 0x4000u);
  bytes[0x3000] ^= 1;
  const std::string path = temporary_file("tampered.dll");
  std::ofstream(utf8_path(path), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(WindowsSignatures().doubt(path).starts_with("its signature: "));
  remove_file(path);
}

TEST(DacSignature, WithoutASignature) {
  EXPECT_TRUE(WindowsSignatures().doubt(mixwalk_exe()).starts_with("its signature: "));
  EXPECT_TRUE(WindowsSignatures().doubt("C:\\no\\such\\file.dll").starts_with("its signature: "));
}

}  // namespace
}  // namespace mixwalk

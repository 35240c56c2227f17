#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace mixwalk {

// Compares with tests/golden/NAME, byte by byte. What was made instead lies in the working folder
// as NAME.actual, to be looked at and, if it is right, taken over.
inline void expect_golden(const std::string& name, const std::string& actual) {
  std::ifstream in(std::string(MIXWALK_GOLDEN) + "/" + name, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(in), {}};
  if (expected == actual) return;
  std::ofstream(name + ".actual", std::ios::binary) << actual;
  EXPECT_EQ(actual, expected) << name << " differs; see " << name << ".actual";
}

}  // namespace mixwalk

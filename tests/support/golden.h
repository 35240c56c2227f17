#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/repository_files.h"
#include "tests/support/utf8_path.h"

namespace mixwalk {

// The path of tests/golden/NAME.
inline std::string golden_file(const std::string& name) { return repository_file("tests/golden/" + name); }

// A file's bytes; none if it cannot be read. Its path is in UTF-8.
inline std::string file_text(const std::string& path) {
  std::ifstream in(utf8_path(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Compares with tests/golden/NAME, byte by byte. The actual output is written to the working folder as NAME.actual, to
// be looked at and, if it is right, copied.
inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::string expected = file_text(golden_file(name));
  if (expected == actual) return;
  std::ofstream(name + ".actual", std::ios::binary) << actual;
  EXPECT_EQ(actual, expected) << name << " differs; see " << name << ".actual";
}

}  // namespace mixwalk

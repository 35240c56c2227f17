#include <cstdio>

#include "tests/symbols/dwarf/sample.h"

// The second unit of sample.cpp's program.

namespace sample {
namespace {

int hidden(int x) {
  std::puts("hidden");
  return inline_in_header(x) + 1;
}

}  // namespace

int from_another_unit(int x) {
  int sum = 0;
  for (int i = 0; i < x; ++i) sum += hidden(i) ^ inline_in_header(sum);
  return sum;
}

}  // namespace sample

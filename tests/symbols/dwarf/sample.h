#pragma once

namespace sample {

int from_another_unit(int x);

inline int inline_in_header(int x) {
  int product = 1;
  for (int i = 1; i < x; ++i) product *= i + (product >> 1);
  return product;
}

}  // namespace sample

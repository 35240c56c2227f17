#include <cstdio>
#include <utility>

#include "tests/symbols/dwarf/sample.h"

// The second unit of sample.cpp's program.

namespace sample {
namespace {

int hidden(int x) {
  std::puts("hidden");
  return inline_in_header(x) + 1;
}

// Functions with inlined calls, each with code of its own, so that thousands of addresses can be compared.
template <int N>
int doubled(int x) {
  return inline_in_header(x + N) * 2;
}
template <int N>
__attribute__((noinline)) int journey(int x) {
  int sum = hidden(N);
  for (int i = 0; i < x % (N + 2); ++i) sum = sum * (N + 3) + doubled<N>(i);
  if (sum % (N + 5) == 1) std::printf("%d\n", doubled<N>(sum));
  return sum ^ inline_in_header(sum);
}
template <int... N>
int journeys(int x, std::integer_sequence<int, N...>) {
  return (journey<N>(x) + ...);
}

}  // namespace

int from_another_unit(int x) {
  int sum = journeys(x, std::make_integer_sequence<int, 100>());
  for (int i = 0; i < x; ++i) sum += hidden(i) ^ inline_in_header(sum);
  return sum;
}

}  // namespace sample

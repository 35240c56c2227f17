#include "tests/bench/win/cycles.h"

namespace mixwalk::bench {

double cycles_per_ns() {
  static const double measured = [] {
    constexpr DWORD kMs = 50;
    LARGE_INTEGER frequency, begin, end;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&begin);
    const std::uint64_t first = cycles();
    Sleep(kMs);
    QueryPerformanceCounter(&end);
    const std::uint64_t last = cycles();
    const double ns = static_cast<double>(end.QuadPart - begin.QuadPart) * 1e9 /
                      static_cast<double>(frequency.QuadPart);
    return static_cast<double>(last - first) / ns;
  }();
  return measured;
}

}  // namespace mixwalk::bench

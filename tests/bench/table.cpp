#include "tests/bench/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace mixwalk::bench {
namespace {

int g_misses = 0;

}  // namespace

Summary summarise(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {values.size(), at(0.5), at(0.99),
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size())};
}

double median(std::vector<double> values) {
  return summarise(std::move(values)).median;
}

double median_ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(below[i] == 0 ? 0 : above[i] / below[i]);
  return median(std::move(ratios));
}

void show_target(const std::string& what, double value, double limit, const char* unit) {
  const bool pass = std::isfinite(value) && value != 0 && value <= limit;
  if (!pass) ++g_misses;
  std::printf("  target  %s <= %.4g%s: %.4g%s  %s\n", what.c_str(), limit, unit, value, unit,
              pass ? "PASS" : "MISS");
}

int misses() {
  return g_misses;
}

}  // namespace mixwalk::bench

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mixwalk::bench {

struct Summary {
  std::size_t count = 0;
  double median = 0, p99 = 0, mean = 0;
};
// If there are no values, the summary is zeros.
Summary summarise(std::vector<double> values);

double median(std::vector<double> values);
// The median of the ratios of the same round. A ratio to nothing is 0.
double median_ratio(const std::vector<double>& above, const std::vector<double>& below);

// Prints one line that ends with PASS or MISS. A ratio that could not be measured (0 of anything) is a MISS.
void show_target(const std::string& what, double value, double limit, const char* unit = "");
// Returns how many of the lines printed so far were a MISS.
int misses();

}  // namespace mixwalk::bench

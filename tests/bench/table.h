#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mixwalk::bench {

struct Summary {
  std::size_t count = 0;
  double median = 0, p99 = 0, mean = 0;
};
// Of no values: zeros.
Summary summarise(std::vector<double> values);

double median(std::vector<double> values);

// One line, and PASS or MISS. A ratio that could not be measured (0 of anything) is a MISS.
void show_target(const std::string& what, double value, double limit, const char* unit = "");
// How many of the lines above said MISS.
int misses();

}  // namespace mixwalk::bench

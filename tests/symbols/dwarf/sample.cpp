// Code whose debug information is tested: different kinds of C++ code, as compilers translate it. It is compiled
// several times (CMakeLists.txt), with a second file of the same program (sample_more.cpp) for LTO, and never run.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/symbols/dwarf/sample.h"

namespace sample {
namespace {

volatile int sink;

inline int innermost(int x) {
  sink = x;
  return sink * 3;
}
inline int middle(int x) {
  int sum = 0;
  for (int i = 0; i < x; ++i) sum += innermost(i);
  return sum;
}
// The compiler makes a copy of this function for its constant argument ("constprop").
__attribute__((noinline)) int with_constant(int x, int factor) {
  if (x > 1000) std::printf("%d\n", x);
  return middle(x * factor) + innermost(x);
}

template <class T, int kTimes>
struct Repeater {
  T value;
  int run() const {
    if constexpr (kTimes > 0) {
      return innermost(static_cast<int>(value)) + Repeater<T, kTimes - 1>{value}.run();
    } else {
      return 0;
    }
  }
};

class Shape {
 public:
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
class Square final : public Shape {
 public:
  explicit Square(double side) : side_(side) {}
  double area() const override { return side_ * side_; }

 private:
  double side_;
};

[[noreturn]] __attribute__((cold, noinline)) void fail(const char* text) {
  throw std::runtime_error(text);
}

// A part of this function is cold, and is moved away.
int checked(int x) {
  if (__builtin_expect(x < 0, 0)) {
    std::string text = "negative: " + std::to_string(x);
    std::fputs(text.c_str(), stderr);
    fail(text.c_str());
  }
  return middle(x);
}

int local_classes(int x) {
  struct Local {
    int value;
    __attribute__((noinline)) int twice() const { return middle(value) * 2; }
    int thrice() const { return innermost(value) * 3; }
  };
  return Local{x}.twice() + Local{x}.thrice();
}

__attribute__((noinline)) int lambdas(std::vector<int>& numbers) {
  int calls = 0;
  std::sort(numbers.begin(), numbers.end(), [&](int left, int right) {
    ++calls;
    return innermost(left) < innermost(right);
  });
  const std::function<int(int)> later = [calls](int x) { return middle(x) + calls; };
  return later(calls);
}

int blocks(int x) {
  int sum = 0;
  {
    const int inner = innermost(x);
    if (inner > 3) {
      int deeper = middle(inner);
      sum += deeper;
      for (int i = 0; i < deeper; ++i) {
        const int again = innermost(i);
        sum ^= again;
      }
    }
  }
  try {
    sum += checked(sum);
  } catch (const std::exception& error) {
    sum += static_cast<int>(std::string(error.what()).size());
  }
  return sum;
}

}  // namespace

int all(int argc, const char* const* argv) {
  std::vector<int> numbers(static_cast<std::size_t>(argc), argc);
  std::map<std::string, std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < argc; ++i) shapes[argv[i]] = std::make_unique<Square>(i);
  double areas = 0;
  for (const auto& [name, shape] : shapes) areas += shape->area() * static_cast<double>(name.size());
  return with_constant(argc, 7) + with_constant(argc + 1, 7) + Repeater<double, 5>{areas}.run() +
         Repeater<short, 3>{2}.run() + lambdas(numbers) + local_classes(argc) + blocks(argc) +
         from_another_unit(argc) + inline_in_header(argc);
}

}  // namespace sample

int main(int argc, char** argv) {
  return sample::all(argc, argv);
}

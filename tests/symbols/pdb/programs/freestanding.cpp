// A DLL without a C library, for the target that has PDBs. It has templates, nested inlined calls, equal functions that
// the linker folds, code of two files, virtual calls, and a switch.
#include "freestanding.h"

namespace shop {

struct Order {
  int id = 0;
  int amount = 0;
};

// The linker folds this function and the next, because their code is the same.
__attribute__((noinline)) int price(const Order& order) { return order.amount * 17 + order.id; }
__attribute__((noinline)) int cost(const Order& order) { return order.amount * 17 + order.id; }

class Visitor {
 public:
  virtual int visit(const Order& order) = 0;
};

class Sum : public Visitor {
 public:
  int visit(const Order& order) override {
    total_ += price(order);
    return total_;
  }
  int refund(const Order& order) { return order.amount * 17 + order.id; }

 private:
  int total_ = 0;
};

class Largest final : public Visitor {
 public:
  int visit(const Order& order) override { return best_ = maximum(best_, cost(order)); }

 private:
  int best_ = 0;
};

namespace {

int visit_all(Visitor& visitor, const Order* orders, int count) {
  int last = 0;
  for (int i = 0; i < count; ++i) last = visitor.visit(orders[i]);
  return last;
}

template <class Compare>
__attribute__((noinline)) void sort(Order* orders, int count, Compare before) {
  for (int i = 1; i < count; ++i) {
    for (int j = i; j > 0 && before(orders[j], orders[j - 1]); --j) swap(orders[j], orders[j - 1]);
  }
}

// Functions with inlined calls, each with code of its own, so that the program has more than 10,000 addresses.
template <int N>
__attribute__((noinline)) int journey(int value) {
  Random random(value + N);
  int last = limited<0, N>(value);
  for (int i = 0; i < N % 7 + 2; ++i) {
    last = maximum(last, random.next_below(N + 2));
    if (last % (N + 3) == 0) swap(last, value);
  }
  return last + Fibonacci<N % 5 + 1>::value();
}
template <class, int... N>
struct Numbers {
  static int journeys(int value) { return (journey<N>(value) + ...); }
};

}  // namespace
}  // namespace shop

extern "C" __declspec(dllexport) int run(int count, int seed) {
  shop::Order orders[64];
  count = limited<0, 64>(count);
  Random random(seed);
  for (int i = 0; i < count; ++i) orders[i] = {random.next(), random.next_below(100)};
  shop::sort(orders, count, [](const shop::Order& a, const shop::Order& b) { return a.id < b.id; });
  shop::sort(orders, count, [](const shop::Order& a, const shop::Order& b) { return a.amount > b.amount; });
  shop::Sum sum;
  shop::Largest largest;
  return shop::visit_all(sum, orders, count) + shop::visit_all(largest, orders, count) +
         sum.refund(orders[0]);
}

extern "C" __declspec(dllexport) int classify(int value) {
  switch (value) {
    case 1: return Fibonacci<9>::value();
    case 2: return run(3, 4);
    case 3: return limited<5, 7>(run(value, 1));
    case 4: return Fibonacci<12>::value() * run(1, 1);
    case 6: return __make_integer_seq<shop::Numbers, int, 100>::journeys(value);
    case 5: return Random(value).next_below(9);
    default: return value;
  }
}

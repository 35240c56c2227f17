// A unit of a program with a PDB of some 100 MB: 10,000 functions, each with parameters, lines and two inlined calls.
// It is for measurements only, and never run. programs.cmake makes the other units from its object file.

namespace shop {
namespace department_a {

struct Order {
  int count, price;
  long long reserved[4];
};

[[gnu::always_inline]] inline int worth(const Order& order, int rebate) {
  int sum = order.count * order.price;
  if (rebate > 0) {
    sum -= sum / 100 * rebate;
  }
  return sum;
}

template <int N>
struct Shelf {
  Order orders[2];
};

#define FUNCTION(n)                                                                              \
  int total_of_orders_number_##n(const Shelf<1##n % 97>& shelf, const Order* next, int rebate) { \
    return worth(shelf.orders[0], rebate) + worth(*next, rebate) + 1##n;                         \
  }
#define FIVE(n) FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3) FUNCTION(n##4)
#define TEN(n) FIVE(n) FUNCTION(n##5) FUNCTION(n##6) FUNCTION(n##7) FUNCTION(n##8) FUNCTION(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
#define HALF(n) HUNDRED(n##0) HUNDRED(n##1) HUNDRED(n##2) HUNDRED(n##3) HUNDRED(n##4)
#define THOUSAND(n) HALF(n) HUNDRED(n##5) HUNDRED(n##6) HUNDRED(n##7) HUNDRED(n##8) HUNDRED(n##9)

THOUSAND(1) THOUSAND(2) THOUSAND(3) THOUSAND(4) THOUSAND(5)
THOUSAND(6) THOUSAND(7) THOUSAND(8) THOUSAND(9) THOUSAND(10)

}  // namespace department_a
}  // namespace shop

// Thousands of functions whose template arguments are values of classes (C++20). It is compiled for
// demangle_oracle_test, for Windows and for Linux, and never run. Each name has a Key<…>, by which the test finds the
// same function in both programs. No value is zero, since names for Linux leave out zeros at the end of a class.

namespace values {

template <int>
struct Key {};

enum class Scoped : unsigned char { one = 1, two };
struct Point {
  int x, y;
};
struct Sizes {
  char c;
  unsigned char u;
  short s;
  unsigned short w;
  long long l;
  unsigned long long m;
  bool b;
  Scoped e;
};
struct Constants {
  const int one;
  const Point two;
};
struct Row {
  int of[3];
};
struct Table {
  Point points[2];
  Row rows[2];
};
struct Text {
  char text[4];
};
struct Derived : Point {
  int z;
};
int variable;
void function(Point*) {}
struct Pointers {
  int* to;
  void (*call)(Point*);
};
template <class A, class B>
struct Two {
  template <class K>
  static void of(K, A, const Two*, B) {}
  A a;
  B b;
};
template <Point P>
struct Keyed {
  int n;
  struct Inner {
    int deep;
  };
  template <class K>
  int member(K, const Keyed&) const {
    return n;
  }
};
namespace {
struct Hidden {
  Point inner;
  int n;
};
}  // namespace

template <class K, auto V>
void of_any(K) {}
template <class K, Point P>
Keyed<P> of_point(K, Keyed<P>*, const Keyed<P>&, typename Keyed<P>::Inner) {
  return {};
}
template <class K, auto... V>
void of_several(K) {}
template <class K, Text T, Text... More>
void of_text(K) {}

template <int N>
void all_of() {
  constexpr int kPlus = N + 1, kMinus = -kPlus;
  constexpr Point kPoint{kPlus, kMinus};
  constexpr char kLetter = 'a' + N % 26;
  of_any<Key<N * 16>, kPoint>({});
  of_any<Key<N * 16 + 1>,
         Sizes{kLetter, 200, kMinus, 65535, -5000000000 - N, 18446744073709551615u - N, true, Scoped::two}>({});
  of_any<Key<N * 16 + 2>, Row{{kPlus, kMinus, 77}}>({});
  of_any<Key<N * 16 + 3>, Table{{kPoint, {3, 4}}, {Row{{1, 2, kPlus}}, Row{{4, 5, 6}}}}>({});
  of_any<Key<N * 16 + 4>, Derived{{kPlus, 2}, kMinus}>({});
  of_any<Key<N * 16 + 5>, Pointers{&variable, &function}>({});
  of_any<Key<N * 16 + 6>, Two<Point, Two<char, Keyed<kPoint>>>{kPoint, {kLetter, {kPlus}}}>({});
  of_any<Key<N * 16 + 7>, typename Keyed<kPoint>::Inner{kPlus}>({});
  of_any<Key<N * 16 + 8>, Hidden{kPoint, kMinus}>({});
  of_any<Key<N * 16 + 9>, Constants{kPlus, kPoint}>({});
  of_point<Key<N * 16 + 10>, kPoint>({}, nullptr, {}, {});
  of_several<Key<N * 16 + 11>, kPoint, kPlus, Row{{1, kMinus, 3}}, kPoint>({});
  of_text<Key<N * 16 + 12>, Text{{kLetter, 'b', '"', '\n'}}, Text{{'<', '>', ',', kLetter}}>({});
  Keyed<kPoint>().member(Key<N * 16 + 13>(), {});
  Two<Keyed<kPoint>, Hidden>::of(Key<N * 16 + 14>(), {}, nullptr, {});
}

template <class, int... N>
struct Numbers {
  static void use() { (all_of<N>(), ...); }
};
void every() { __make_integer_seq<Numbers, int, 160>::use(); }

}  // namespace values

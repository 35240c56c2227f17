// Functions whose names have what C++ has had since 2020: _BitInt, requires-clauses, explicit object parameters,
// constrained lambdas, values of classes as arguments. Clang 19 compiles it by hand (docs/developing.md); it is never
// run:
//   clang++-19 --target=x86_64-pc-windows-msvc -std=c++23 -w -c -o names.o tests/symbols/demangle/made_names_23.cpp
// With --target=x86_64-linux-gnu the names have the other encoding. -DMORE=,TYPE,… (such as -DMORE=,bool,float) adds
// types, of each of which there is a pair with each other; BITS is how many _BitInt there are.

#ifndef MORE
#define MORE
#endif
#ifndef BITS
#define BITS 50
#endif

namespace made {
template <class... T>
struct List {};
template <int N>
struct Bits {
  static void of_signed(_BitInt(N)) {}
  static unsigned _BitInt(N) of_unsigned(unsigned _BitInt(N), const _BitInt(N) *) { return 0; }
};
template <class T>
concept Sized = sizeof(T) > 0;
template <class T, class U>
concept Both = Sized<T> && Sized<U>;
struct Self {
  template <class S, class T>
  void deduced(this S&& self, T) {}
  template <class T>
  T operator()(this const Self& self, T value) {
    return value;
  }
  template <class T>
  operator T*(this Self self) {
    return nullptr;
  }
};
template <class T>
void required(T) requires(sizeof(T) > 0) {}
template <class T>
requires Sized<T> &&(sizeof(T) != 3333) void required_before(T) {}
template <Sized T, Both<T> U>
void constrained(T, U) {}
template <class T>
void abbreviated(T, Sized auto, Both<T> auto*) {}
template <class T>
struct Shelf {
  template <class U>
  requires(sizeof(U) != sizeof(char[4444])) && requires(U u) {
    typename List<U>;
    u;
    { *&u } -> Sized;
  }
  U both(U value) requires Sized<T> { return value; }
  template <class U>
  requires Sized<U>
  friend void friendly(Shelf, U) requires Sized<T> {}
};
template <template <class> class C, class T>
requires Sized<C<T>>
void of_template(T) {}
template <auto V, class T>
requires(sizeof(V) > 0) void of_value(T) {}
template <class F>
void use(F) {}
struct Point {
  int x;
  long y[2];
  constexpr bool operator==(const Point&) const = default;
};
template <class A, class B>
void use_pair(A a, B b) {
  auto lambda = []<Sized T>(T, auto) requires(sizeof(T) > 0) { return 1; };
  use(lambda);
  lambda(a, b);
  auto self = []<class T>(this auto self, T x) requires Sized<T> { return 1; };
  use(self);
  self(a);
  self(b);
  Self().deduced(a);
  Self object;
  object.deduced(&a);
  object(b);
  (void)static_cast<A*>(object);
  required(a);
  required_before(b);
  constrained(a, b);
  abbreviated<A>(a, b, &b);
  Shelf<A>().both(b);
  friendly(Shelf<A>(), b);
  of_template<Shelf>(a);
  of_value<Point{1, {2, 3}}>(b);
  of_value<[](int) { return 2; }>(a);
  of_value<&Point::y>(b);
}

template <class A, class... B>
void use_row(List<B...>) {
  (use_pair<A, B>(A(), B()), ...);
}
template <class... A>
void use_all(List<A...>) {
  (use_row<A>(List<long long, char8_t*, Self, int (*)(int), _BitInt(77), unsigned _BitInt(128), double Point::*,
                   void (Self::*)() const MORE>()),
   ...);
}
template <int... N>
void use_bits() {
  (use(&Bits<N + 2>::of_signed), ...);
  (use(&Bits<N + 2>::of_unsigned), ...);
}
template <class, int... N>
struct Numbers {
  static void use() { use_bits<N...>(); }
};
void every() {
  use_all(List<int, short, char16_t, double, const char*, Self, List<int>, _BitInt(33), Bits<5>, Shelf<Self>, wchar_t,
               int* * MORE>());
  __make_integer_seq<Numbers, int, BITS>::use();
}
}  // namespace made

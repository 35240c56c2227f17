// Thousands of functions whose names the compilers encode: every kind of argument beside every other. It is compiled
// for demangle_oracle_test, for Windows and for Linux, and never run. It needs no header, so no library of either
// system.

namespace made {

struct Plain {};
class Other;
union Both {};
enum Old { kOld };
enum class Scoped : unsigned char { one };
template <class... T>
struct Box {
  struct Inner {};
  template <class U>
  struct Rebound {};
};
template <auto... V>
struct Values {};
template <template <class...> class T, class... U>
struct Applied {
  T<U...>* held;
};
struct Point {  // the type of a value in a template's arguments
  int x, y;
  constexpr bool operator==(const Point&) const = default;
  int operator<=>(const Point& other) const { return x - other.x; }
};
namespace {
struct Hidden {
  void own() {}
};
}  // namespace
inline namespace v2 {
struct Versioned {};
}  // namespace v2
extern int kVariable;
void plain_function(int);
inline auto kLambda = [](auto... values) { return sizeof...(values); };
inline auto kTemplatedLambda = []<class T>(T* value) requires(sizeof(T) > 0) { return value; };
struct Bases : Plain, Box<int> {};

template <class T>
struct WithoutReference {
  using Type = T;
};
template <class T>
struct WithoutReference<T&> {
  using Type = T;
};
template <class T>
struct WithoutReference<T&&> {
  using Type = T;
};
template <class T>
using Pointer = typename WithoutReference<T>::Type*;

template <class T>
concept Sized = sizeof(T) > 0;

template <class... T>
struct List {};
using Kinds =
    List<bool, char, signed char, unsigned char, short, unsigned, long long, unsigned long, wchar_t, char8_t, char16_t,
         char32_t, float, double, long double, decltype(nullptr), void*, const volatile int*, int**, const Plain&,
         Plain&&, Other*, Both, Old, Scoped, int (*)(int, ...), void (*)(Plain, Plain*), int (&)(char),
         void (*)() noexcept, int (&)[3], const char (*)[4][5], int Point::*, void (Plain::*)(int) const,
         int (Plain::*)() volatile&&, Box<>, Box<int>, Box<Box<Plain>, Plain*>, Box<int>::Inner,
         Box<char>::Rebound<long>, Box<void(int)>, Values<1, -1, 'c', true>, Values<nullptr>, Values<Scoped::one, kOld>,
         Values<&kVariable>, Values<&plain_function>, Values<Point{1, -2}>, Values<&Point::x>,
         Applied<Box, int, Plain>, Hidden, Box<Hidden>, Versioned, Bases, decltype(kLambda), decltype(kTemplatedLambda),
         Point>;

using Others = List<char8_t, const Plain&, Scoped, void (*)(Plain, Plain*), void (Plain::*)(int) const,
                    Box<Box<Plain>, Plain*>, Values<&Point::x>, Values<Point{1, -2}>, Hidden, decltype(kLambda),
                    Box<void(int)>, int (&)[3], Values<1, -1, 'c', true>>;

// How a pair of them comes into a name.
template <class A, class B>
struct Pair {
  static void in_a_class(A, B) {}
  template <class C>
  Box<A, C> in_a_template(B (*)(C)) const& { return {}; }
  struct Nested {
    Nested() {}
    ~Nested() {}
    bool operator()(const Pair&, Pointer<A>, ...) const noexcept { return true; }
    operator Pointer<B>() volatile { return nullptr; }
  };
};
template <class A, Sized B>
auto of_two(Pointer<A> first, B...) -> decltype(first) { return first; }
void of_auto(auto* first, auto*... rest) {
  auto local = [&](auto again) {
    struct Local {
      void inside(decltype(first), decltype(rest)...) {}
    };
    Local().inside(first, rest...);
    return again;
  };
  local(first);
}

template <class F>
void use(F) {}

template <class A, class B>
void use_pair() {
  using Two = Pair<A, B>;
  use(&Two::in_a_class);
  use(&Two::template in_a_template<Pointer<B>>);
  typename Two::Nested nested;
  use(&Two::Nested::operator());
  use(&Two::Nested::operator Pointer<B>);
  use(&of_two<A, B>);
  of_auto(static_cast<Pointer<A>>(nullptr), static_cast<Pointer<B>>(nullptr));
}
template <class A, class... B>
void use_row(List<B...>) { (use_pair<A, B>(), ...); }
template <class... A>
void use_all(List<A...>) { (use_row<A>(Others()), ...); }

void all() { use_all(Kinds()); }

}  // namespace made

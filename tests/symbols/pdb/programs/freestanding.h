#pragma once

template <int Low, int High>
inline int limited(int value) {
  if (value < Low) return Low;
  return value > High ? High : value;
}

template <class T>
inline T maximum(T left, T right) {
  return left < right ? right : left;
}

template <class T>
inline void swap(T& left, T& right) {
  T kept = left;
  left = right;
  right = kept;
}

volatile int sink;

template <int N>
struct Fibonacci {
  static int value() {
    sink = N;
    return Fibonacci<N - 1>::value() + limited<0, N>(sink);
  }
};
template <>
struct Fibonacci<0> {
  static int value() { return sink; }
};

class Random {
 public:
  explicit Random(int seed) : state_(static_cast<unsigned>(seed) * 2 + 1) {}
  int next() {
    step();
    return static_cast<int>(state_ >> 8);
  }
  int next_below(int bound) { return limited<0, 1 << 20>(next()) % bound; }

 private:
  void step() { state_ = state_ * 1664525u + 1013904223u; }
  unsigned state_;
};

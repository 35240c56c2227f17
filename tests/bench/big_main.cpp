// The program of big_unit.cpp's units.

namespace unit_1 { int run(int count); }
namespace unit_2 { int run(int count); }
namespace unit_3 { int run(int count); }
namespace unit_4 { int run(int count); }
namespace unit_5 { int run(int count); }

int main(int argc, char**) {
  return unit_1::run(argc) + unit_2::run(argc) + unit_3::run(argc) + unit_4::run(argc) + unit_5::run(argc);
}

#include "tests/builders/pdb_samples.h"

namespace mixwalk::test {

PdbBuilder empty_pdb() {
  PdbBuilder pdb;
  pdb.guid = 7;
  return pdb;
}

PdbModuleBuilder module_with_inlining(PdbBuilder& pdb) {
  const std::uint32_t a = pdb.text("a.cpp"), b = pdb.text("b.h");
  const std::uint32_t inner = pdb.function_id(pdb.string_id("ns::detail"), "inner");
  const std::uint32_t get = pdb.member_function_id(pdb.structure("Box<int>"), "get");
  PdbModuleBuilder module;
  const std::uint32_t file_a = module.file(a), file_b = module.file(b);
  module.inlinee(inner, file_a, 20);
  module.inlinee(get, file_b, 50);
  module.procedure("ns::outer", 0, 0x40);
  module.block();
  module.inline_site(inner, {0x03, 0x10, 0x06, 0x04, 0x03, 0x08, 0x04, 0x08});  // 20: 10-18; 22: 18-20
  module.inline_site(get, {0x03, 0x18, 0x04, 0x04}, true);                      // 50: 18-1C
  module.end_inline();
  module.end_inline();
  module.end();
  module.end();
  module.procedure("next", 0x40, 0x10, 0x1147);
  module.record(0x114F, {});
  module.lines(0, 0x40, file_a, {{0, 3}, {0x10, 5}, {0x30, 0xFEEFEE}}, true);
  module.lines(0x40, 0x10, file_b, {{0, 8}});
  return module;
}

PdbBuilder pdb_with_inlining() {
  PdbBuilder pdb = empty_pdb();
  const PdbModuleBuilder module = module_with_inlining(pdb);
  pdb.contribution(pdb.module(module), 0, 0x50);
  return pdb;
}

PdbBuilder pdb_of_all_kinds() {
  PdbBuilder pdb = pdb_with_inlining();
  PdbModuleBuilder module;
  const std::uint32_t file = module.file(pdb.text("c.cpp"));
  module.procedure("hot", 0x60, 0x10);
  module.end();
  module.procedure("folded", 0x60, 0x10);
  module.end();
  module.separated(0x80, 0x10, 0x60);
  module.end();
  module.thunk("jump", 0x70, 6);
  module.end();
  module.lines(0x60, 0x10, file, {{0, 3}, {4, 5}});
  module.lines(0x80, 0x10, file, {{0, 4}});
  const std::uint32_t foreign = pdb.member_function_id(pdb.structure("a::Box<b::c>"), "{dtor}");
  module.procedure("optimised", 0xA0, 0x20);
  module.inline_site(0x80000001, {0x0B, 0x00, 0x06, 0x02, 0x0C, 0x08, 0x10, 0x00});
  module.end_inline();
  module.end();
  module.inlinee(0x80000001, file, 70);
  module.imports(pdb.text("OTHER.obj"), {0x5000, 0x80004402});
  pdb.contribution(pdb.module(module), 0x60, 0x60);
  PdbModuleBuilder other;
  other.exports(0x5000, 0x1000);
  other.exports(0x80004402, foreign);
  pdb.module(other, "other.obj");
  pdb.public_symbol("?next@@YAXXZ", 0x40);
  pdb.public_symbol("?other@@YAXXZ", 0x40);
  pdb.public_symbol("leaf", 0x98);
  pdb.public_symbol("elsewhere", 0x1C0);
  return pdb;
}

}  // namespace mixwalk::test

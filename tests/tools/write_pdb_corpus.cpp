// Writes the corpora of pdb_fuzz, pdb_module_fuzz, portable_pdb_fuzz and native_aot_fuzz.
// usage: write_pdb_corpus CORPUS      the folder tests/fuzz/corpus
#include <filesystem>
#include <fstream>

#include "tests/builders/pdb_samples.h"
#include "tests/builders/portable_pdb_builder.h"
#include "tests/symbols/native_aot/native_aot_builder.h"

using namespace mixwalk::test;

static void write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

static std::vector<std::byte> parts(const PdbModuleBuilder& module) {
  // The symbols are written without the signature before them.
  const std::vector<std::byte> symbols = module.symbols();
  return ByteWriter()
      .u16(symbols.size() - 4)
      .append(std::vector(symbols.begin() + 4, symbols.end()))
      .append(module.c13())
      .bytes();
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path corpus = argv[1];
  PdbBuilder pdb = pdb_of_all_kinds();
  write(corpus / "pdb_fuzz" / "all_kinds", pdb.build());
  pdb.scattered = true;
  write(corpus / "pdb_fuzz" / "scattered", pdb.build());
  write(corpus / "pdb_fuzz" / "inlining", pdb_with_inlining().build());
  PdbBuilder sources = pdb_with_inlining();
  sources.named_stream("sourcelink$1", R"({"documents": {"b*": "https://example.org/*"}})");
  sources.named_stream("srcsrv",
                       "SRCSRV: ini -\r\nVERSION=2\r\nSRCSRV: variables -\r\nhost=https://example.org\r\n"
                       "SRCSRVTRG=%fnvar%(%var2%)/%fnbksl%(%var3%)/%fnfile%(%var1%)\r\nSRCSRVCMD=\r\n"
                       "SRCSRV: source files -\r\na.cpp*host*sub/a\r\nc.cpp*host*c\r\nSRCSRV: end -\r\n");
  write(corpus / "pdb_fuzz" / "sources", sources.build());
  write(corpus / "pdb_fuzz" / "empty", empty_pdb().build());
  write(corpus / "pdb_module_fuzz" / "inlining", parts(module_with_inlining(pdb)));
  PdbModuleBuilder module;
  module.separated(0x80, 0x10, 0);
  module.end();
  module.procedure("hot", 0, 0x20, 0x1155);
  module.end();
  module.thunk("jump", 0x30, 6);
  module.end();
  module.lines(0, 0x20, module.file(1), {{8, 4}, {0, 3}});
  write(corpus / "pdb_module_fuzz" / "others", parts(module));

  const std::vector<std::byte> portable = sample_portable_pdb().build();
  write(corpus / "portable_pdb_fuzz" / "plain", portable);
  // The PDB is embedded in an image as deflate that is stored, not compressed.
  const std::size_t length = portable.size();
  write(corpus / "portable_pdb_fuzz" / "embedded", ByteWriter()
                                                       .u32(0x4244504D)
                                                       .u32(length)
                                                       .u8(1)
                                                       .u16(length)
                                                       .u16(~length)
                                                       .append(portable)
                                                       .bytes());

  for (const unsigned kind_bits : {7u, 8u}) {
    const NativeAotBuilder built = sample_native_aot(0x5000, kind_bits);
    const auto metadata = built.metadata();
    const auto input =
        ByteWriter().u8(kind_bits - 7).u16(metadata.size()).append(metadata).append(built.map()).bytes();
    write(corpus / "native_aot_fuzz" / ("methods" + std::to_string(kind_bits)), input);
    const ReflectionSample sample = sample_reflection(0x6000, kind_bits);
    ByteWriter reflection;
    reflection.u8(2 + kind_bits - 7).u16(sample.metadata.size()).append(sample.metadata);
    reflection.u16(sample.types.size()).u16(sample.methods.size());
    reflection.append(sample.types).append(sample.methods).append(sample.references);
    write(corpus / "native_aot_fuzz" / ("reflection" + std::to_string(kind_bits)), reflection.bytes());
  }
}

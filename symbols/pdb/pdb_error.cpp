#include "symbols/pdb/pdb_error.h"

#include "unmanaged/enum_texts.h"

namespace mixwalk {

std::string_view to_string(PdbError error) noexcept {
  static constexpr EnumTexts<PdbError::fast_link> kTexts{
      "no error",
      "the file is no PDB",
      "the PDB is compressed (MSFZ); mixwalk reads the plain form that the linker writes",
      "the file is a portable PDB, which says nothing of native code",
      "the PDB is cut off, or its streams lie beyond its end",
      "the streams of the PDB are longer than the PDB",
      "the PDB has no GUID and age",
      "the PDB has no debug information, or an old kind of it",
      "the image names no PDB",
      "the PDB was not found",
      "the PDB belongs to another image (its GUID differs)",
      "the PDB belongs to another link of the image (its age differs)",
      "neither the PDB nor the image says where its sections lie",
      "the image was rearranged after the link (OMAP), so only the PDB's public symbols are used, without lines",
      "the PDB has only public symbols, without lines: link with /DEBUG:FULL instead of /DEBUG:FASTLINK"};
  return kTexts.of(error, "unknown error");
}

}  // namespace mixwalk

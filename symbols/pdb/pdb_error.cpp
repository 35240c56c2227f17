#include "symbols/pdb/pdb_error.h"

namespace mixwalk {

std::string_view to_string(PdbError error) noexcept {
  switch (error) {
    case PdbError::none:
      return "no error";
    case PdbError::not_a_pdb:
      return "the file is no PDB";
    case PdbError::portable:
      return "the file is a portable PDB, which says nothing of native code";
    case PdbError::damaged_container:
      return "the PDB is cut off, or its streams lie beyond its end";
    case PdbError::shared_blocks:
      return "the streams of the PDB are longer than the PDB";
    case PdbError::no_info:
      return "the PDB has no GUID and age";
    case PdbError::no_debug_info:
      return "the PDB has no debug information, or an old kind of it";
    case PdbError::no_image_id:
      return "the image names no PDB";
    case PdbError::missing:
      return "the PDB was not found";
    case PdbError::other_guid:
      return "the PDB belongs to another image (its GUID differs)";
    case PdbError::other_age:
      return "the PDB belongs to another link of the image (its age differs)";
    case PdbError::rearranged:
      return "the image was rearranged after the link (OMAP)";
    case PdbError::no_sections:
      return "neither the PDB nor the image says where its sections lie";
  }
  return "unknown error";
}

}  // namespace mixwalk

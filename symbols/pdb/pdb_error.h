#pragma once

#include <cstdint>
#include <string_view>

namespace mixwalk {

// The reason why a PDB gives no symbols.
enum class PdbError : std::uint8_t {
  none,
  not_a_pdb,          // not an MSF 7.00 container: another file, or a PDB from before 2000
  compressed,         // an MSFZ container, which is compressed
  portable,           // a portable PDB, which has no symbols of native code
  damaged_container,  // the directory of streams, or a stream, lies beyond the end of the file
  shared_blocks,      // the streams together are longer than the file
  no_info,            // the stream with GUID and age is missing or cut off
  no_debug_info,      // the DBI stream is missing, cut off, or from before Visual C++ 7
  no_image_id,        // the image names no PDB
  missing,            // no file with that name was found
  other_guid,         // made for another image
  other_age,          // made for another link of this image
  no_sections,        // nothing says where the image's sections lie
  // What OpenedPdb::lacks can be: the PDB gives the names of its public symbols only.
  rearranged,         // the image, and with it its addresses, was rearranged after the link (OMAP)
  fast_link,          // the other symbols are in the object files (/DEBUG:FASTLINK)
};
// Returns one line without a full stop.
std::string_view to_string(PdbError error) noexcept;

}  // namespace mixwalk

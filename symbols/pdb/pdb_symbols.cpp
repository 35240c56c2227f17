#include "symbols/pdb/pdb_symbols.h"

#include <utility>

#include "symbols/pdb/pdb_reader.h"

namespace mixwalk {
namespace {

OpenedPdb open(std::shared_ptr<const PdbBytes> pdb, std::shared_ptr<const ImageFile> image, const CodeViewId& id,
               std::uint32_t size_of_image) {
  MsfFile msf = MsfFile::parse(pdb->get());
  if (msf.error() != PdbError::none) return {nullptr, msf.error()};
  const auto info = read_pdb_info(msf);
  if (!info) return {nullptr, PdbError::no_info};
  if (info->guid != id.guid) return {nullptr, PdbError::other_guid};
  auto dbi = read_dbi(msf);
  if (!dbi) return {nullptr, PdbError::no_debug_info};
  // Folklore: tools that add sources to a PDB increment the age in its info stream, but the image keeps the age of the
  // link. The DBI stream keeps the age of the link as well.
  if (id.age != dbi->age && id.age != info->age) return {nullptr, PdbError::other_age};
  if (dbi->sections.empty()) return {nullptr, PdbError::no_sections};
  const PdbError lacks = !dbi->rearranged.empty() ? PdbError::rearranged
                         : info->fast_link        ? PdbError::fast_link
                                                  : PdbError::none;
  auto reader = std::make_unique<PdbReader>(std::move(pdb), std::move(image), std::move(msf), *info, std::move(*dbi));
  auto units = reader->units();
  return {std::make_unique<LazyIndex>(std::move(units), std::move(reader), size_of_image),
          PdbError::none, lacks};
}

}  // namespace

OpenedPdb open_pdb(std::shared_ptr<const PdbBytes> pdb, std::shared_ptr<const ImageFile> image) {
  const auto id = code_view_id(debug_directory(image->bytes), false);
  if (!id) return {nullptr, PdbError::no_image_id};
  const std::uint32_t size_of_image = image->image.size_of_image();
  return open(std::move(pdb), std::move(image), *id, size_of_image);
}

OpenedPdb open_pdb(std::shared_ptr<const PdbBytes> pdb, const CodeViewId& id, std::uint32_t size_of_image) {
  if (id.portable) return {nullptr, PdbError::no_image_id};
  return open(std::move(pdb), nullptr, id, size_of_image);
}

}  // namespace mixwalk

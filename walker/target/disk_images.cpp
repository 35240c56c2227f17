#include "walker/target/disk_images.h"

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/coff_file.h"
#include "unmanaged/image/debug_directory.h"

namespace mixwalk {
namespace {

bool is_image(const std::vector<std::byte>& file, const Module& module) {
  const CoffFile headers = CoffFile::parse(file);
  return headers.error() == PeError::none && headers.timestamp() == module.timestamp &&
         headers.size_of_image() == module.size;
}

}  // namespace

std::optional<std::vector<std::byte>> DiskImages::image(const Module& module) {
  if (auto file = local_.read(module.path); file && is_image(*file, module)) return file;
  for (const std::string& candidate : image_candidates_in_folders(module.path, module.timestamp, module.size, path_)) {
    if (auto file = path_files_.read(candidate); file && is_image(*file, module)) return file;
  }
  return std::nullopt;
}

std::optional<std::vector<std::byte>> DiskImages::fetched_image(const Module& module) {
  auto fetched = fetch_image(servers_, module.path, module.timestamp, module.size);
  if (!fetched) return std::nullopt;
  return std::move(fetched->bytes);
}

std::optional<std::vector<std::byte>> DiskImages::other(const std::string& path) {
  if (auto file = local_.read(path)) return file;
  // PdbFinder looks for PDBs in these folders itself. It would say of each path of the target that a PDB there is not
  // used. Test: WhatIsRefusedSaysWhy.
  if (ascii_lower(path).ends_with(".pdb")) return std::nullopt;
  for (const std::string& candidate : image_candidates_in_folders(path, 0, 0, path_)) {
    if (auto file = path_files_.read(candidate)) return file;
  }
  return std::nullopt;
}

}  // namespace mixwalk

#include "symbols/pdb/pdb_finder.h"

#include <algorithm>
#include <utility>

#include "symbols/portable_pdb/embedded_pdb.h"

namespace mixwalk {
namespace {

class ReadPdb final : public PdbBytes {
 public:
  explicit ReadPdb(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::span<const std::byte> get() const noexcept override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

template <class Use>
void PdbFinder::each_candidate(const std::string& image_path, const CodeViewId& id, Use use) {
  // What the image names itself, its own path among it, is not the user's word.
  const std::vector<std::string> named = pdb_candidates(image_path, id, {});
  for (const std::string& candidate : pdb_candidates(image_path, id, path_)) {
    const bool by_user = std::find(named.begin(), named.end(), candidate) == named.end();
    auto bytes = (by_user ? path_files_ : files_).read(candidate);
    if (bytes && use(std::move(*bytes))) return;
  }
}

OpenedPdb PdbFinder::open(const std::shared_ptr<const ImageFile>& image) {
  const auto id = code_view_id(debug_directory(image->bytes), false);
  if (!id) return {nullptr, PdbError::no_image_id};
  OpenedPdb opened{nullptr, PdbError::missing};
  each_candidate(image->path, *id, [&](std::vector<std::byte> bytes) {
    opened = open_pdb(std::make_shared<ReadPdb>(std::move(bytes)), image);
    return opened.index != nullptr;
  });
  if (opened.index == nullptr) add_missing(*id);
  return opened;
}

PortablePdb::Opened PdbFinder::open_portable(const std::string& image_path,
                                             std::span<const std::byte> image) {
  const auto entries = debug_directory(image);
  const auto id = code_view_id(entries, true);
  if (has_embedded_pdb(entries)) {
    auto pdb = embedded_pdb(entries);
    if (!pdb) return {nullptr, PortablePdbError::bad_embedding};
    return PortablePdb::open(std::move(*pdb), id);
  }
  if (!id) return {nullptr, PortablePdbError::no_image_id};
  PortablePdb::Opened opened{nullptr, PortablePdbError::missing};
  each_candidate(image_path, *id, [&](std::vector<std::byte> bytes) {
    opened = PortablePdb::open(std::move(bytes), id);
    return opened.pdb != nullptr;
  });
  if (opened.pdb == nullptr) add_missing(*id);
  return opened;
}

void PdbFinder::add_missing(const CodeViewId& id) {
  const std::string_view name = file_name(id.path);
  if (!is_file_name(name)) return;  // no tool can fetch that
  const MissingPdb missing{std::string(name), symbol_store_id(id)};
  if (std::find(missing_.begin(), missing_.end(), missing) == missing_.end()) missing_.push_back(missing);
}

}  // namespace mixwalk

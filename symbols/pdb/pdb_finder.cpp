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

// Whether a PDB is the image's own, even if it gives no symbols.
bool is_own(PdbError error) {
  return error == PdbError::none || error == PdbError::no_debug_info || error == PdbError::no_sections;
}
bool is_own(PortablePdbError error) { return error == PortablePdbError::none; }

}  // namespace

template <class Opened>
void PdbFinder::add_lacks(const std::string& path, const Opened& opened) {
  if constexpr (requires { opened.lacks; }) {
    if (opened.lacks != PdbError::none) add_problem(path + ": " + std::string(to_string(opened.lacks)));
  }
}

template <class Use>
void PdbFinder::each_candidate(const std::string& image_path, const CodeViewId& id, Use use) {
  // The user chose the folders, but not the paths that come from the image, including its own path.
  CodeViewId without_folder = id;
  without_folder.path = file_name(id.path);
  const std::vector<std::string> in_folders = pdb_candidates({}, without_folder, path_);
  for (const std::string& candidate : pdb_candidates(image_path, id, path_)) {
    const bool by_user = std::find(in_folders.begin(), in_folders.end(), candidate) != in_folders.end();
    auto bytes = (by_user ? path_files_ : files_).read(candidate);
    if (bytes && use(candidate, std::move(*bytes))) return;
  }
}

template <class Opened, class Open>
Opened PdbFinder::open_first(const std::string& image_path, const CodeViewId& id, Opened opened, Open open,
                             std::string checksums) {
  bool found = false;
  each_candidate(image_path, id, [&](const std::string& path, std::vector<std::byte> bytes) {
    opened = open(std::move(bytes));
    found = opened.error == decltype(opened.error)::none;
    if (!found) add_problem("not used: " + path + ": " + std::string(to_string(opened.error)));
    add_lacks(path, opened);
    return found;
  });
  if (!found && servers_ != nullptr) found = open_fetched(id, opened, open, std::move(checksums));
  if (!found) add_missing(id);
  return opened;
}

template <class Opened, class Open>
bool PdbFinder::open_fetched(const CodeViewId& id, Opened& opened, Open open, std::string checksums) {
  const auto check = [&](std::span<const std::byte> bytes) -> std::string {
    opened = open(std::vector<std::byte>(bytes.begin(), bytes.end()));
    return is_own(opened.error) ? std::string() : std::string(to_string(opened.error));
  };
  const StoreKey key{std::string(file_name(id.path)), symbol_store_id(id), std::move(checksums)};
  const auto fetched = servers_->fetch(key, check);
  if (fetched) add_lacks(fetched->path, opened);
  return fetched && opened.error == decltype(opened.error)::none;
}

OpenedPdb PdbFinder::open(const std::shared_ptr<const ImageFile>& image) {
  const auto id = code_view_id(debug_directory(image->bytes), false);
  if (!id) return {nullptr, PdbError::no_image_id};
  return open_first(image->path, *id, OpenedPdb{nullptr, PdbError::missing}, [&](std::vector<std::byte> bytes) {
    return open_pdb(std::make_shared<ReadPdb>(std::move(bytes)), image);
  });
}

OpenedPdb PdbFinder::open(const LoadedImage& image) {
  if (!image.code_view || image.code_view->portable) return {nullptr, PdbError::no_image_id};
  const CodeViewId& id = *image.code_view;
  return open_first(image.path, id, OpenedPdb{nullptr, PdbError::missing}, [&](std::vector<std::byte> bytes) {
    return open_pdb(std::make_shared<ReadPdb>(std::move(bytes)), id, image.size);
  });
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
  return open_portable(image_path, *id, pdb_checksums(entries));
}

PortablePdb::Opened PdbFinder::open_portable(const std::string& image_path, const CodeViewId& id,
                                             std::span<const PdbChecksum> checksums) {
  const auto open = [&](std::vector<std::byte> bytes) { return PortablePdb::open(std::move(bytes), id, checksums); };
  return open_first(image_path, id, PortablePdb::Opened{nullptr, PortablePdbError::missing}, open,
                    checksums_text(checksums));
}

void PdbFinder::add_problem(std::string text) {
  if (std::find(problems_.begin(), problems_.end(), text) == problems_.end()) problems_.push_back(std::move(text));
}

void PdbFinder::add_missing(const CodeViewId& id) {
  const std::string_view name = file_name(id.path);
  if (!is_file_name(name)) return;  // no tool can fetch such a name
  const MissingPdb missing{std::string(name), symbol_store_id(id)};
  if (std::find(missing_.begin(), missing_.end(), missing) == missing_.end()) missing_.push_back(missing);
}

}  // namespace mixwalk

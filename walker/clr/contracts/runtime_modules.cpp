#include "walker/clr/contracts/runtime_modules.h"

#include <algorithm>
#include <utility>

#include "symbols/metadata/image_metadata.h"

namespace mixwalk {
namespace {

// How many modules are kept. A large program has some thousand.
constexpr std::size_t kMaxModules = 10'000;
// The limit for the metadata of a module that the program made, in bytes.
constexpr std::uint32_t kMaxDynamicMetadata = 256u << 20;

std::optional<MetadataNames> names_of(std::optional<MetadataTables> tables) {
  return tables ? std::optional(MetadataNames(std::move(*tables))) : std::nullopt;
}

}  // namespace

// The content of an image that a dump lacks is in its file. If the image is for x64, the target reads it itself
// (ImageBackedMemory); but assemblies for any processor have 32-bit headers.
RuntimeModules::Metadata RuntimeModules::read_file(std::uint64_t image_base) const {
  if (target_ == nullptr) return {};
  const auto module = std::ranges::find(target_->modules(), image_base, &Module::base);
  auto bytes = module != target_->modules().end() ? target_->file_of(*module) : std::nullopt;
  if (!bytes) return {};
  const auto file = std::make_shared<const FileMemory>(std::move(*bytes));
  return {file, names_of(metadata_of_image(file->memory, 0))};
}

RuntimeModules::Metadata RuntimeModules::read_metadata(std::uint64_t module) const {
  const auto base = reader_.field(module, "Module", "Base");
  if (base.value_or(0) != 0) {
    auto names = names_of(metadata_of_image(reader_.memory(), *base));
    return names ? Metadata{nullptr, std::move(names)} : read_file(*base);
  }
  const auto dynamic = reader_.field(module, "Module", "DynamicMetadata");
  const auto bytes = dynamic ? reader_.field<std::uint32_t>(*dynamic, "DynamicMetadata", "Size") : std::nullopt;
  const auto data = dynamic ? reader_.address_of(*dynamic, "DynamicMetadata", "Data") : std::nullopt;
  if (!bytes || !data || *bytes > kMaxDynamicMetadata) return {};
  return {nullptr, names_of(metadata_at(reader_.memory(), *data, *bytes))};
}

const MetadataNames* RuntimeModules::metadata_of(std::uint64_t module) {
  auto known = metadata_.find(module);
  if (known == metadata_.end()) {
    if (metadata_.size() == kMaxModules) return nullptr;
    known = metadata_.emplace(module, read_metadata(module)).first;
  }
  return known->second.names ? &*known->second.names : nullptr;
}

std::string RuntimeModules::path_of(std::uint64_t module) const {
  const auto path = reader_.field(module, "Module", "Path");
  return path.value_or(0) != 0 ? reader_.utf16(*path) : std::string();
}

const Assembly* RuntimeModules::assembly_of(std::uint64_t module) {
  const auto known = assemblies_.find(module);
  if (known != assemblies_.end()) return known->second ? &*known->second : nullptr;
  if (assemblies_.size() == kMaxModules) assemblies_.clear();
  std::optional<Assembly>& kept = assemblies_[module];
  const MetadataNames* const names = metadata_of(module);
  const auto mvid = names != nullptr ? names->mvid() : std::nullopt;
  if (!mvid) return nullptr;
  const auto base = reader_.field(module, "Module", "Base");
  kept = Assembly{.path = path_of(module), .mvid = *mvid};
  auto pdb = base.value_or(0) != 0 ? portable_pdb_of_image(reader_.memory(), *base) : std::nullopt;
  const auto& file = metadata_.find(module)->second.file;
  if (!pdb && file) pdb = portable_pdb_of_image(file->memory, 0);
  if (pdb) {
    kept->pdb = std::move(pdb->id);
    kept->pdb_checksums = std::move(pdb->checksums);
  }
  kept->optimised = may_be_optimised(names->assembly_attribute("System.Diagnostics.DebuggableAttribute"));
  return &*kept;
}

std::vector<std::string> RuntimeModules::without_metadata() const {
  std::vector<std::string> files;
  for (const auto& [module, metadata] : metadata_) {
    const std::string path = metadata.names ? std::string() : path_of(module);
    if (!path.empty()) files.push_back(path.substr(path.find_last_of("\\/") + 1));
  }
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

}  // namespace mixwalk

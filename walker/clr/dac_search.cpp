#include "walker/clr/dac_search.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/exports_name.h"
#include "unmanaged/image/pe_image.h"

namespace mixwalk {
namespace {

constexpr std::string_view kDacName = "mscordaccore.dll";

std::string_view folder_of(std::string_view path) {
  const auto last = path.find_last_of("\\/");
  return last == std::string_view::npos ? std::string_view() : path.substr(0, last);
}

std::string needed(const RuntimeIdentity& runtime) {
  const bool known = runtime.version != FileVersion{};
  return (known ? "runtime " + to_string(runtime.version) : std::string("this runtime")) + " needs " +
         std::string(kDacName) + " " + store_key(runtime.dac);
}

// The stamp of an image file. Returns nothing if the file cannot be read, or is not an x64 image.
std::optional<DacStamp> stamp_of(ImageFiles& files, const std::string& path) {
  const auto bytes = files.read(path);
  if (!bytes) return std::nullopt;
  const PeImage image = PeImage::parse(*bytes);
  if (image.error() != PeError::none) return std::nullopt;
  return DacStamp{image.timestamp(), image.size_of_image()};
}

}  // namespace

const Module* runtime_image(std::span<const Module> modules, const MemoryReader& memory) {
  // As in find_runtime(). An image that a dump does not contain may be loaded from a server when it is read, so no
  // image is read without need.
  auto found = std::ranges::find_if(
      modules, [](const Module& module) { return ascii_lower(module_name(module)) == "coreclr.dll"; });
  if (found == modules.end()) {
    found = std::ranges::find_if(modules, [&](const Module& module) {
      return ascii_lower(module_name(module)).ends_with(".exe") &&
             exports_name(memory, module.base, kRuntimeInSingleFile);
    });
  }
  return found == modules.end() ? nullptr : &*found;
}

std::vector<StoreKey> dac_keys(const Module& runtime, const RuntimeIdentity& identity) {
  const std::string of_runtime = image_store_id(runtime.timestamp, runtime.size);
  std::vector<StoreKey> keys = {{std::string(kDacName), image_store_id(identity.dac.timestamp, identity.dac.size)},
                                {std::string(kDacName), of_runtime}};
  if (const FileVersion& version = identity.version; version != FileVersion{}) {
    std::array<char, 64> name;
    const int length = std::snprintf(name.data(), name.size(), "mscordaccore_amd64_amd64_%u.%u.%u.%02u.dll",
                                     unsigned{version.major}, unsigned{version.minor}, unsigned{version.build},
                                     unsigned{version.revision});
    keys.push_back({{name.data(), static_cast<std::size_t>(length)}, of_runtime});
  }
  return keys;
}

std::vector<std::string> dac_candidates(const Module& runtime, const RuntimeIdentity& identity,
                                        const DacSettings& settings) {
  if (!settings.dac.empty()) return {settings.dac};
  std::vector<std::string> candidates;
  const auto add = [&](std::string path) {
    if (std::ranges::find(candidates, path) == candidates.end()) candidates.push_back(std::move(path));
  };
  if (const auto folder = folder_of(runtime.path); is_on_drive(folder)) add(join_path(folder, kDacName));
  for (const std::string& folder : settings.installed) add(join_path(folder, kDacName));
  const std::vector<StoreKey> keys = dac_keys(runtime, identity);
  for (const SymbolPath::Folder& folder : settings.symbol_path.folders) {
    if (!folder.store) add(join_path(folder.path, kDacName));
    for (const StoreKey& key : keys) {
      for (std::string& path : store_paths(folder, key.name, key.id)) add(std::move(path));
    }
  }
  return candidates;
}

Outcome<std::string> find_dac(const Module& module, const RuntimeIdentity& runtime, const DacSettings& settings,
                              ImageFiles& files, FileSignatures& signatures) {
  const bool chosen = !settings.dac.empty();
  std::string refused;
  // Returns whether the signature of a fitting library is good.
  const auto is_trusted = [&](const std::string& path) {
    const std::string doubt = chosen ? std::string() : signatures.doubt(path);
    if (!doubt.empty()) {
      refused = path + " is not trusted: " + doubt + "; --dac " + path + " says that it may be loaded";
    }
    return doubt.empty();
  };
  for (const std::string& path : dac_candidates(module, runtime, settings)) {
    const auto stamp = stamp_of(files, path);
    if (!stamp) {
      if (chosen) refused = path + " cannot be read, or is no x64 image";
      continue;
    }
    if (*stamp != runtime.dac) {
      if (refused.empty()) refused = path + " is of another build, " + store_key(*stamp);
      continue;
    }
    if (is_trusted(path)) return path;
  }
  if (!chosen && settings.servers != nullptr) {
    for (const StoreKey& key : dac_keys(module, runtime)) {
      const auto fetched = settings.servers->fetch(key, image_check(runtime.dac.timestamp, runtime.dac.size));
      if (fetched && is_trusted(fetched->path)) return fetched->path;
    }
  }
  if (refused.empty()) {
    refused = "none was found beside the runtime, among installed runtimes or in --symbol-path";
  }
  return Failure{ExitCode::internal, needed(runtime) + ": " + refused};
}

}  // namespace mixwalk

#include "walker/clr/dac_search.h"

#include <algorithm>
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
  const auto found = std::ranges::find_if(modules, [&](const Module& module) {
    return ascii_lower(module_name(module)) == "coreclr.dll" ||
           exports_name(memory, module.base, kRuntimeInSingleFile);
  });
  return found == modules.end() ? nullptr : &*found;
}

std::vector<std::string> dac_candidates(std::string_view runtime_path, const DacStamp& stamp,
                                        const DacSettings& settings) {
  if (!settings.dac.empty()) return {settings.dac};
  std::vector<std::string> candidates;
  const auto add = [&](std::string path) {
    if (std::ranges::find(candidates, path) == candidates.end()) candidates.push_back(std::move(path));
  };
  if (const auto folder = folder_of(runtime_path); is_on_drive(folder)) add(join_path(folder, kDacName));
  for (const std::string& folder : settings.installed) add(join_path(folder, kDacName));
  for (const SymbolPath::Folder& folder : settings.symbol_path.folders) {
    if (!folder.store) add(join_path(folder.path, kDacName));
    add(join_path(join_path(join_path(folder.path, kDacName), store_key(stamp)), kDacName));
  }
  return candidates;
}

Outcome<std::string> find_dac(std::string_view runtime_path, const RuntimeIdentity& runtime,
                              const DacSettings& settings, ImageFiles& files, FileSignatures& signatures) {
  const bool chosen = !settings.dac.empty();
  std::string refused;
  for (const std::string& path : dac_candidates(runtime_path, runtime.dac, settings)) {
    const auto stamp = stamp_of(files, path);
    if (!stamp) {
      if (chosen) refused = path + " cannot be read, or is no x64 image";
      continue;
    }
    if (*stamp != runtime.dac) {
      if (refused.empty()) refused = path + " is of another build, " + store_key(*stamp);
      continue;
    }
    const std::string doubt = chosen ? std::string() : signatures.doubt(path);
    if (doubt.empty()) return path;
    refused = path + " is not trusted: " + doubt + "; --dac " + path + " says that it may be loaded";
  }
  if (refused.empty()) refused = "none was found beside the runtime, among installed runtimes or in --symbol-path";
  return Failure{ExitCode::internal, needed(runtime) + ": " + refused};
}

}  // namespace mixwalk

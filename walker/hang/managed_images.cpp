#include "walker/hang/managed_images.h"

#include <algorithm>
#include <array>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

// The folders that contain the frameworks that programs share.
constexpr std::array<std::string_view, 4> kFolders = {
    "\\shared\\microsoft.netcore.app\\", "\\shared\\microsoft.aspnetcore.app\\",
    "\\shared\\microsoft.windowsdesktop.app\\", "\\microsoft.net\\framework64\\"};

// Names of the shared frameworks (Microsoft.NETCore.App, AspNetCore.App, WindowsDesktop.App of .NET 8 to 10), and of
// packages by the same makers. "system." matches all names that begin with it.
constexpr std::array<std::string_view, 8> kBeginnings = {
    "system.", "microsoft.aspnetcore.", "microsoft.extensions.", "microsoft.entityframeworkcore.", "microsoft.data.",
    "presentationframework", "uiautomation", "microsoft.visualbasic."};
constexpr std::array<std::string_view, 18> kNames = {"system",
                                                     "mscorlib",
                                                     "netstandard",
                                                     "windowsbase",
                                                     "microsoft.aspnetcore",
                                                     "microsoft.csharp",
                                                     "microsoft.entityframeworkcore",
                                                     "microsoft.jsinterop",
                                                     "microsoft.net.http.headers",
                                                     "microsoft.visualbasic",
                                                     "microsoft.win32.primitives",
                                                     "microsoft.win32.registry",
                                                     "microsoft.win32.systemevents",
                                                     "presentationcore",
                                                     "reachframework",
                                                     "windowsformsintegration",
                                                     "accessibility",
                                                     "directwriteforwarder"};

std::string_view folder_of(std::string_view path) {
  const std::size_t at = path.rfind('\\');
  return at == std::string_view::npos ? std::string_view() : path.substr(0, at + 1);
}

// "orders" for "c:\orders\orders.dll", and also for a native image "orders.ni.exe". Empty if it is not an image's name.
std::string_view stem_of(std::string_view path) {
  std::string_view name = path.substr(folder_of(path).size());
  if (!name.ends_with(".dll") && !name.ends_with(".exe")) return {};
  name.remove_suffix(4);
  if (name.ends_with(".ni")) name.remove_suffix(3);
  return name;
}

bool is_known(std::string_view stem) {
  return std::ranges::find(kNames, stem) != kNames.end() ||
         std::ranges::any_of(kBeginnings, [&](std::string_view begin) { return stem.starts_with(begin); });
}

}  // namespace

std::string comparable_path(std::string_view path) {
  std::string text = ascii_lower(path);
  std::ranges::replace(text, '/', '\\');
  return text;
}

ManagedImages::ManagedImages(const Snapshot& snapshot, const std::vector<bool>& runtime)
    : program_(comparable_path(snapshot.process.path)) {
  program_stem_ = stem_of(program_);
  single_file_ = std::ranges::find(runtime, true) == runtime.end();  // NativeAOT
  for (std::size_t i = 0; i < runtime.size(); ++i) {
    if (!runtime[i]) continue;
    const std::string path = comparable_path(snapshot.modules[i].path);
    single_file_ = single_file_ || path == program_;
    if (stem_of(path) == "coreclr" && folder_of(path) != folder_of(program_)) runtime_folder_ = folder_of(path);
  }
}

CodeOwner ManagedImages::owner_of(std::string_view path) const {
  const std::string image = comparable_path(path);
  const std::string_view stem = stem_of(image);
  if (stem.empty()) return CodeOwner::unknown;
  if (image == program_) return single_file_ ? CodeOwner::unknown : CodeOwner::program;
  if (stem == program_stem_) return CodeOwner::program;  // orders.dll, which orders.exe starts
  if (!runtime_folder_.empty() && folder_of(image) == runtime_folder_) return CodeOwner::dotnet;
  const bool shared = std::ranges::any_of(
      kFolders, [&](std::string_view folder) { return image.find(folder) != std::string::npos; });
  return shared || is_known(stem) ? CodeOwner::dotnet : CodeOwner::program;
}

}  // namespace mixwalk

#include "walker/target/runtime_version.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/exports_name.h"
#include "unmanaged/image/image_headers.h"
#include "walker/target/dac_identity.h"

namespace mixwalk {
namespace {

constexpr unsigned kResourceTable = 2;
constexpr std::size_t kMaxResources = 1 << 20;

// "ProductVersion" followed by its value, in UTF-16: a String of VS_VERSIONINFO. The value is aligned to four bytes.
// (Microsoft Learn, "VS_VERSIONINFO structure".) The text is searched for; the tree of resources is not followed.
std::string product_version(const std::vector<std::byte>& resources) {
  constexpr std::string_view kKey = "ProductVersion";
  std::vector<std::byte> key;
  for (const char c : kKey) key.insert(key.end(), {static_cast<std::byte>(c), std::byte{0}});
  auto at = std::search(resources.begin(), resources.end(), key.begin(), key.end());
  if (at == resources.end()) return {};
  at += static_cast<std::ptrdiff_t>(key.size());
  std::string text;
  for (; resources.end() - at >= 2 && text.size() < 64; at += 2) {
    const auto c = static_cast<char>(at[0]);
    if (c == '\0' && at[1] == std::byte{0}) {
      if (!text.empty()) break;
      continue;
    }
    text += c;
  }
  return text;
}

// In .NET, a file's third version number consists of the servicing release and two digits of the year.
void to_release(Runtime& runtime) {
  if (runtime.name != ".NET") return;
  runtime.build /= 100;
  runtime.revision = 0;
}

// Parses "8.0.31+COMMIT", or the numbers of the file: "8,0,3125,27210 @Commit: …" (.NET), "4.8.9181.0" (.NET
// Framework).
void read_numbers(std::string_view text, Runtime& runtime) {
  std::uint16_t* const numbers[] = {&runtime.major, &runtime.minor, &runtime.build, &runtime.revision};
  std::size_t which = 0;
  for (const char c : text) {
    if (c == '.' || c == ',') {
      if (++which == 4) break;
    } else if (c >= '0' && c <= '9') {
      *numbers[which] = static_cast<std::uint16_t>(*numbers[which] * 10 + (c - '0'));
    } else {
      break;
    }
  }
  if (which >= 3) to_release(runtime);
}

// Reads the version of the runtime inside a program, because the program's resources have the version of the program.
bool read_version_of_export(const Module& module, const MemoryReader& memory, Runtime& runtime) {
  const auto identity = read_runtime_identity(memory, module.base);
  if (!identity || identity->version == FileVersion()) return false;
  const FileVersion& version = identity->version;
  runtime.major = version.major, runtime.minor = version.minor;
  runtime.build = version.build, runtime.revision = version.revision;
  to_release(runtime);
  return true;
}

void read_version(const Module& module, const MemoryReader& memory, Runtime& runtime) {
  const auto headers = ImageHeaders::read(memory, module.base);
  if (!headers) return;
  const ImageHeaders::Directory directory = headers->directory(kResourceTable);
  std::vector<std::byte> resources(std::min<std::size_t>(directory.bytes, kMaxResources));
  resources.resize(memory.read_up_to(module.base + directory.rva, resources.data(), resources.size()));
  read_numbers(product_version(resources), runtime);
}

}  // namespace

Runtime find_runtime(std::span<const Module> modules, const MemoryReader& memory) {
  const auto named = [&](std::string_view name) {
    return std::find_if(modules.begin(), modules.end(),
                        [&](const Module& module) { return ascii_lower(module_name(module)) == name; });
  };
  Runtime runtime{.name = ".NET"};
  auto found = named("coreclr.dll");
  if (found == modules.end()) {
    found = std::find_if(modules.begin(), modules.end(), [&](const Module& module) {
      return ascii_lower(module_name(module)).ends_with(".exe") &&
             exports_name(memory, module.base, kRuntimeInSingleFile);
    });
    if (found != modules.end() && read_version_of_export(*found, memory, runtime)) return runtime;
  }
  if (found == modules.end()) {
    found = named("clr.dll");
    runtime.name = ".NET Framework";
  }
  if (found == modules.end()) return {};
  read_version(*found, memory, runtime);
  return runtime;
}

}  // namespace mixwalk

#include "symbols/server/cabinet.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <fdi.h>

#include <cstdlib>

namespace mixwalk {
namespace {

// A file in a cabinet may claim any size. This is the limit for reading one (DiskImageFiles::kMaxImageBytes).
constexpr std::uint64_t kMaxBytes = 1ull << 30;

// The functions of cabinet.dll get no context when they open a file, so it is here. One cabinet at a time.
const std::filesystem::path* g_cabinet = nullptr;
std::uint64_t g_written = 0;

void* DIAMONDAPI allocate(ULONG bytes) { return std::malloc(bytes); }
void DIAMONDAPI release(void* memory) { std::free(memory); }
// The only file that is opened is the cabinet, whatever name is asked for.
INT_PTR DIAMONDAPI open_cabinet(char*, int, int) { return _wopen(g_cabinet->c_str(), _O_RDONLY | _O_BINARY); }
UINT DIAMONDAPI read_file(INT_PTR file, void* into, UINT bytes) {
  return static_cast<UINT>(_read(static_cast<int>(file), into, bytes));
}
UINT DIAMONDAPI write_file(INT_PTR file, void* from, UINT bytes) {
  g_written += bytes;
  if (g_written > kMaxBytes) return 0;
  return static_cast<UINT>(_write(static_cast<int>(file), from, bytes));
}
int DIAMONDAPI close_file(INT_PTR file) { return _close(static_cast<int>(file)); }
long DIAMONDAPI seek_file(INT_PTR file, long distance, int from) {
  return _lseek(static_cast<int>(file), distance, from);
}

struct Expansion {
  const std::filesystem::path& file;
  bool begun = false, done = false;
};

INT_PTR DIAMONDAPI on_content(FDINOTIFICATIONTYPE type, FDINOTIFICATION* about) {
  auto& expansion = *static_cast<Expansion*>(about->pv);
  switch (type) {
    case fdintCOPY_FILE:
      if (expansion.begun) return 0;  // only the first file counts
      expansion.begun = true;
      return _wopen(expansion.file.c_str(), _O_WRONLY | _O_CREAT | _O_TRUNC | _O_BINARY, _S_IREAD | _S_IWRITE);
    case fdintCLOSE_FILE_INFO:
      expansion.done = _close(static_cast<int>(about->hf)) == 0;
      return TRUE;
    case fdintNEXT_CABINET: return -1;  // the rest would be in another file
    default: return 0;
  }
}

}  // namespace

// All versions of Windows have cabinet.dll.
std::string cabinet_obstacle() { return {}; }

std::string expand_cabinet(const std::filesystem::path& cabinet, const std::filesystem::path& file) {
  const HMODULE library = LoadLibraryExW(L"cabinet.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  const auto function = [&](const char* name) { return reinterpret_cast<void*>(GetProcAddress(library, name)); };
  const auto create = reinterpret_cast<decltype(&FDICreate)>(library != nullptr ? function("FDICreate") : nullptr);
  const auto copy = reinterpret_cast<decltype(&FDICopy)>(library != nullptr ? function("FDICopy") : nullptr);
  const auto destroy = reinterpret_cast<decltype(&FDIDestroy)>(library != nullptr ? function("FDIDestroy") : nullptr);
  if (create == nullptr || copy == nullptr || destroy == nullptr) return "it is compressed, and cabinet.dll is missing";
  g_cabinet = &cabinet;
  g_written = 0;
  ERF error{};
  const HFDI fdi =
      create(&allocate, &release, &open_cabinet, &read_file, &write_file, &close_file, &seek_file, cpuUNKNOWN, &error);
  Expansion expansion{file};
  char name[] = "cabinet", folder[] = "";
  const bool copied = fdi != nullptr && copy(fdi, name, folder, 0, &on_content, nullptr, &expansion);
  if (fdi != nullptr) destroy(fdi);
  g_cabinet = nullptr;
  return copied && expansion.done ? "" : "it is no whole cabinet, or cannot be expanded";
}

}  // namespace mixwalk

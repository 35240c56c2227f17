#include "symbols/server/cabinet.h"

#include <dlfcn.h>
#include <sys/types.h>

#include <cstdint>

namespace mixwalk {
namespace {

// The limit for reading a file (DiskImageFiles::kMaxImageBytes).
constexpr unsigned kMaxBytes = 1u << 30;
constexpr const char* kLibrary = "libmspack.so.0";

// The declarations of libmspack that are used here, whose fields only grow at their ends (mspack.h).
struct CabinetFile {
  CabinetFile* next;
  char* name;
  unsigned bytes;  // expanded
};
struct Cabinet {
  Cabinet* next;
  const char* path;
  off_t begin;
  unsigned bytes;
  Cabinet *before, *after;
  char *name_before, *name_after, *disk_before, *disk_after;
  CabinetFile* files;
};
struct Decompressor {
  Cabinet* (*open)(Decompressor*, const char* path);
  void (*close)(Decompressor*, Cabinet*);
  Cabinet* (*search)(Decompressor*, const char* path);
  int (*append)(Decompressor*, Cabinet*, Cabinet*);
  int (*prepend)(Decompressor*, Cabinet*, Cabinet*);
  int (*extract)(Decompressor*, CabinetFile*, const char* path);  // writes no more than CabinetFile::bytes
};
struct Library {
  Decompressor* (*create)(void* system) = nullptr;
  void (*destroy)(Decompressor*) = nullptr;
};

// libmspack, which a machine may lack. It is loaded when it is first needed, so that mixwalk itself needs no library.
const Library& library() {
  static const Library loaded = [] {
    Library found;
    void* const file = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) return found;
    const auto function = [&](const char* name) { return dlsym(file, name); };
    found.destroy = reinterpret_cast<decltype(found.destroy)>(function("mspack_destroy_cab_decompressor"));
    if (found.destroy == nullptr) return found;
    found.create = reinterpret_cast<decltype(found.create)>(function("mspack_create_cab_decompressor"));
    return found;
  }();
  return loaded;
}

}  // namespace

std::string cabinet_obstacle() {
  if (library().create != nullptr) return {};
  return std::string("it is compressed (a cabinet), and ") + kLibrary +
         " is not installed on this machine (Debian: libmspack0)";
}

std::string expand_cabinet(const std::filesystem::path& path, const std::filesystem::path& file) {
  if (std::string obstacle = cabinet_obstacle(); !obstacle.empty()) return obstacle;
  Decompressor* const decompressor = library().create(nullptr);
  if (decompressor == nullptr) return "libmspack cannot begin";
  bool expanded = false;
  if (Cabinet* const cabinet = decompressor->open(decompressor, path.c_str())) {
    CabinetFile* const first = cabinet->files;
    expanded = first != nullptr && first->bytes <= kMaxBytes &&
               decompressor->extract(decompressor, first, file.c_str()) == 0;
    decompressor->close(decompressor, cabinet);
  }
  library().destroy(decompressor);
  return expanded ? "" : "it is no whole cabinet, or cannot be expanded";
}

}  // namespace mixwalk

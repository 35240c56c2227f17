#include "symbols/server/cabinet.h"

#include <dlfcn.h>
#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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
struct System {
  std::FILE* (*open)(System*, const char* path, int mode);
  void (*close)(std::FILE*);
  int (*read)(std::FILE*, void* into, int bytes);
  int (*write)(std::FILE*, void* from, int bytes);
  int (*seek)(std::FILE*, off_t offset, int from);
  off_t (*tell)(std::FILE*);
  void (*message)(std::FILE*, const char* format, ...);
  void* (*allocate)(System*, std::size_t bytes);
  void (*release)(void*);
  void (*copy)(void* from, void* to, std::size_t bytes);
  void* end;  // null
};
struct Library {
  Decompressor* (*create)(System*) = nullptr;
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

void ignore(std::FILE*, const char*, ...) {}

// What libmspack itself would do with files, without its messages: it prints them, with names from the cabinet, which
// may hold a terminal's escapes.
System& system_of_library() {
  static System system = {
      .open = [](System*, const char* path, int mode) -> std::FILE* {
        constexpr int kRead = 0, kWrite = 1;  // no other ones are used to expand
        return mode == kRead ? std::fopen(path, "rbe") : mode == kWrite ? std::fopen(path, "wbe") : nullptr;
      },
      .close = [](std::FILE* file) { std::fclose(file); },
      .read = [](std::FILE* file, void* into, int bytes) -> int {
        const std::size_t read = std::fread(into, 1, static_cast<std::size_t>(bytes), file);
        return std::ferror(file) != 0 ? -1 : static_cast<int>(read);
      },
      .write = [](std::FILE* file, void* from, int bytes) -> int {
        const std::size_t written = std::fwrite(from, 1, static_cast<std::size_t>(bytes), file);
        return std::ferror(file) != 0 ? -1 : static_cast<int>(written);
      },
      .seek = [](std::FILE* file, off_t offset, int from) -> int {
        constexpr int kFrom[] = {SEEK_SET, SEEK_CUR, SEEK_END};
        return from < 0 || from > 2 ? -1 : fseeko(file, offset, kFrom[from]);
      },
      .tell = [](std::FILE* file) { return ftello(file); },
      .message = ignore,
      .allocate = [](System*, std::size_t bytes) { return std::malloc(bytes); },
      .release = [](void* memory) { std::free(memory); },
      .copy = [](void* from, void* to, std::size_t bytes) { std::memcpy(to, from, bytes); },
      .end = nullptr,
  };
  return system;
}

}  // namespace

std::string cabinet_obstacle() {
  if (library().create != nullptr) return {};
  return std::string("it is compressed (a cabinet), and ") + kLibrary +
         " is not installed on this machine (Debian: libmspack0)";
}

std::string expand_cabinet(const std::filesystem::path& path, const std::filesystem::path& file) {
  if (std::string obstacle = cabinet_obstacle(); !obstacle.empty()) return obstacle;
  Decompressor* const decompressor = library().create(&system_of_library());
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

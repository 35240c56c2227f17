// Prints the names that DbgHelp finds in an image, in the form of pdb_names, to compare them by hand.
// usage: dbghelp_names.exe DBGHELP.DLL IMAGE
// Reads RVAs (hexadecimal) from stdin, one per line. The PDB must lie beside the image. Microsoft's DbgHelp needs
// msdia140.dll beside it only for old PDBs.
#include <windows.h>
// windows.h must come first:
#include <dbghelp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class Function>
Function* entry(HMODULE library, const char* name) {
  auto* const found = reinterpret_cast<Function*>(GetProcAddress(library, name));
  if (found == nullptr) {
    std::fprintf(stderr, "no %s in this DbgHelp\n", name);
    std::exit(1);
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const HMODULE library = LoadLibraryA(argv[1]);
  if (library == nullptr) return 3;
  const HANDLE session = reinterpret_cast<HANDLE>(1);
  const DWORD64 base = 0x180000000;
  entry<decltype(SymSetOptions)>(library, "SymSetOptions")(SYMOPT_LOAD_LINES | SYMOPT_EXACT_SYMBOLS |
                                                           SYMOPT_FAIL_CRITICAL_ERRORS);
  const std::string image = argv[2];
  const std::string folder = image.substr(0, image.find_last_of("\\/"));
  if (!entry<decltype(SymInitialize)>(library, "SymInitialize")(session, folder.c_str(), FALSE)) return 4;
  if (entry<decltype(SymLoadModuleEx)>(library, "SymLoadModuleEx")(session, nullptr, argv[2], nullptr, base,
                                                                   0, nullptr, 0) == 0) {
    return 5;
  }
  IMAGEHLP_MODULE64 module{};
  module.SizeOfStruct = sizeof module;
  entry<decltype(SymGetModuleInfo64)>(library, "SymGetModuleInfo64")(session, base, &module);
  if (module.SymType != SymPdb) {
    std::fprintf(stderr, "no PDB was loaded: kind of symbols %d\n", module.SymType);
    return 6;
  }
  const auto from_address = entry<decltype(SymFromAddr)>(library, "SymFromAddr");
  const auto line_of = entry<decltype(SymGetLineFromAddr64)>(library, "SymGetLineFromAddr64");
  const auto count_inlined = entry<DWORD WINAPI(HANDLE, DWORD64)>(library, "SymAddrIncludeInlineTrace");
  const auto query = entry<BOOL WINAPI(HANDLE, DWORD64, DWORD, DWORD64, DWORD64, LPDWORD, LPDWORD)>(
      library, "SymQueryInlineTrace");
  const auto from_inlined =
      entry<BOOL WINAPI(HANDLE, DWORD64, ULONG, PDWORD64, PSYMBOL_INFO)>(library, "SymFromInlineContext");
  const auto line_of_inlined = entry<BOOL WINAPI(HANDLE, DWORD64, ULONG, DWORD64, PDWORD, PIMAGEHLP_LINE64)>(
      library, "SymGetLineFromInlineContext");

  alignas(SYMBOL_INFO) static char room[sizeof(SYMBOL_INFO) + MAX_SYM_NAME];
  auto* const symbol = reinterpret_cast<SYMBOL_INFO*>(room);
  IMAGEHLP_LINE64 line{};
  DWORD64 behind = 0;
  DWORD line_behind = 0;
  const auto print = [&](bool named, bool placed) {
    std::printf("%s\n%s:%lu\n", named ? symbol->Name : "??", placed ? line.FileName : "",
                placed ? line.LineNumber : 0ul);
  };
  const auto clear = [&] {
    std::memset(room, 0, sizeof(SYMBOL_INFO));
    symbol->SizeOfStruct = sizeof(SYMBOL_INFO);
    symbol->MaxNameLen = MAX_SYM_NAME;
    line = {};
    line.SizeOfStruct = sizeof line;
  };
  char text[64];
  while (std::fgets(text, sizeof text, stdin) != nullptr) {
    const DWORD64 address = base + std::strtoul(text, nullptr, 16);
    const DWORD inlined = count_inlined(session, address);
    DWORD context = 0, frame = 0;
    if (inlined != 0 && query(session, address, 0, address, address, &context, &frame)) {
      for (DWORD i = 0; i < inlined; ++i, ++context) {
        clear();
        const bool named = from_inlined(session, address, context, &behind, symbol);
        print(named, line_of_inlined(session, address, context, 0, &line_behind, &line));
      }
    }
    clear();
    const bool named = from_address(session, address, &behind, symbol);
    print(named, line_of(session, address, &line_behind, &line));
    std::puts("");
  }
}

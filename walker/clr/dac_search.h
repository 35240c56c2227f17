#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/image_files.h"
#include "symbols/server/store_fetch.h"
#include "symbols/symbol_path.h"
#include "walker/base/failure.h"
#include "walker/model/snapshot.h"
#include "walker/target/dac_identity.h"

namespace mixwalk {

// The runtime of a target: coreclr.dll, or a single-file program. If there are several runtimes, this is the one with
// the lowest address; coreclr.dll comes first. Returns null if none of the modules is a runtime.
const Module* runtime_image(std::span<const Module> modules, const MemoryReader& memory);

// The places where the debugging library of a runtime is looked for.
struct DacSettings {
  std::string dac;         // --dac, UTF-8: only this file is used; empty if the library is searched
  SymbolPath symbol_path;  // --symbol-path
  // Folders of installed runtimes, "…\Microsoft.NETCore.App\10.0.12".
  std::vector<std::string> installed;
  StoreFetch* servers = nullptr;  // null: no symbol server is asked
};

// The paths at which the library may be, in the order of the search: beside the runtime, in the folders of installed
// runtimes, in the symbol path (there also in the layout of a symbol store, under each of dac_keys()). With --dac the
// result has only that file. Pure. The first path comes from the target, so that file is read through LocalImageFiles
// only.
std::vector<std::string> dac_candidates(const Module& runtime, const RuntimeIdentity& identity,
                                        const DacSettings& settings);

// Checks whether the system confirms a file's signature. This is necessary because a debugging library is code that
// mixwalk.exe runs, while the target says where the library is.
class FileSignatures {
 public:
  // Returns an empty text if the system confirms that Microsoft made the file, otherwise the reason why not, in one
  // line.
  virtual std::string doubt(const std::string& path) = 0;

 protected:
  ~FileSignatures() = default;
};

// The names and ids under which symbol servers may have the library: its own; the runtime's id; and the name for
// another machine's debugger, also under the runtime's id. (dotnet/symstore,
// docs/specs/SSQP_CLR_Private_Key_Conventions.md) Pure.
std::vector<StoreKey> dac_keys(const Module& runtime, const RuntimeIdentity& identity);

// The path of the only library that fits the runtime: its timestamp and size are those that the runtime names. With
// settings.dac the signature is not checked, since the user has chosen the file. The failure names the version that is
// needed, and the libraries that were found and refused.
Outcome<std::string> find_dac(const Module& module, const RuntimeIdentity& runtime, const DacSettings& settings,
                              ImageFiles& files, FileSignatures& signatures);

}  // namespace mixwalk

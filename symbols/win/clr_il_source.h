#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "symbols/assembly.h"
#include "symbols/win/profiling_api.h"

namespace mixwalk {

// Finds the places of managed functions in their IL, and their assemblies, from the runtime. Not frozen-safe: it
// allocates and takes locks of the runtime, so nothing may be frozen while it is asked, and the caller may hold no
// lock. Answers are cached until forget_code() or clear() is called.
class ClrIlSource {
 public:
  // Neither is owned. `info9` may be null (.NET Framework); then no place is known.
  ClrIlSource(clr::ICorProfilerInfo3* info, clr::ICorProfilerInfo9* info9) : info_(info), info9_(info9) {}

  struct Place {
    std::int32_t assembly = -1;  // its index in assemblies(); -1 if nothing is known
    clr::Token method = 0;
    std::uint32_t offset = 0;  // bytes
  };
  // Returns the place of `ip` in the IL of `function`. `ip` must lie inside an instruction of `function`
  // (CodeAddress::lookup()). `function` must have metadata, so it must not be a dynamic method or a stub.
  const Place& find(clr::FunctionID function, std::uint64_t ip);
  // Returns what is known of the address without asking the runtime; null if nothing is known.
  const Place* known(std::uint64_t ip) const;

  // Called when a module was unloaded, because addresses and ids may then be used again.
  void forget_code();
  // Forgets all assemblies as well.
  void clear();
  // All assemblies that were met since clear().
  std::span<const Assembly> assemblies() const noexcept { return assemblies_; }

 private:
  // The maximum number of remembered places: more than any stack has, and some MiB.
  static constexpr std::size_t kMaxPlaces = 1 << 16;

  Place ask(clr::FunctionID function, std::uint64_t ip);
  bool is_of_file(clr::ModuleID module, clr::Token method) const;
  bool find_offset(clr::FunctionID function, std::uint64_t ip, std::uint32_t& il_offset);
  bool read_map(UINT_PTR start);
  std::int32_t assembly_of(clr::ModuleID module);

  clr::ICorProfilerInfo3* info_;
  clr::ICorProfilerInfo9* info9_;
  std::unordered_map<std::uint64_t, Place> places_;  // by address
  std::unordered_map<clr::ModuleID, std::int32_t> modules_;
  std::vector<Assembly> assemblies_;
  std::vector<IlToNative> map_;  // of the last function that was looked up
};

}  // namespace mixwalk

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "symbols/win/profiling_api.h"

namespace mixwalk {

// Finds the methods to which the stubs of the runtime lead, from the metadata of their modules. Not frozen-safe: it
// allocates and takes locks of the runtime; nothing may be frozen while it is asked, and no lock held. Answers are
// cached until it is told to forget them.
//
// The method is identified by a word of a stack (stub_callees.h). This word may be anything. It is never passed to the
// runtime: it counts only if it is the FunctionID of one of the module's methods to which such a stub can lead, and the
// FunctionIDs of those methods are looked up by their tokens.
class ClrStubTargets {
 public:
  explicit ClrStubTargets(clr::ICorProfilerInfo3* info) : info_(info) {}  // not owned

  enum class Kind : std::uint8_t {
    pinvoke,  // methods with a row in the ImplMap table (ECMA-335 II.22.22)
    com,      // methods of interfaces that were imported (TypeAttributes.Import, II.23.1.15)
  };
  struct Target {
    std::string import;             // for a P/Invoke: "orders!wait_for_reply", UTF-8, as the program declares it
    clr::FunctionID function = 0;   // for a COM call: the interface's method. If this is 0 and there is no import, the
                                    // target is not known
  };
  // Returns the target of a stub of this module.
  const Target& find(clr::ModuleID module, Kind kind, clr::FunctionID callee);
  // Returns what is known of the target without asking the runtime; null if nothing is known.
  const Target* known(clr::ModuleID module, Kind kind, clr::FunctionID callee) const;

  void forget_module(clr::ModuleID module) { modules_.erase(module); }
  void forget() { modules_.clear(); }

 private:
  // Also counts words of stacks that were not a FunctionID, because these are remembered as well.
  static constexpr std::size_t kMaxTargets = 1 << 14;

  struct OfKind {
    std::unordered_map<clr::FunctionID, Target> targets;
    unsigned reads = 0;     // number of recent reads
    ULONGLONG read_ms = 0;  // GetTickCount64 when one of the reads ceased to count
  };
  struct Module {
    OfKind of_kind[2];
  };
  void read(clr::ModuleID module, Kind kind, std::unordered_map<clr::FunctionID, Target>& targets);

  const Target unknown_;
  clr::ICorProfilerInfo3* info_;
  std::unordered_map<clr::ModuleID, Module> modules_;
};

}  // namespace mixwalk

#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/win/com_pointer.h"
#include "symbols/win/metadata_types.h"
#include "symbols/win/profiling_api.h"

namespace mixwalk {

struct ManagedName {
  std::string text;   // "Namespace.Type<Args>.Method<Args>(Parameter types)", UTF-8
  bool stub = false;  // the runtime's own code; `text` is the runtime's name for it, "IL_STUB_PInvoke"
  bool dynamic = false;  // a stub, or a method that the program made while it ran
  std::vector<clr::ModuleID> modules;  // the modules that the name was made from, each once
};

// Finds names of managed functions, from the runtime's metadata. Not frozen-safe: it allocates, takes locks of the
// runtime, and may trigger a GC, so nothing may be frozen while it is asked, and the caller may hold no lock. Answers
// are cached until the source is told to forget them, because a FunctionID may be used again once its module or its
// dynamic method is gone.
class ClrMetadataSource {
 public:
  // Neither interface is owned. `info8` may be null (older runtimes); then functions without metadata have no name of
  // their own.
  ClrMetadataSource(clr::ICorProfilerInfo3* info, clr::ICorProfilerInfo8* info8)
      : info_(info), info8_(info8) {}

  // Returns "[unknown method 0x…]" if the runtime refuses to answer.
  const ManagedName& name(clr::FunctionID function);
  // Returns what is known of the function without asking the runtime; null if nothing is known.
  const ManagedName* known(clr::FunctionID function) const;
  bool is_dynamic(clr::FunctionID function) const;

  void forget(clr::FunctionID function) { names_.erase(function); }
  // Forgets every name of which the module is a part.
  void forget_module(clr::ModuleID module);
  void forget_dynamic();
  // Returns "Namespace.Type<Args>[]", UTF-8, or "?" if the runtime refuses to answer.
  std::string type_name(clr::ClassID type) { return class_name(type, 0); }

 private:
  ManagedName resolve(clr::FunctionID function);
  bool dynamic_name(clr::FunctionID function, ManagedName& name);
  // Returns the metadata of a module, and records that the current name is made from this module.
  ModuleMetadata metadata_of(clr::ModuleID module);
  std::string class_name(clr::ClassID type, int depth);
  std::vector<std::string> class_arguments(clr::ClassID type, int depth);
  std::vector<std::string> class_names(const std::vector<clr::ClassID>& types, int depth);

  clr::ICorProfilerInfo3* info_;
  clr::ICorProfilerInfo8* info8_;
  std::unordered_map<clr::FunctionID, ManagedName> names_;
  std::vector<clr::ModuleID> modules_;  // modules of the name that is being made
};

}  // namespace mixwalk

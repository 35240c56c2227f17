#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/win/com_pointer.h"
#include "symbols/win/profiling_api.h"

namespace mixwalk {

struct ManagedName {
  std::string text;   // "Namespace.Type<Args>.Method<Args>(Parameter types)", UTF-8
  bool stub = false;  // the runtime's own code: text is what it calls it, "IL_STUB_PInvoke"
};

// Names of managed functions, from the runtime's metadata. Not frozen-safe: it allocates, takes
// locks of the runtime, and may trigger a GC; nothing may be frozen while it is asked, and no lock
// held. A FunctionID may be used again after its assembly was unloaded: make one of these a dump.
class ClrMetadataSource {
 public:
  // Neither is owned; `info8` may be null (older runtimes): functions without metadata then have
  // no name of their own.
  ClrMetadataSource(clr::ICorProfilerInfo3* info, clr::ICorProfilerInfo8* info8)
      : info_(info), info8_(info8) {}

  // Where the runtime refuses: "[unknown method 0x…]".
  const ManagedName& name(clr::FunctionID function);
  // "Namespace.Type<Args>[]", UTF-8. Where the runtime refuses: "?".
  std::string type_name(clr::ClassID type) { return class_name(type, 0); }

 private:
  ManagedName resolve(clr::FunctionID function);
  bool dynamic_name(clr::FunctionID function, ManagedName& name);
  std::string class_name(clr::ClassID type, int depth);
  std::vector<std::string> class_arguments(clr::ClassID type, int depth);
  std::vector<std::string> class_names(const std::vector<clr::ClassID>& types, int depth);

  clr::ICorProfilerInfo3* info_;
  clr::ICorProfilerInfo8* info8_;
  std::unordered_map<clr::FunctionID, ManagedName> names_;
};

}  // namespace mixwalk

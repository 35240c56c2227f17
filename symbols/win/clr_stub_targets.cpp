#include "symbols/win/clr_stub_targets.h"

#include <vector>

#include "symbols/win/metadata_types.h"

namespace mixwalk {
namespace {

// The limit for methods of a module. No module declares more, except for the interop assemblies of the largest type
// libraries. While the methods are read, an unload of the module waits.
constexpr std::size_t kMaxMethods = 1 << 14;
// The limit for how often the methods of a module are read: this many times, and once more after each kReadMs. Without
// a limit, stacks with unknown words would cost too much.
constexpr unsigned kMaxReads = 16;
constexpr ULONGLONG kReadMs = 100;

}  // namespace

const ClrStubTargets::Target* ClrStubTargets::known(clr::ModuleID module, Kind kind,
                                                    clr::FunctionID callee) const {
  const auto of_module = modules_.find(module);
  if (of_module == modules_.end()) return nullptr;
  const auto& targets = of_module->second.of_kind[static_cast<std::size_t>(kind)].targets;
  const auto target = targets.find(callee);
  return target == targets.end() ? nullptr : &target->second;
}

const ClrStubTargets::Target& ClrStubTargets::find(clr::ModuleID module, Kind kind, clr::FunctionID callee) {
  auto& [targets, reads, read_ms] = modules_[module].of_kind[static_cast<std::size_t>(kind)];
  if (const auto target = targets.find(callee); target != targets.end()) return target->second;
  // The program may have used the method for the first time since the methods were read.
  const ULONGLONG now = GetTickCount64();
  if (now - read_ms >= kReadMs) {
    read_ms = now;
    if (reads != 0) --reads;
  }
  if (reads == kMaxReads) return unknown_;
  ++reads;
  if (targets.size() >= kMaxTargets) targets.clear();
  read(module, kind, targets);
  return targets[callee];
}

void ClrStubTargets::read(clr::ModuleID module, Kind kind,
                          std::unordered_map<clr::FunctionID, Target>& targets) {
  const ModuleMetadata metadata(*info_, module);
  const std::vector<clr::Token> methods = kind == Kind::pinvoke ? metadata.imported_methods(kMaxMethods)
                                                                : metadata.com_methods(kMaxMethods);
  for (const clr::Token method : methods) {
    clr::FunctionID function = 0;
    // The runtime refuses if it has made nothing from the method yet; in that case no stub leads to the method.
    if (FAILED(info_->GetFunctionFromToken(module, method, &function)) || function == 0) continue;
    const auto known = targets.find(function);
    if (known != targets.end() && (known->second.function != 0 || !known->second.import.empty())) continue;
    Target target;
    if (kind == Kind::com) {
      target.function = function;
    } else {
      target.import = metadata.import_of(method);
    }
    targets[function] = std::move(target);
  }
}

}  // namespace mixwalk

#include "walker/profiler/clr_managed_code.h"

#include <new>
#include <optional>

#include "symbols/clr_stub.h"

namespace mixwalk {

ManagedCode::Function ClrManagedCode::at(std::uint64_t ip) noexcept {
  try {
    return ask(ip);
  } catch (...) {  // missing memory, or a defect; neither may end the program
    lost_ = true;
    return {};
  }
}

ManagedCode::Function ClrManagedCode::ask(std::uint64_t ip) {
  clr::FunctionID function = 0;
  const auto* code = reinterpret_cast<const BYTE*>(ip);
  // The runtime may be asked about any address at any time, because it looks the address up in its own tables. Whether
  // code was unloaded or replaced meanwhile is checked when the stack has all its names.
  const HRESULT result = info8_ != nullptr ? info8_->GetFunctionFromIP3(code, &function, nullptr)
                                           : info_.GetFunctionFromIP(code, &function);
  if (FAILED(result) || function == 0) return {};
  if (const ManagedName* known = names_.known(function)) return {function, known->stub};
  {
    std::optional<UnloadGate::Question> question;
    if (gate_ != nullptr && !question.emplace(*gate_, mark_)) {
      lost_ = true;
      return {};
    }
    if (!names_.is_dynamic(function)) return {function, false};
  }
  // A dynamic function is an IL stub, or a DynamicMethod that the program made (a compiled expression, a regular
  // expression). The runtime's names of its own stubs distinguish the two.
  const ManagedName* name = dynamic_name(function);
  return {function, name != nullptr && name->stub};
}

const ManagedName* ClrManagedCode::dynamic_name(clr::FunctionID function) {
  std::optional<UnloadGate::Question> question;
  if (gate_ != nullptr && !question.emplace(*gate_, mark_, function)) {
    lost_ = true;
    return nullptr;
  }
  return &names_.name(function);
}

const ManagedName* ClrManagedCode::name(clr::FunctionID function) {
  if (const ManagedName* known = names_.known(function)) return known;
  std::optional<UnloadGate::Question> question;
  if (gate_ != nullptr && !question.emplace(*gate_, mark_)) {
    lost_ = true;
    return nullptr;
  }
  return &names_.name(function);
}

const ClrIlSource::Place* ClrManagedCode::il_place(ClrIlSource& source, clr::FunctionID function,
                                                   std::uint64_t ip) {
  if (const ClrIlSource::Place* known = source.known(ip)) return known;
  std::optional<UnloadGate::Question> question;
  if (gate_ != nullptr && !question.emplace(*gate_, mark_)) {
    lost_ = true;
    return nullptr;
  }
  return &source.find(function, ip);
}

std::string ClrManagedCode::native_target(ClrStubTargets& targets, const StackFrame& frame,
                                          std::vector<clr::ModuleID>& modules) {
  const ManagedName* name = names_.known(frame.function);
  if (name == nullptr) {
    std::optional<UnloadGate::Question> question;
    if (gate_ != nullptr && !question.emplace(*gate_, mark_, frame.function)) return {};
    name = &names_.name(frame.function);
  }
  const ClrStub what = frame.kind == FrameKind::managed ? ClrStub::pinvoke : clr_stub(name->text);
  if (name->modules.empty() || (what != ClrStub::pinvoke && what != ClrStub::com_out)) return {};
  const clr::ModuleID module = name->modules.front();
  const auto kind = what == ClrStub::pinvoke ? ClrStubTargets::Kind::pinvoke : ClrStubTargets::Kind::com;
  const ClrStubTargets::Target* target = targets.known(module, kind, frame.callee);
  if (target == nullptr) {
    std::optional<UnloadGate::Question> question;
    if (gate_ != nullptr && !question.emplace(*gate_, mark_)) {
      lost_ = true;
      return {};
    }
    target = &targets.find(module, kind, frame.callee);
  }
  if (target->function == 0) return target->import;
  const ManagedName* method = this->name(target->function);
  if (method == nullptr) return {};
  modules.insert(modules.end(), method->modules.begin(), method->modules.end());
  return method->text;
}

}  // namespace mixwalk

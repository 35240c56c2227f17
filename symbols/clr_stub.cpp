#include "symbols/clr_stub.h"

#include <utility>

namespace mixwalk {

ClrStub clr_stub(std::string_view runtime_name) noexcept {
  static constexpr std::pair<std::string_view, ClrStub> kStubs[] = {
      {kPInvokeStub, ClrStub::pinvoke},
      {"IL_STUB_ReversePInvoke", ClrStub::reverse_pinvoke},
      {"IL_STUB_CLRtoCOM", ClrStub::com_out},
      {"IL_STUB_COMtoCLR", ClrStub::com_in},
      {"IL_STUB_MulticastDelegate_Invoke", ClrStub::delegate_invoke},
      {"IL_STUB_WrapperDelegate_Invoke", ClrStub::delegate_invoke},
  };
  for (const auto& [name, stub] : kStubs) {
    if (name == runtime_name) return stub;
  }
  return ClrStub::other;
}

}  // namespace mixwalk

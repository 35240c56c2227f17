#pragma once

#include <cstdint>
#include <string_view>

namespace mixwalk {

// What code is for that the runtime made of IL of its own, by what the runtime calls it.
enum class ClrStub : std::uint8_t {
  other,            // no stub, or one whose purpose tells a person little
  pinvoke,          // from managed code to a native function
  reverse_pinvoke,  // from native code to a delegate
  com_out,          // from managed code to a COM object
  com_in,           // from a COM client to a managed object
  delegate_invoke,  // to the methods of a delegate
};

// "IL_STUB_PInvoke" → pinvoke. (ILStubResolver::GetStubMethodName in the runtime's ilstubresolver.cpp.)
ClrStub clr_stub(std::string_view runtime_name) noexcept;

}  // namespace mixwalk

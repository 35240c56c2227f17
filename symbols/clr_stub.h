#pragma once

#include <cstdint>
#include <string_view>

namespace mixwalk {

// The purpose of code that the runtime made from its own IL, by the runtime's name for the code.
enum class ClrStub : std::uint8_t {
  other,            // not a stub, or a stub whose purpose tells a person little
  pinvoke,          // from managed code to a native function
  reverse_pinvoke,  // from native code to a delegate
  com_out,          // from managed code to a COM object
  com_in,           // from a COM client to a managed object
  delegate_invoke,  // to the methods of a delegate
};

inline constexpr std::string_view kPInvokeStub = "IL_STUB_PInvoke";

// "IL_STUB_PInvoke" → pinvoke. (ILStubResolver::GetStubMethodName in the runtime's ilstubresolver.cpp.)
ClrStub clr_stub(std::string_view runtime_name) noexcept;

}  // namespace mixwalk

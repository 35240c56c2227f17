#pragma once

#include <windows.h>

#include <unknwn.h>

#include <cstdint>

namespace mixwalk::dac {

// ICLRRuntimeLocator, which says where the runtime's image is loaded. The library asks the data target for this
// interface. Without it, the library looks for the base of "coreclr.dll", which a single-file program does not have.
// Source: clrdata.idl, public.
struct IRuntimeLocator : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE GetRuntimeBase(std::uint64_t* base) = 0;

 protected:
  ~IRuntimeLocator() = default;
};
inline constexpr IID kIidRuntimeLocator = {
    0xB760BF44, 0x9377, 0x4597, {0x8B, 0xE7, 0x58, 0x08, 0x3B, 0xDC, 0x51, 0x46}};

}  // namespace mixwalk::dac

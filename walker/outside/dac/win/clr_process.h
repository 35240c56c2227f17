#pragma once

#include <windows.h>

#include <cstdint>

#include "walker/outside/dac/win/slots.h"

namespace mixwalk::dac {

// IXCLRDataProcess, as far as mixwalk calls it, in the order of its table. Source: xclrdata.idl of the runtime,
// public; the slots were held against the libraries of .NET 8, 9 and 10.
struct IClrProcess : IUnknown {
  // What the library keeps of the target's memory is forgotten.
  virtual HRESULT STDMETHODCALLTYPE Flush() = 0;
  MIXWALK_DAC_SLOT(StartEnumTasks);
  MIXWALK_DAC_SLOT(EnumTask);
  MIXWALK_DAC_SLOT(EndEnumTasks);
  MIXWALK_DAC_SLOT(GetTaskByOSThreadID);
  MIXWALK_DAC_SLOT(GetTaskByUniqueID);
  MIXWALK_DAC_SLOT(GetFlags);
  MIXWALK_DAC_SLOT(IsSameObject);
  MIXWALK_DAC_SLOT(GetManagedObject);
  MIXWALK_DAC_SLOT(GetDesiredExecutionState);
  MIXWALK_DAC_SLOT(SetDesiredExecutionState);
  MIXWALK_DAC_SLOT(GetAddressType);
  // `units`: of `name`, which has room for `room`, with the terminator. Code of the runtime's own: thunks,
  // precode, helpers.
  virtual HRESULT STDMETHODCALLTYPE GetRuntimeNameByAddress(std::uint64_t address, ULONG32 flags, ULONG32 room,
                                                            ULONG32* units, WCHAR* name,
                                                            std::uint64_t* displacement) = 0;

 protected:
  ~IClrProcess() = default;
};
inline constexpr IID kIidClrProcess = {
    0x5C552AB6, 0xFC09, 0x4CB3, {0x8E, 0x36, 0x22, 0xFA, 0x03, 0xC7, 0x98, 0xB7}};

}  // namespace mixwalk::dac

#pragma once

#include <windows.h>

#include <cstdint>

#include "walker/outside/dac/dac_structures.h"
#include "walker/outside/dac/win/slots.h"

namespace mixwalk::dac {

// ISOSDacInterface, as far as mixwalk calls it, in the order of its table. Source: sospriv.idl of the runtime,
// public; the slots were held against the libraries of .NET 8, 9 and 10.
struct ISosDac : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE GetThreadStoreData(ThreadStoreData* data) = 0;
  MIXWALK_DAC_SLOT(GetAppDomainStoreData);
  MIXWALK_DAC_SLOT(GetAppDomainList);
  MIXWALK_DAC_SLOT(GetAppDomainData);
  MIXWALK_DAC_SLOT(GetAppDomainName);
  MIXWALK_DAC_SLOT(GetDomainFromContext);
  MIXWALK_DAC_SLOT(GetAssemblyList);
  MIXWALK_DAC_SLOT(GetAssemblyData);
  MIXWALK_DAC_SLOT(GetAssemblyName);
  // An IXCLRDataModule, which has the module's metadata (IMetaDataImport) too.
  virtual HRESULT STDMETHODCALLTYPE GetModule(std::uint64_t address, IUnknown** module) = 0;
  MIXWALK_DAC_SLOT(GetModuleData);
  MIXWALK_DAC_SLOT(TraverseModuleMap);
  MIXWALK_DAC_SLOT(GetAssemblyModuleList);
  MIXWALK_DAC_SLOT(GetILForModule);
  virtual HRESULT STDMETHODCALLTYPE GetThreadData(std::uint64_t thread, ThreadData* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetThreadFromThinlockID(UINT id, std::uint64_t* thread) = 0;
  MIXWALK_DAC_SLOT(GetStackLimits);
  virtual HRESULT STDMETHODCALLTYPE GetMethodDescData(std::uint64_t method, std::uint64_t ip,
                                                      MethodDescData* data, ULONG reverted_room,
                                                      ReJitData* reverted, ULONG* reverted_count) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetMethodDescPtrFromIP(std::uint64_t ip, std::uint64_t* method) = 0;
  // `units`: that the whole name takes, with the terminator; `room`: of `name`.
  virtual HRESULT STDMETHODCALLTYPE GetMethodDescName(std::uint64_t method, unsigned room, WCHAR* name,
                                                      unsigned* units) = 0;
  MIXWALK_DAC_SLOT(GetMethodDescPtrFromFrame);
  MIXWALK_DAC_SLOT(GetMethodDescFromToken);
  MIXWALK_DAC_SLOT(GetMethodDescTransparencyData);
  virtual HRESULT STDMETHODCALLTYPE GetCodeHeaderData(std::uint64_t ip, CodeHeaderData* data) = 0;
  MIXWALK_DAC_SLOT(GetJitManagerList);
  // `name` is UTF-8.
  virtual HRESULT STDMETHODCALLTYPE GetJitHelperFunctionName(std::uint64_t ip, unsigned room, char* name,
                                                             unsigned* bytes) = 0;

 protected:
  ~ISosDac() = default;
};
inline constexpr IID kIidSosDac = {
    0x436F00F2, 0xB42A, 0x4B9F, {0x87, 0x0C, 0xE7, 0x3D, 0xB6, 0x6A, 0xE9, 0x30}};

}  // namespace mixwalk::dac

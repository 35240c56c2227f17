#pragma once

#include <windows.h>

#include <cstdint>

#include "walker/clr/dac/dac_structures.h"
#include "walker/clr/dac/win/slots.h"

namespace mixwalk::dac {

// IXCLRDataModule, as far as mixwalk calls it. For the source see IClrProcess.
struct IClrModule : IUnknown {
  MIXWALK_DAC_SLOT(StartEnumAssemblies);
  MIXWALK_DAC_SLOT(EnumAssembly);
  MIXWALK_DAC_SLOT(EndEnumAssemblies);
  MIXWALK_DAC_SLOT(StartEnumTypeDefinitions);
  MIXWALK_DAC_SLOT(EnumTypeDefinition);
  MIXWALK_DAC_SLOT(EndEnumTypeDefinitions);
  MIXWALK_DAC_SLOT(StartEnumTypeInstances);
  MIXWALK_DAC_SLOT(EnumTypeInstance);
  MIXWALK_DAC_SLOT(EndEnumTypeInstances);
  MIXWALK_DAC_SLOT(StartEnumTypeDefinitionsByName);
  MIXWALK_DAC_SLOT(EnumTypeDefinitionByName);
  MIXWALK_DAC_SLOT(EndEnumTypeDefinitionsByName);
  MIXWALK_DAC_SLOT(StartEnumTypeInstancesByName);
  MIXWALK_DAC_SLOT(EnumTypeInstanceByName);
  MIXWALK_DAC_SLOT(EndEnumTypeInstancesByName);
  MIXWALK_DAC_SLOT(GetTypeDefinitionByToken);
  MIXWALK_DAC_SLOT(StartEnumMethodDefinitionsByName);
  MIXWALK_DAC_SLOT(EnumMethodDefinitionByName);
  MIXWALK_DAC_SLOT(EndEnumMethodDefinitionsByName);
  MIXWALK_DAC_SLOT(StartEnumMethodInstancesByName);
  MIXWALK_DAC_SLOT(EnumMethodInstanceByName);
  MIXWALK_DAC_SLOT(EndEnumMethodInstancesByName);
  MIXWALK_DAC_SLOT(GetMethodDefinitionByToken);
  MIXWALK_DAC_SLOT(StartEnumDataByName);
  MIXWALK_DAC_SLOT(EnumDataByName);
  MIXWALK_DAC_SLOT(EndEnumDataByName);
  MIXWALK_DAC_SLOT(GetName);
  // The path of the module's file. `units`: the length of `name` with its terminator; `room`: the size of `name`.
  virtual HRESULT STDMETHODCALLTYPE GetFileName(ULONG32 room, ULONG32* units, WCHAR* name) = 0;
  MIXWALK_DAC_SLOT(GetFlags);
  MIXWALK_DAC_SLOT(IsSameObject);
  // The memory that the module's file takes. Enumerations give S_FALSE when there is no more.
  virtual HRESULT STDMETHODCALLTYPE StartEnumExtents(std::uint64_t* enumeration) = 0;
  virtual HRESULT STDMETHODCALLTYPE EnumExtent(std::uint64_t* enumeration, ModuleExtent* extent) = 0;
  virtual HRESULT STDMETHODCALLTYPE EndEnumExtents(std::uint64_t enumeration) = 0;

 protected:
  ~IClrModule() = default;
};
inline constexpr IID kIidClrModule = {
    0x88E32849, 0x0A0A, 0x4CB0, {0x90, 0x22, 0x7C, 0xD2, 0xE9, 0xE1, 0x39, 0xE2}};

// IXCLRDataMethodDefinition, as far as mixwalk calls it.
struct IClrMethodDefinition : IUnknown {
  MIXWALK_DAC_SLOT(GetTypeDefinition);
  MIXWALK_DAC_SLOT(StartEnumInstances);
  MIXWALK_DAC_SLOT(EnumInstance);
  MIXWALK_DAC_SLOT(EndEnumInstances);
  MIXWALK_DAC_SLOT(GetName);
  MIXWALK_DAC_SLOT(GetTokenAndScope);
  MIXWALK_DAC_SLOT(GetFlags);
  MIXWALK_DAC_SLOT(IsSameObject);
  MIXWALK_DAC_SLOT(GetLatestEnCVersion);
  // Where the method's IL is.
  virtual HRESULT STDMETHODCALLTYPE StartEnumExtents(std::uint64_t* enumeration) = 0;
  virtual HRESULT STDMETHODCALLTYPE EnumExtent(std::uint64_t* enumeration, MethodExtent* extent) = 0;
  virtual HRESULT STDMETHODCALLTYPE EndEnumExtents(std::uint64_t enumeration) = 0;

 protected:
  ~IClrMethodDefinition() = default;
};

// IXCLRDataMethodInstance, as far as mixwalk calls it.
struct IClrMethodInstance : IUnknown {
  MIXWALK_DAC_SLOT(GetTypeInstance);
  virtual HRESULT STDMETHODCALLTYPE GetDefinition(IClrMethodDefinition** definition) = 0;
  MIXWALK_DAC_SLOT(GetTokenAndScope);
  MIXWALK_DAC_SLOT(GetName);
  MIXWALK_DAC_SLOT(GetFlags);
  MIXWALK_DAC_SLOT(IsSameObject);
  MIXWALK_DAC_SLOT(GetEnCVersion);
  MIXWALK_DAC_SLOT(GetNumTypeArguments);
  MIXWALK_DAC_SLOT(GetTypeArgumentByIndex);
  // The IL offsets of the ranges of code that contain the address, in the order of the method's map; special values are
  // those of IlToNative. `count`: how many there are; `room`: the size of `offsets`. Fails if there is none.
  virtual HRESULT STDMETHODCALLTYPE GetILOffsetsByAddress(std::uint64_t address, ULONG32 room, ULONG32* count,
                                                          ULONG32* offsets) = 0;
  MIXWALK_DAC_SLOT(GetAddressRangesByILOffset);
  // The whole map of one version of the method's code. This version need not be the one that runs. `count` and `room`
  // as above.
  virtual HRESULT STDMETHODCALLTYPE GetILAddressMap(ULONG32 room, ULONG32* count, IlAddressMap* map) = 0;

 protected:
  ~IClrMethodInstance() = default;
};

// IXCLRDataProcess, as far as mixwalk calls it, in the order of its method table. Source: xclrdata.idl of the runtime,
// public; the slots were checked against the libraries of .NET 8, 9 and 10.
struct IClrProcess : IUnknown {
  // Makes the library forget its copy of the target's memory.
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
  // The name of the runtime's own code: thunks, precode, helpers. `units`: the length of `name` with its terminator;
  // `room`: the size of `name`.
  virtual HRESULT STDMETHODCALLTYPE GetRuntimeNameByAddress(std::uint64_t address, ULONG32 flags, ULONG32 room,
                                                            ULONG32* units, WCHAR* name,
                                                            std::uint64_t* displacement) = 0;
  MIXWALK_DAC_SLOT(StartEnumAppDomains);
  MIXWALK_DAC_SLOT(EnumAppDomain);
  MIXWALK_DAC_SLOT(EndEnumAppDomains);
  MIXWALK_DAC_SLOT(GetAppDomainByUniqueID);
  MIXWALK_DAC_SLOT(StartEnumAssemblies);
  MIXWALK_DAC_SLOT(EnumAssembly);
  MIXWALK_DAC_SLOT(EndEnumAssemblies);
  MIXWALK_DAC_SLOT(StartEnumModules);
  MIXWALK_DAC_SLOT(EnumModule);
  MIXWALK_DAC_SLOT(EndEnumModules);
  MIXWALK_DAC_SLOT(GetModuleByAddress);
  // Enumerates the methods whose code contains an address, in all domains if `domain` is null. Returns S_FALSE if there
  // is none, or no further one.
  virtual HRESULT STDMETHODCALLTYPE StartEnumMethodInstancesByAddress(std::uint64_t address, IUnknown* domain,
                                                                      std::uint64_t* enumeration) = 0;
  virtual HRESULT STDMETHODCALLTYPE EnumMethodInstanceByAddress(std::uint64_t* enumeration,
                                                                IClrMethodInstance** method) = 0;
  virtual HRESULT STDMETHODCALLTYPE EndEnumMethodInstancesByAddress(std::uint64_t enumeration) = 0;

 protected:
  ~IClrProcess() = default;
};
inline constexpr IID kIidClrProcess = {
    0x5C552AB6, 0xFC09, 0x4CB3, {0x8E, 0x36, 0x22, 0xFA, 0x03, 0xC7, 0x98, 0xB7}};

}  // namespace mixwalk::dac

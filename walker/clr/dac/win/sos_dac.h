#pragma once

#include <windows.h>

#include <cstdint>

#include "walker/clr/dac/dac_structures.h"
#include "walker/clr/dac/win/slots.h"

namespace mixwalk::dac {

// ISOSDacInterface, as far as mixwalk calls it, in the order of its method table. Source: sospriv.idl of the runtime,
// public; the slots were checked against the libraries of .NET 8, 9 and 10.
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
  // Gives an IXCLRDataModule. That object also has the module's metadata (IMetaDataImport).
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
  // `units`: the length of the whole name with its terminator; `room`: the size of `name`.
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
  MIXWALK_DAC_SLOT(GetJumpThunkTarget);
  MIXWALK_DAC_SLOT(GetThreadpoolData);
  MIXWALK_DAC_SLOT(GetWorkRequestData);
  MIXWALK_DAC_SLOT(GetHillClimbingLogEntry);
  // Fails if the memory is not an object.
  virtual HRESULT STDMETHODCALLTYPE GetObjectData(std::uint64_t object, ObjectData* data) = 0;
  MIXWALK_DAC_SLOT(GetObjectStringData);
  virtual HRESULT STDMETHODCALLTYPE GetObjectClassName(std::uint64_t object, unsigned room, WCHAR* name,
                                                       unsigned* units) = 0;
  // Fails if no MethodTable is at the address.
  virtual HRESULT STDMETHODCALLTYPE GetMethodTableName(std::uint64_t method_table, unsigned room, WCHAR* name,
                                                       unsigned* units) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetMethodTableData(std::uint64_t method_table, MethodTableData* data) = 0;
  MIXWALK_DAC_SLOT(GetMethodTableSlot);
  virtual HRESULT STDMETHODCALLTYPE GetMethodTableFieldData(std::uint64_t method_table,
                                                            MethodTableFieldData* data) = 0;
  MIXWALK_DAC_SLOT(GetMethodTableTransparencyData);
  MIXWALK_DAC_SLOT(GetMethodTableForEEClass);
  virtual HRESULT STDMETHODCALLTYPE GetFieldDescData(std::uint64_t field, FieldDescData* data) = 0;
  MIXWALK_DAC_SLOT(GetFrameName);
  MIXWALK_DAC_SLOT(GetPEFileBase);
  MIXWALK_DAC_SLOT(GetPEFileName);
  virtual HRESULT STDMETHODCALLTYPE GetGCHeapData(GcHeapData* data) = 0;
  // For the server garbage collector. The workstation one has only one heap, which GetGCHeapStaticData describes.
  virtual HRESULT STDMETHODCALLTYPE GetGCHeapList(unsigned room, std::uint64_t* heaps, unsigned* count) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetGCHeapDetails(std::uint64_t heap, GcHeapDetails* details) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetGCHeapStaticData(GcHeapDetails* details) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetHeapSegmentData(std::uint64_t segment, HeapSegmentData* data) = 0;
  MIXWALK_DAC_SLOT(GetOOMData);
  MIXWALK_DAC_SLOT(GetOOMStaticData);
  MIXWALK_DAC_SLOT(GetHeapAnalyzeData);
  MIXWALK_DAC_SLOT(GetHeapAnalyzeStaticData);
  MIXWALK_DAC_SLOT(GetDomainLocalModuleData);
  MIXWALK_DAC_SLOT(GetDomainLocalModuleDataFromAppDomain);
  MIXWALK_DAC_SLOT(GetDomainLocalModuleDataFromModule);
  MIXWALK_DAC_SLOT(GetThreadLocalModuleData);
  // `number`: from 1 on. Fails if there is no sync block with that number.
  virtual HRESULT STDMETHODCALLTYPE GetSyncBlockData(unsigned number, SyncBlockData* data) = 0;

 protected:
  ~ISosDac() = default;
};
inline constexpr IID kIidSosDac = {
    0x436F00F2, 0xB42A, 0x4B9F, {0x87, 0x0C, 0xE7, 0x3D, 0xB6, 0x6A, 0xE9, 0x30}};

}  // namespace mixwalk::dac

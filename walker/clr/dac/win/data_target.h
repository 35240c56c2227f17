#pragma once

#include <windows.h>

#include <unknwn.h>

#include <cstdint>

namespace mixwalk::dac {

// ICLRDataTarget, the interface by which the runtime's debugging library asks mixwalk about its target. mixwalk
// implements this interface, so every method is declared in full. Source: clrdata.idl of the runtime, public.
struct IDataTarget : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE GetMachineType(ULONG32* machine) = 0;  // IMAGE_FILE_MACHINE_*
  virtual HRESULT STDMETHODCALLTYPE GetPointerSize(ULONG32* bytes) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetImageBase(const WCHAR* path, std::uint64_t* base) = 0;
  // Succeeds if any of the bytes were read.
  virtual HRESULT STDMETHODCALLTYPE ReadVirtual(std::uint64_t address, BYTE* buffer, ULONG32 wanted,
                                                ULONG32* read) = 0;
  virtual HRESULT STDMETHODCALLTYPE WriteVirtual(std::uint64_t address, BYTE* buffer, ULONG32 wanted,
                                                 ULONG32* written) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetTLSValue(ULONG32 thread, ULONG32 index, std::uint64_t* value) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetTLSValue(ULONG32 thread, ULONG32 index, std::uint64_t value) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetCurrentThreadID(ULONG32* thread) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetThreadContext(ULONG32 thread, ULONG32 flags, ULONG32 bytes,
                                                     BYTE* context) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetThreadContext(ULONG32 thread, ULONG32 bytes, BYTE* context) = 0;
  virtual HRESULT STDMETHODCALLTYPE Request(ULONG32 code, ULONG32 in_bytes, BYTE* in, ULONG32 out_bytes,
                                            BYTE* out) = 0;

 protected:
  ~IDataTarget() = default;
};
inline constexpr IID kIidDataTarget = {
    0x3E11CCEE, 0xD08B, 0x43E5, {0xAF, 0x01, 0x32, 0x71, 0x7A, 0x64, 0xDA, 0x03}};

// CLRDataCreateInstance, an export of the library. It creates an interface of the library over a target, to which the
// library keeps a reference.
using CreateInstance = HRESULT(STDMETHODCALLTYPE*)(REFIID iid, IDataTarget* target, void** object);

}  // namespace mixwalk::dac

#pragma once

#include <atomic>
#include <cstdint>

#include "unmanaged/step/memory_reader.h"
#include "walker/clr/dac/win/data_target.h"
#include "walker/clr/dac/win/runtime_locator.h"

namespace mixwalk {

// A target's memory, in the form in which the runtime's debugging library asks for it. Only reads are answered, because
// the questions that mixwalk asks need no thread. The creator owns this object, and keeps it alive until the library
// has released it.
class MemoryTarget final : public dac::IDataTarget, public dac::IRuntimeLocator {
 public:
  MemoryTarget(const MemoryReader& memory, std::uint64_t runtime_base)
      : memory_(memory), runtime_base_(runtime_base) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override;
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override { return --references_; }

  HRESULT STDMETHODCALLTYPE GetMachineType(ULONG32* machine) override;
  HRESULT STDMETHODCALLTYPE GetPointerSize(ULONG32* bytes) override;
  HRESULT STDMETHODCALLTYPE GetImageBase(const WCHAR* path, std::uint64_t* base) override;
  HRESULT STDMETHODCALLTYPE ReadVirtual(std::uint64_t address, BYTE* buffer, ULONG32 wanted,
                                        ULONG32* read) override;
  HRESULT STDMETHODCALLTYPE WriteVirtual(std::uint64_t, BYTE*, ULONG32, ULONG32*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetTLSValue(ULONG32, ULONG32, std::uint64_t*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE SetTLSValue(ULONG32, ULONG32, std::uint64_t) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetCurrentThreadID(ULONG32*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetThreadContext(ULONG32, ULONG32, ULONG32, BYTE*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE SetThreadContext(ULONG32, ULONG32, BYTE*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE Request(ULONG32, ULONG32, BYTE*, ULONG32, BYTE*) override { return E_NOTIMPL; }

  HRESULT STDMETHODCALLTYPE GetRuntimeBase(std::uint64_t* base) override;

 private:
  const MemoryReader& memory_;
  const std::uint64_t runtime_base_;
  std::atomic<ULONG> references_{1};
};

}  // namespace mixwalk

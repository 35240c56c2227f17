#include "walker/clr/dac/win/memory_target.h"

#include <string_view>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {

HRESULT MemoryTarget::QueryInterface(REFIID iid, void** object) {
  if (IsEqualIID(iid, IID_IUnknown) || IsEqualIID(iid, dac::kIidDataTarget)) {
    *object = static_cast<dac::IDataTarget*>(this);
  } else if (IsEqualIID(iid, dac::kIidRuntimeLocator)) {
    *object = static_cast<dac::IRuntimeLocator*>(this);
  } else {
    *object = nullptr;
    return E_NOINTERFACE;
  }
  AddRef();
  return S_OK;
}

HRESULT MemoryTarget::GetMachineType(ULONG32* machine) {
  *machine = IMAGE_FILE_MACHINE_AMD64;
  return S_OK;
}

HRESULT MemoryTarget::GetPointerSize(ULONG32* bytes) {
  *bytes = 8;
  return S_OK;
}

HRESULT MemoryTarget::GetImageBase(const WCHAR* path, std::uint64_t* base) {
  const std::wstring_view whole(path);
  const std::string name = ascii_lower(to_utf8(whole.substr(whole.find_last_of(L'\\') + 1)));
  if (name != "coreclr.dll") return E_FAIL;
  *base = runtime_base_;
  return S_OK;
}

HRESULT MemoryTarget::ReadVirtual(std::uint64_t address, BYTE* buffer, ULONG32 wanted, ULONG32* read) {
  *read = static_cast<ULONG32>(memory_.read_up_to(address, buffer, wanted));
  return *read != 0 || wanted == 0 ? S_OK : E_FAIL;
}

HRESULT MemoryTarget::GetRuntimeBase(std::uint64_t* base) {
  *base = runtime_base_;
  return S_OK;
}

}  // namespace mixwalk

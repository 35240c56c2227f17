// The exports of mixwalk.dll, an in-process COM server with one class.

#include <windows.h>

#include "walker/profiler/entry_barrier.h"
#include "walker/profiler/profiler.h"
#include "walker/session/clsid.h"

namespace mixwalk {
namespace {

class ClassFactory final : public IClassFactory {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    if (object == nullptr) return E_POINTER;
    if (iid == IID_IUnknown || iid == IID_IClassFactory) {
      *object = this;
      return S_OK;
    }
    *object = nullptr;
    return E_NOINTERFACE;
  }
  // A static object, so its references are not counted.
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }

  HRESULT STDMETHODCALLTYPE CreateInstance(IUnknown* outer, REFIID iid, void** object) override {
    if (outer != nullptr) return CLASS_E_NOAGGREGATION;
    return answer_runtime([&] {
      auto* const profiler = new Profiler;
      const HRESULT result = profiler->QueryInterface(iid, object);
      profiler->Release();
      return result;
    });
  }
  HRESULT STDMETHODCALLTYPE LockServer(BOOL) override { return S_OK; }
};

}  // namespace
}  // namespace mixwalk

extern "C" HRESULT STDMETHODCALLTYPE DllGetClassObject(REFCLSID clsid, REFIID iid, void** object) {
  static mixwalk::ClassFactory factory;
  if (clsid != mixwalk::kProfilerClsid) {
    if (object != nullptr) *object = nullptr;
    return CLASS_E_CLASSNOTAVAILABLE;
  }
  return factory.QueryInterface(iid, object);
}

extern "C" HRESULT STDMETHODCALLTYPE DllCanUnloadNow() {
  return mixwalk::Profiler::count() == 0 ? S_OK : S_FALSE;
}

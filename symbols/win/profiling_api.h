#pragma once

// The part of the CLR profiling API that mixwalk uses. mingw-w64 ships no corprof.h, so these are the public interfaces
// in the order of their vtables (corprof.idl). A method that mixwalk does not call is a placeholder: its parameter list
// is left out, and calling it would be wrong.

#include <unknwn.h>
#include <windows.h>

#include "symbols/il_map.h"

namespace mixwalk::clr {

using AppDomainID = UINT_PTR;
using AssemblyID = UINT_PTR;
using ClassID = UINT_PTR;
using FunctionID = UINT_PTR;
using GCHandleID = UINT_PTR;
using ModuleID = UINT_PTR;
using ObjectID = UINT_PTR;
using ReJITID = UINT_PTR;
using ThreadID = UINT_PTR;
using FrameInfo = UINT_PTR;  // COR_PRF_FRAME_INFO
using Token = ULONG32;       // mdToken

// COR_PRF_CODE_INFO: one piece of a function's code.
struct CodeInfo {
  UINT_PTR start;
  SIZE_T size;
};

// COR_PRF_SNAPSHOT_INFO
inline constexpr ULONG32 kSnapshotRegisterContext = 0x1;

// COR_PRF_MONITOR
inline constexpr DWORD kMonitorClassLoads = 0x00000002;
inline constexpr DWORD kMonitorModuleLoads = 0x00000004;
inline constexpr DWORD kMonitorExceptions = 0x00000040;
inline constexpr DWORD kMonitorObjectAllocated = 0x00000100;
inline constexpr DWORD kMonitorThreads = 0x00000200;
// Can be set only while the runtime starts; the runtime cannot detach a profiler that has set it.
inline constexpr DWORD kEnableObjectAllocated = 0x00800000;
inline constexpr DWORD kEnableStackSnapshot = 0x10000000;
// COR_PRF_HIGH_MONITOR: DynamicMethodUnloaded. Can also be set after an attach.
inline constexpr DWORD kHighMonitorDynamicUnloads = 0x00000004;

// HRESULTs of corerror.h that a walk or an attach meets.
inline constexpr HRESULT kNotCompiled = static_cast<HRESULT>(0x80131350);
inline constexpr HRESULT kSnapshotInvalidThread = static_cast<HRESULT>(0x8013135E);
inline constexpr HRESULT kSnapshotAborted = static_cast<HRESULT>(0x80131361);

// Called once per managed frame, and once per run of native frames with function = 0. If it returns S_FALSE, the walk
// ends. `context` is a CONTEXT if kSnapshotRegisterContext was set.
using StackSnapshotCallback = HRESULT(STDMETHODCALLTYPE*)(FunctionID function, UINT_PTR ip,
                                                          FrameInfo frame, ULONG32 context_size,
                                                          BYTE context[], void* client_data);

#define MIXWALK_UNUSED_SLOT(name) virtual HRESULT STDMETHODCALLTYPE name() = 0

struct ICorProfilerInfo : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE GetClassFromObject(ObjectID object, ClassID* type) = 0;
  MIXWALK_UNUSED_SLOT(GetClassFromToken);
  MIXWALK_UNUSED_SLOT(GetCodeInfo);
  virtual HRESULT STDMETHODCALLTYPE GetEventMask(DWORD* events) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetFunctionFromIP(const BYTE* ip, FunctionID* function) = 0;
  // For a method that is neither generic nor of a generic type. Returns an error if the runtime has not loaded it yet.
  virtual HRESULT STDMETHODCALLTYPE GetFunctionFromToken(ModuleID module, Token method,
                                                         FunctionID* function) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetHandleFromThread(ThreadID thread, HANDLE* handle) = 0;
  MIXWALK_UNUSED_SLOT(GetObjectSize);
  // Returns S_OK for an array class, S_FALSE for any other class.
  virtual HRESULT STDMETHODCALLTYPE IsArrayClass(ClassID type, DWORD* element_kind,
                                                 ClassID* element, ULONG* rank) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetThreadInfo(ThreadID thread, DWORD* os_thread) = 0;
  MIXWALK_UNUSED_SLOT(GetCurrentThreadID);
  virtual HRESULT STDMETHODCALLTYPE GetClassIDInfo(ClassID type, ModuleID* module,
                                                   Token* type_def) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetFunctionInfo(FunctionID function, ClassID* type,
                                                    ModuleID* module, Token* method) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetEventMask(DWORD events) = 0;
  MIXWALK_UNUSED_SLOT(SetEnterLeaveFunctionHooks);
  MIXWALK_UNUSED_SLOT(SetFunctionIDMapper);
  MIXWALK_UNUSED_SLOT(GetTokenAndMetaDataFromFunction);
  virtual HRESULT STDMETHODCALLTYPE GetModuleInfo(ModuleID module, const BYTE** base,
                                                  ULONG name_capacity, ULONG* name_length,
                                                  WCHAR name[], AssemblyID* assembly) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetModuleMetaData(ModuleID module, DWORD open_flags,
                                                      REFIID iid, IUnknown** metadata) = 0;
  // Where the IL of a method is: in the module's image, or elsewhere if a delta or a profiler has replaced it.
  virtual HRESULT STDMETHODCALLTYPE GetILFunctionBody(ModuleID module, Token method, const BYTE** body,
                                                      ULONG* bytes) = 0;
  MIXWALK_UNUSED_SLOT(GetILFunctionBodyAllocator);
  MIXWALK_UNUSED_SLOT(SetILFunctionBody);
  MIXWALK_UNUSED_SLOT(GetAppDomainInfo);
  MIXWALK_UNUSED_SLOT(GetAssemblyInfo);
  MIXWALK_UNUSED_SLOT(SetFunctionReJIT);
  MIXWALK_UNUSED_SLOT(ForceGC);
  MIXWALK_UNUSED_SLOT(SetILInstrumentedCodeMap);
  MIXWALK_UNUSED_SLOT(GetInprocInspectionInterface);
  MIXWALK_UNUSED_SLOT(GetInprocInspectionIThisThread);
  MIXWALK_UNUSED_SLOT(GetThreadContext);
  MIXWALK_UNUSED_SLOT(BeginInprocDebugging);
  MIXWALK_UNUSED_SLOT(EndInprocDebugging);
  MIXWALK_UNUSED_SLOT(GetILToNativeMapping);
};

struct ICorProfilerInfo2 : ICorProfilerInfo {
  virtual HRESULT STDMETHODCALLTYPE DoStackSnapshot(ThreadID thread,
                                                    StackSnapshotCallback callback,
                                                    ULONG32 info_flags, void* client_data,
                                                    BYTE seed[], ULONG32 seed_size) = 0;
  MIXWALK_UNUSED_SLOT(SetEnterLeaveFunctionHooks2);
  virtual HRESULT STDMETHODCALLTYPE GetFunctionInfo2(FunctionID function, FrameInfo frame,
                                                     ClassID* type, ModuleID* module,
                                                     Token* method, ULONG32 type_arg_capacity,
                                                     ULONG32* type_arg_count,
                                                     ClassID type_args[]) = 0;
  MIXWALK_UNUSED_SLOT(GetStringLayout);
  MIXWALK_UNUSED_SLOT(GetClassLayout);
  virtual HRESULT STDMETHODCALLTYPE GetClassIDInfo2(ClassID type, ModuleID* module,
                                                    Token* type_def, ClassID* parent,
                                                    ULONG32 type_arg_capacity,
                                                    ULONG32* type_arg_count,
                                                    ClassID type_args[]) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetCodeInfo2(FunctionID function, ULONG32 capacity,
                                                 ULONG32* count, CodeInfo pieces[]) = 0;
  MIXWALK_UNUSED_SLOT(GetClassFromTokenAndTypeArgs);
  MIXWALK_UNUSED_SLOT(GetFunctionFromTokenAndTypeArgs);
  MIXWALK_UNUSED_SLOT(EnumModuleFrozenObjects);
  MIXWALK_UNUSED_SLOT(GetArrayObjectInfo);
  MIXWALK_UNUSED_SLOT(GetBoxClassLayout);
  MIXWALK_UNUSED_SLOT(GetThreadAppDomain);
  MIXWALK_UNUSED_SLOT(GetRVAStaticAddress);
  MIXWALK_UNUSED_SLOT(GetAppDomainStaticAddress);
  MIXWALK_UNUSED_SLOT(GetThreadStaticAddress);
  MIXWALK_UNUSED_SLOT(GetContextStaticAddress);
  MIXWALK_UNUSED_SLOT(GetStaticFieldInfo);
  MIXWALK_UNUSED_SLOT(GetGenerationBounds);
  MIXWALK_UNUSED_SLOT(GetObjectGeneration);
  MIXWALK_UNUSED_SLOT(GetNotifiedExceptionClauseInfo);
};

struct ICorProfilerInfo3 : ICorProfilerInfo2 {
  MIXWALK_UNUSED_SLOT(EnumJITedFunctions);
  virtual HRESULT STDMETHODCALLTYPE RequestProfilerDetach(DWORD expected_milliseconds) = 0;
  MIXWALK_UNUSED_SLOT(SetFunctionIDMapper2);
  MIXWALK_UNUSED_SLOT(GetStringLayout2);
  MIXWALK_UNUSED_SLOT(SetEnterLeaveFunctionHooks3);
  MIXWALK_UNUSED_SLOT(SetEnterLeaveFunctionHooks3WithInfo);
  MIXWALK_UNUSED_SLOT(GetFunctionEnter3Info);
  MIXWALK_UNUSED_SLOT(GetFunctionLeave3Info);
  MIXWALK_UNUSED_SLOT(GetFunctionTailcall3Info);
  MIXWALK_UNUSED_SLOT(EnumModules);
  // kind: COR_PRF_RUNTIME_TYPE, 1 = .NET Framework, 2 = .NET (Core).
  virtual HRESULT STDMETHODCALLTYPE GetRuntimeInformation(
      USHORT* clr_instance, DWORD* kind, USHORT* major, USHORT* minor, USHORT* build, USHORT* qfe,
      ULONG version_capacity, ULONG* version_length, WCHAR version[]) = 0;
  MIXWALK_UNUSED_SLOT(GetThreadStaticAddress2);
  MIXWALK_UNUSED_SLOT(GetAppDomainsContainingModule);
  MIXWALK_UNUSED_SLOT(GetModuleInfo2);
};

struct ICorProfilerThreadEnum : IUnknown {
  MIXWALK_UNUSED_SLOT(Skip);
  MIXWALK_UNUSED_SLOT(Reset);
  MIXWALK_UNUSED_SLOT(Clone);
  virtual HRESULT STDMETHODCALLTYPE GetCount(ULONG* count) = 0;
  virtual HRESULT STDMETHODCALLTYPE Next(ULONG capacity, ThreadID threads[], ULONG* fetched) = 0;
};

struct ICorProfilerInfo4 : ICorProfilerInfo3 {
  virtual HRESULT STDMETHODCALLTYPE EnumThreads(ICorProfilerThreadEnum** threads) = 0;
  // Prepares the calling thread for calls while another thread is suspended: the CLR allocates its data for the thread
  // here and not during a freeze.
  virtual HRESULT STDMETHODCALLTYPE InitializeCurrentThread() = 0;
  MIXWALK_UNUSED_SLOT(RequestReJIT);
  MIXWALK_UNUSED_SLOT(RequestRevert);
  MIXWALK_UNUSED_SLOT(GetCodeInfo3);
  MIXWALK_UNUSED_SLOT(GetFunctionFromIP2);
  MIXWALK_UNUSED_SLOT(GetReJITIDs);
  MIXWALK_UNUSED_SLOT(GetILToNativeMapping2);
  MIXWALK_UNUSED_SLOT(EnumJITedFunctions2);
  MIXWALK_UNUSED_SLOT(GetObjectSize2);
};

struct ICorProfilerInfo5 : ICorProfilerInfo4 {
  virtual HRESULT STDMETHODCALLTYPE GetEventMask2(DWORD* low, DWORD* high) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetEventMask2(DWORD low, DWORD high) = 0;
};

struct ICorProfilerInfo6 : ICorProfilerInfo5 {
  MIXWALK_UNUSED_SLOT(EnumNgenModuleMethodsInliningThisMethod);
};

struct ICorProfilerInfo7 : ICorProfilerInfo6 {
  MIXWALK_UNUSED_SLOT(ApplyMetaData);
  MIXWALK_UNUSED_SLOT(GetInMemorySymbolsLength);
  MIXWALK_UNUSED_SLOT(ReadInMemorySymbols);
};

// .NET Core 2.1 and later. .NET Framework 4.7.2 has it too, but not for every stub.
struct ICorProfilerInfo8 : ICorProfilerInfo7 {
  virtual HRESULT STDMETHODCALLTYPE IsFunctionDynamic(FunctionID function, BOOL* dynamic) = 0;
  // Like GetFunctionFromIP, but also for IL stubs and dynamic methods. `rejit` may be null: the runtime then leaves out
  // a look-up that takes a lock.
  virtual HRESULT STDMETHODCALLTYPE GetFunctionFromIP3(const BYTE* ip, FunctionID* function,
                                                       ReJITID* rejit) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetDynamicFunctionInfo(FunctionID function, ModuleID* module,
                                                           const BYTE** signature,
                                                           ULONG* signature_bytes,
                                                           ULONG name_capacity,
                                                           ULONG* name_length, WCHAR name[]) = 0;
};

// .NET Core 2.1 and later.
//
// Folklore: mixwalk cannot use GetILToNativeMapping and GetILToNativeMapping2. They read only the first version of a
// function's code, and in .NET 8 and later GetILToNativeMapping2 looks up the version of the IL and then uses another
// variable that it has not set. (Found by reading proftoeeinterfaceimpl.cpp.)
struct ICorProfilerInfo9 : ICorProfilerInfo8 {
  // Covers all versions of the function's code: the tiers of the JIT, and ReadyToRun.
  virtual HRESULT STDMETHODCALLTYPE GetNativeCodeStartAddresses(FunctionID function, ReJITID rejit,
                                                                ULONG32 capacity, ULONG32* count,
                                                                UINT_PTR starts[]) = 0;
  // Fails if the runtime was started without its debugger (DOTNET_EnableDiagnostics_Debugger=0).
  virtual HRESULT STDMETHODCALLTYPE GetILToNativeMapping3(UINT_PTR start, ULONG32 capacity,
                                                          ULONG32* count, IlToNative map[]) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetCodeInfo4(UINT_PTR start, ULONG32 capacity, ULONG32* count,
                                                 CodeInfo pieces[]) = 0;
};

#undef MIXWALK_UNUSED_SLOT

inline constexpr IID kIidInfo3 = {
    0xB555ED4F, 0x452A, 0x4E54, {0x8B, 0x39, 0xB5, 0x36, 0x0B, 0xAD, 0x32, 0xA0}};
inline constexpr IID kIidInfo4 = {
    0x0d8fdcaa, 0x6257, 0x47bf, {0xb1, 0xbf, 0x94, 0xda, 0xc8, 0x84, 0x66, 0xee}};
inline constexpr IID kIidInfo5 = {
    0x07602928, 0xCE38, 0x4B83, {0x81, 0xE7, 0x74, 0xAD, 0xAF, 0x78, 0x12, 0x14}};
inline constexpr IID kIidInfo8 = {
    0xC5AC80A6, 0x782E, 0x4716, {0x80, 0x44, 0x39, 0x59, 0x8C, 0x60, 0xCF, 0xBF}};
inline constexpr IID kIidInfo9 = {
    0x008170DB, 0xF8CC, 0x4796, {0x9A, 0x51, 0xDC, 0x8A, 0xA0, 0xB4, 0x70, 0x12}};

}  // namespace mixwalk::clr

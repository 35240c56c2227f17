#pragma once

// ICorProfilerCallback to ICorProfilerCallback9, in the order of their vtables (corprof.idl). Every event that mixwalk
// does not subscribe to is answered by S_OK. The parameters of such an event are left out, because on x64 the caller
// owns the argument registers and the stack, so a callee that uses no parameters may declare none.

#include <unknwn.h>
#include <windows.h>

#include "symbols/win/profiling_api.h"

namespace mixwalk::clr {

inline constexpr IID kIidCallback = {
    0x176FBED1, 0xA55C, 0x4796, {0x98, 0xCA, 0xA9, 0xDA, 0x0E, 0xF8, 0x83, 0xE7}};
inline constexpr IID kIidCallback2 = {
    0x8A8CC829, 0xCCF2, 0x49fe, {0xBB, 0xAE, 0x0F, 0x02, 0x22, 0x28, 0x07, 0x1A}};
inline constexpr IID kIidCallback3 = {
    0x4FD2ED52, 0x7731, 0x4b8d, {0x94, 0x69, 0x03, 0xD2, 0xCC, 0x30, 0x86, 0xC5}};

inline constexpr IID kIidCallback4 = {
    0x7B63B2E3, 0x107D, 0x4d48, {0xB2, 0xF6, 0xF6, 0x1E, 0x22, 0x94, 0x70, 0xD2}};
inline constexpr IID kIidCallback5 = {
    0x8DFBA405, 0x8C9F, 0x45F8, {0xBF, 0xFA, 0x83, 0xB1, 0x4C, 0xEF, 0x78, 0xB5}};
inline constexpr IID kIidCallback6 = {
    0xFC13DF4B, 0x4448, 0x4F4F, {0x95, 0x0C, 0xBA, 0x8D, 0x19, 0xD0, 0x0C, 0x36}};
inline constexpr IID kIidCallback7 = {
    0xF76A2DBA, 0x1D52, 0x4539, {0x86, 0x6C, 0x2A, 0xA5, 0x18, 0xF9, 0xEF, 0xC3}};
inline constexpr IID kIidCallback8 = {
    0x5BED9B15, 0xC079, 0x4D47, {0xBF, 0xE2, 0x21, 0x5A, 0x14, 0x0C, 0x07, 0xE0}};
inline constexpr IID kIidCallback9 = {
    0x27583EC3, 0xC8F5, 0x482F, {0x80, 0x52, 0x19, 0x4B, 0x8C, 0xE4, 0x70, 0x5A}};

#define MIXWALK_IGNORED(name) \
  virtual HRESULT STDMETHODCALLTYPE name() { return S_OK; }

struct ICorProfilerCallback : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE Initialize(IUnknown* info) = 0;
  virtual HRESULT STDMETHODCALLTYPE Shutdown() = 0;
  MIXWALK_IGNORED(AppDomainCreationStarted)
  MIXWALK_IGNORED(AppDomainCreationFinished)
  MIXWALK_IGNORED(AppDomainShutdownStarted)
  MIXWALK_IGNORED(AppDomainShutdownFinished)
  MIXWALK_IGNORED(AssemblyLoadStarted)
  MIXWALK_IGNORED(AssemblyLoadFinished)
  MIXWALK_IGNORED(AssemblyUnloadStarted)
  MIXWALK_IGNORED(AssemblyUnloadFinished)
  MIXWALK_IGNORED(ModuleLoadStarted)
  // `status` is a failure if the module or the type could not be loaded.
  virtual HRESULT STDMETHODCALLTYPE ModuleLoadFinished(ModuleID module, HRESULT status) = 0;
  virtual HRESULT STDMETHODCALLTYPE ModuleUnloadStarted(ModuleID module) = 0;
  MIXWALK_IGNORED(ModuleUnloadFinished)
  MIXWALK_IGNORED(ModuleAttachedToAssembly)
  MIXWALK_IGNORED(ClassLoadStarted)
  virtual HRESULT STDMETHODCALLTYPE ClassLoadFinished(ClassID type, HRESULT status) = 0;
  MIXWALK_IGNORED(ClassUnloadStarted)
  MIXWALK_IGNORED(ClassUnloadFinished)
  MIXWALK_IGNORED(FunctionUnloadStarted)
  MIXWALK_IGNORED(JITCompilationStarted)
  MIXWALK_IGNORED(JITCompilationFinished)
  MIXWALK_IGNORED(JITCachedFunctionSearchStarted)
  MIXWALK_IGNORED(JITCachedFunctionSearchFinished)
  MIXWALK_IGNORED(JITFunctionPitched)
  MIXWALK_IGNORED(JITInlining)
  MIXWALK_IGNORED(ThreadCreated)
  virtual HRESULT STDMETHODCALLTYPE ThreadDestroyed(ThreadID thread) = 0;
  virtual HRESULT STDMETHODCALLTYPE ThreadAssignedToOSThread(ThreadID thread, DWORD os_thread) = 0;
  MIXWALK_IGNORED(RemotingClientInvocationStarted)
  MIXWALK_IGNORED(RemotingClientSendingMessage)
  MIXWALK_IGNORED(RemotingClientReceivingReply)
  MIXWALK_IGNORED(RemotingClientInvocationFinished)
  MIXWALK_IGNORED(RemotingServerReceivingMessage)
  MIXWALK_IGNORED(RemotingServerInvocationStarted)
  MIXWALK_IGNORED(RemotingServerInvocationReturned)
  MIXWALK_IGNORED(RemotingServerSendingReply)
  MIXWALK_IGNORED(UnmanagedToManagedTransition)
  MIXWALK_IGNORED(ManagedToUnmanagedTransition)
  MIXWALK_IGNORED(RuntimeSuspendStarted)
  MIXWALK_IGNORED(RuntimeSuspendFinished)
  MIXWALK_IGNORED(RuntimeSuspendAborted)
  MIXWALK_IGNORED(RuntimeResumeStarted)
  MIXWALK_IGNORED(RuntimeResumeFinished)
  MIXWALK_IGNORED(RuntimeThreadSuspended)
  MIXWALK_IGNORED(RuntimeThreadResumed)
  MIXWALK_IGNORED(MovedReferences)
  virtual HRESULT STDMETHODCALLTYPE ObjectAllocated(ObjectID object, ClassID type) = 0;
  MIXWALK_IGNORED(ObjectsAllocatedByClass)
  MIXWALK_IGNORED(ObjectReferences)
  MIXWALK_IGNORED(RootReferences)
  virtual HRESULT STDMETHODCALLTYPE ExceptionThrown(ObjectID object) = 0;
  MIXWALK_IGNORED(ExceptionSearchFunctionEnter)
  MIXWALK_IGNORED(ExceptionSearchFunctionLeave)
  MIXWALK_IGNORED(ExceptionSearchFilterEnter)
  MIXWALK_IGNORED(ExceptionSearchFilterLeave)
  MIXWALK_IGNORED(ExceptionSearchCatcherFound)
  MIXWALK_IGNORED(ExceptionOSHandlerEnter)
  MIXWALK_IGNORED(ExceptionOSHandlerLeave)
  MIXWALK_IGNORED(ExceptionUnwindFunctionEnter)
  MIXWALK_IGNORED(ExceptionUnwindFunctionLeave)
  MIXWALK_IGNORED(ExceptionUnwindFinallyEnter)
  MIXWALK_IGNORED(ExceptionUnwindFinallyLeave)
  MIXWALK_IGNORED(ExceptionCatcherEnter)
  MIXWALK_IGNORED(ExceptionCatcherLeave)
  MIXWALK_IGNORED(COMClassicVTableCreated)
  MIXWALK_IGNORED(COMClassicVTableDestroyed)
  MIXWALK_IGNORED(ExceptionCLRCatcherFound)
  MIXWALK_IGNORED(ExceptionCLRCatcherExecute)
};

struct ICorProfilerCallback2 : ICorProfilerCallback {
  // `name` is UTF-16, `length` units, without a terminator.
  virtual HRESULT STDMETHODCALLTYPE ThreadNameChanged(ThreadID thread, ULONG length,
                                                      WCHAR name[]) = 0;
  MIXWALK_IGNORED(GarbageCollectionStarted)
  MIXWALK_IGNORED(SurvivingReferences)
  MIXWALK_IGNORED(GarbageCollectionFinished)
  MIXWALK_IGNORED(FinalizeableObjectQueued)
  MIXWALK_IGNORED(RootReferences2)
  MIXWALK_IGNORED(HandleCreated)
  MIXWALK_IGNORED(HandleDestroyed)
};

struct ICorProfilerCallback3 : ICorProfilerCallback2 {
  virtual HRESULT STDMETHODCALLTYPE InitializeForAttach(IUnknown* info, void* client_data,
                                                        UINT client_bytes) = 0;
  virtual HRESULT STDMETHODCALLTYPE ProfilerAttachComplete() = 0;
  virtual HRESULT STDMETHODCALLTYPE ProfilerDetachSucceeded() = 0;
};

struct ICorProfilerCallback4 : ICorProfilerCallback3 {
  MIXWALK_IGNORED(ReJITCompilationStarted)
  MIXWALK_IGNORED(GetReJITParameters)
  MIXWALK_IGNORED(ReJITCompilationFinished)
  MIXWALK_IGNORED(ReJITError)
  MIXWALK_IGNORED(MovedReferences2)
  MIXWALK_IGNORED(SurvivingReferences2)
};

struct ICorProfilerCallback5 : ICorProfilerCallback4 {
  MIXWALK_IGNORED(ConditionalWeakTableElementReferences)
};

struct ICorProfilerCallback6 : ICorProfilerCallback5 {
  MIXWALK_IGNORED(GetAssemblyReferences)
};

struct ICorProfilerCallback7 : ICorProfilerCallback6 {
  MIXWALK_IGNORED(ModuleInMemorySymbolsUpdated)
};

struct ICorProfilerCallback8 : ICorProfilerCallback7 {
  MIXWALK_IGNORED(DynamicMethodJITCompilationStarted)
  MIXWALK_IGNORED(DynamicMethodJITCompilationFinished)
};

struct ICorProfilerCallback9 : ICorProfilerCallback8 {
  // Called before the method's code and its name are freed, on the thread that frees them, in cooperative mode.
  virtual HRESULT STDMETHODCALLTYPE DynamicMethodUnloaded(FunctionID function) = 0;
};

#undef MIXWALK_IGNORED

}  // namespace mixwalk::clr

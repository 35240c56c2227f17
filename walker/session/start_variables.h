#pragma once

namespace mixwalk {

// The variables by which mixwalk.exe makes a program that it starts load mixwalk.dll. The program has them until
// mixwalk.dll is loaded. Then each variable gets its earlier value again, for the children of that program, and
// mixwalk's own variables are removed.

// The name of the pipe to which mixwalk.dll connects.
inline constexpr wchar_t kPipeVariable[] = L"MIXWALK_PIPE";
// Set if a recording of allocations will be asked for.
inline constexpr wchar_t kAllocationsVariable[] = L"MIXWALK_ALLOCATIONS";
// A variable whose name is this prefix followed by a name below has the value that mixwalk.exe found.
inline constexpr wchar_t kKeptPrefix[] = L"MIXWALK_KEPT_";

// The variables that .NET (CORECLR_) and .NET Framework (COR_) read when they start. A path for 32 or
// 64 bits takes precedence over the path without a number.
inline constexpr const wchar_t* kProfilerVariables[] = {
    L"CORECLR_ENABLE_PROFILING", L"CORECLR_PROFILER",         L"CORECLR_PROFILER_PATH",
    L"CORECLR_PROFILER_PATH_32", L"CORECLR_PROFILER_PATH_64", L"COR_ENABLE_PROFILING",
    L"COR_PROFILER",             L"COR_PROFILER_PATH",        L"COR_PROFILER_PATH_32",
    L"COR_PROFILER_PATH_64"};

}  // namespace mixwalk

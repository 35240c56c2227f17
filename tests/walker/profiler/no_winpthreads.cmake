cmake_minimum_required(VERSION 3.21)
# mixwalk.dll must contain nothing of winpthreads, nor of the parts of libgcc and libstdc++ that use winpthreads.
# usage: cmake -DNM=… -DDLL=… -P no_winpthreads.cmake
#
# Folklore: winpthreads allocates state for each thread that calls into it, at the thread's first call. Without memory
# it calls abort(), or accesses memory that it did not get, and so ended the target. Two causes were seen: the guard of
# a static local variable (__cxa_guard_acquire calls pthread_once), and thread-local variables, which GCC emulates
# (__emutls_get_address). Any of these causes winpthreads to be linked: thread_local, a static local variable that is
# initialised at run time, std::thread, std::mutex, std::call_once, the clocks of std::chrono.
execute_process(COMMAND ${NM} --defined-only --format=posix ${DLL}
                OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
# This tests the check itself: our own replacement of a function of libstdc++ must be found.
if(failed OR NOT symbols MATCHES "(^|\n)__cxa_get_globals ")
  message(FATAL_ERROR "nm says nothing of ${DLL}")
endif()
string(REGEX MATCHALL "(^|\n)(_*pthread_[a-z_]+|__cxa_guard_[a-z]+|__emutls_[a-z_]+) " found "${symbols}")
if(found)
  string(REPLACE "\n" "" found "${found}")
  message(FATAL_ERROR "not allowed in ${DLL}: ${found}")
endif()

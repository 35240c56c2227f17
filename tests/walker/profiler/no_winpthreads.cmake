cmake_minimum_required(VERSION 3.21)
# mixwalk.dll holds nothing of winpthreads, nor of what libgcc and libstdc++ build upon it.
# usage: cmake -DNM=… -DDLL=… -P no_winpthreads.cmake
#
# Folklore: winpthreads allocates state for each thread that calls into it, at its first call, and
# without memory it calls abort() or touches what it did not get. That ended the target: by the guard of
# a static local variable (__cxa_guard_acquire calls pthread_once) and by thread-local variables, which
# GCC emulates (__emutls_get_address). Any of these brings it in: thread_local, a static local variable
# that is initialised at run time, std::thread, std::mutex, std::call_once, the clocks of std::chrono.
execute_process(COMMAND ${NM} --defined-only --format=posix ${DLL}
                OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
# The check itself works: our own replacement of a function of libstdc++ is there.
if(failed OR NOT symbols MATCHES "(^|\n)__cxa_get_globals ")
  message(FATAL_ERROR "nm says nothing of ${DLL}")
endif()
string(REGEX MATCHALL "(^|\n)(_*pthread_[a-z_]+|__cxa_guard_[a-z]+|__emutls_[a-z_]+) " found "${symbols}")
if(found)
  string(REPLACE "\n" "" found "${found}")
  message(FATAL_ERROR "not allowed in ${DLL}: ${found}")
endif()

cmake_minimum_required(VERSION 3.21)
# The frozen-safe libraries must import nothing that allocates, locks, logs or calls the system.
# usage: cmake -DNM=… "-DLIBRARIES=a|b" -P imports_test.cmake
# A symbol that one of the libraries itself defines does not count as an import. These imports are also allowed:
string(REPLACE "|" ";" LIBRARIES "${LIBRARIES}")
set(allowed
  memcpy memmove memset memcmp
  __chkstk_ms ___chkstk_ms      # stack probing of large frames (mingw-w64)
  __stack_chk_fail)             # a compiler that guards stacks
execute_process(COMMAND ${NM} --defined-only --format=posix ${LIBRARIES}
                OUTPUT_VARIABLE defined RESULT_VARIABLE failed)
execute_process(COMMAND ${NM} --undefined-only --format=posix ${LIBRARIES}
                OUTPUT_VARIABLE undefined RESULT_VARIABLE failed_too)
if(failed OR failed_too)
  message(FATAL_ERROR "nm failed on ${LIBRARIES}")
endif()
string(REGEX MATCHALL "[^\n]+ [A-Z] ?[^\n]*" defined_lines "${defined}")
set(own "")
foreach(line ${defined_lines})
  string(REGEX REPLACE " .*" "" symbol "${line}")
  list(APPEND own "${symbol}")
endforeach()
string(REGEX MATCHALL "[^\n]+ U ?[^\n]*" undefined_lines "${undefined}")
set(bad "")
set(checked 0)
foreach(line ${undefined_lines})
  string(REGEX REPLACE " .*" "" symbol "${line}")
  math(EXPR checked "${checked} + 1")
  if(NOT symbol IN_LIST own AND NOT symbol IN_LIST allowed)
    list(APPEND bad "${symbol}")
  endif()
endforeach()
list(REMOVE_DUPLICATES bad)
if(checked EQUAL 0)
  message(FATAL_ERROR "no import was found at all: the check itself is broken")
endif()
if(bad)
  message(FATAL_ERROR "not allowed while a thread is frozen: ${bad}")
endif()
message("${checked} imports, all allowed")

# How the targets of walker/, unmanaged/ and symbols/ are compiled.

# The headers of the standard library that most files include, compiled once for all of them. (The tests have their own,
# with GoogleTest in it.) A precompiled header goes with the options that it was compiled with.
if(MIXWALK_PRECOMPILE)
  foreach(headers mixwalk_standard_headers mixwalk_standard_headers_small)
    add_library(${headers} OBJECT ${CMAKE_SOURCE_DIR}/walker/base/precompiled.cpp)
    target_link_libraries(${headers} PRIVATE mixwalk_settings)
    target_compile_options(${headers} PRIVATE ${MIXWALK_SHIPPED_OPTIONS})
    target_precompile_headers(${headers} PRIVATE
      <algorithm> <array> <charconv> <chrono> <cstdint> <functional> <map> <memory> <optional> <span> <string>
      <string_view> <unordered_map> <utility> <variant> <vector>)
  endforeach()
  target_compile_options(mixwalk_standard_headers_small PRIVATE ${MIXWALK_SMALL_OPTIONS})
endif()

# mixwalk_compile_together(TARGET): eight files of the target are one compilation, because most of a file's time goes into
# headers. (Not without MIXWALK_PRECOMPILE, so that a missing include shows.)
function(mixwalk_compile_together target)
  if(MIXWALK_PRECOMPILE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# mixwalk_compile_alone(FILE …): files of such a target that name something like another file of it.
function(mixwalk_compile_alone)
  set_source_files_properties(${ARGV} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# mixwalk_compiled(TARGET [FROZEN] [SMALL] [TOGETHER | TOGETHER_NATIVELY]): called once for each target.
#   FROZEN: code that runs while a thread is frozen, without exceptions.
#   SMALL: its size counts more than its time (MIXWALK_SMALL_OPTIONS).
#   TOGETHER: mixwalk_compile_together. Not what mixwalk.dll is made of: it would have all of a compilation where it needs
#     one file, and tests and benchmarks replace (--wrap) functions of theirs, which a caller in the same compilation would
#     not notice. In some other targets, files have unnamed things of the same name.
#   TOGETHER_NATIVELY: the same, but only where no mixwalk.dll is built.
function(mixwalk_compiled target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FROZEN;SMALL;TOGETHER;TOGETHER_NATIVELY" "" "")
  target_link_libraries(${target} PRIVATE mixwalk_settings)
  target_compile_options(${target} PRIVATE ${MIXWALK_SHIPPED_OPTIONS})
  set(headers mixwalk_standard_headers)
  if(arg_SMALL)
    target_compile_options(${target} PRIVATE ${MIXWALK_SMALL_OPTIONS})
    set(headers mixwalk_standard_headers_small)
  endif()
  if(arg_FROZEN)
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
  elseif(MIXWALK_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
  if(arg_TOGETHER OR (arg_TOGETHER_NATIVELY AND NOT WIN32))
    mixwalk_compile_together(${target})
  endif()
endfunction()

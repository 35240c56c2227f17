# The headers of the standard library that most files include, compiled once for all of them. (The tests have their own,
# with GoogleTest in it.)
foreach(headers mixwalk_standard_headers mixwalk_standard_headers_small)
  add_library(${headers} OBJECT ${CMAKE_SOURCE_DIR}/walker/base/precompiled.cpp)
  target_compile_options(${headers} PRIVATE ${MIXWALK_SHIPPED_OPTIONS})
  target_precompile_headers(${headers} PRIVATE
    <algorithm> <array> <charconv> <chrono> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view>
    <unordered_map> <utility> <variant> <vector>)
endforeach()
target_compile_options(mixwalk_standard_headers_small PRIVATE ${MIXWALK_SMALL_OPTIONS})

foreach(folder unmanaged symbols walker)
  get_property(targets DIRECTORY ${CMAKE_SOURCE_DIR}/${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(options ${target} COMPILE_OPTIONS)
    get_target_property(headers ${target} PRECOMPILE_HEADERS)
    # A precompiled header goes with the options that it was compiled with.
    if(target MATCHES "^mixwalk_" AND type MATCHES "STATIC_LIBRARY|SHARED_LIBRARY|EXECUTABLE" AND
       NOT options MATCHES "-fno-exceptions" AND NOT headers)
      if(options MATCHES "${MIXWALK_SMALL_OPTIONS}")
        target_precompile_headers(${target} REUSE_FROM mixwalk_standard_headers_small)
      else()
        target_precompile_headers(${target} REUSE_FROM mixwalk_standard_headers)
      endif()
      # The files of some targets are compiled together. Not those that mixwalk.dll is made of: it would have all of a
      # compilation where it needs one file, and tests and benchmarks replace (--wrap) functions of theirs, which a caller
      # in the same compilation would not notice. In some others, files have unnamed things of the same name.
      set(together exe hang otlp outside outside_win report)
      if(NOT WIN32)
        list(APPEND together protocol symbol_index symbols)
      endif()
      string(REPLACE mixwalk_ "" name ${target})
      if(name IN_LIST together)
        mixwalk_compile_together(${target})
      endif()
    endif()
  endforeach()
endforeach()

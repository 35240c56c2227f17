# Builds libdwarf from its source (tests/tools/install fetches it). Debian 12's own version is too old, because it
# gives wrong files for inlined calls, and there is none for mingw-w64. Target: dwarf.
set(mixwalk_libdwarf ${MIXWALK_LIBDWARF})
if(NOT EXISTS ${mixwalk_libdwarf}/CMakeLists.txt)
  message(FATAL_ERROR "missing: the source of libdwarf (tests/run fetches it)")
endif()

function(mixwalk_add_libdwarf)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # its options take the values below
  set(CMAKE_MESSAGE_LOG_LEVEL WARNING)
  set(BUILD_SHARED OFF)
  set(BUILD_DWARFDUMP OFF)
  set(ENABLE_DECOMPRESSION OFF)  # sections of images are not compressed
  add_subdirectory(${mixwalk_libdwarf} ${CMAKE_BINARY_DIR}/libdwarf EXCLUDE_FROM_ALL)
endfunction()
mixwalk_add_libdwarf()
# Its warnings are not corrected here.
target_compile_options(dwarf PRIVATE -w ${MIXWALK_SHIPPED_OPTIONS})
get_target_property(mixwalk_libdwarf_headers dwarf INTERFACE_INCLUDE_DIRECTORIES)
set_target_properties(dwarf PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${mixwalk_libdwarf_headers}")

# The places where Debian, and tests/tools/install, keep the libraries of others. The purpose of each variable is
# described in walker/base/libraries.cmake.
set(MIXWALK_HEADERS /usr/include)
set(MIXWALK_GOOGLETEST /usr/src/googletest)
set(MIXWALK_CAPSTONE ${CMAKE_SOURCE_DIR}/build/sources/capstone)
set(MIXWALK_LIBDWARF ${CMAKE_SOURCE_DIR}/build/sources/dwarfutils)
set(MIXWALK_LLVM ${CMAKE_SOURCE_DIR}/build/sources/llvm-toolchain-19/llvm)
set(MIXWALK_NODE_MODULES ${CMAKE_SOURCE_DIR}/build/npm/node_modules)

# The toolchain file directs the search to the cross compiler's own libraries.
find_library(MIXWALK_ZLIB libz.a)
find_path(MIXWALK_ZLIB_HEADERS zlib.h)
if(NOT MIXWALK_ZLIB OR NOT MIXWALK_ZLIB_HEADERS)
  message(FATAL_ERROR "missing: zlib (tests/run installs it)")
endif()
add_library(mixwalk_zlib STATIC IMPORTED)
set_target_properties(mixwalk_zlib PROPERTIES IMPORTED_LOCATION ${MIXWALK_ZLIB}
                      INTERFACE_INCLUDE_DIRECTORIES ${MIXWALK_ZLIB_HEADERS})

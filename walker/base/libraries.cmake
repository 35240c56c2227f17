# The libraries of others: those of Debian and of tests/tools/install, or on any system the folder MIXWALK_VENDORED,
# which tests/tools/vendor makes and checks (docs/developing.md). Either way these are set:
#   MIXWALK_HEADERS       the folder of CLI, boost, fmt, spdlog, nlohmann and protozero
#   MIXWALK_GOOGLETEST, MIXWALK_CAPSTONE, MIXWALK_LIBDWARF    sources with a CMakeLists.txt
#   MIXWALK_LLVM          LLVM's demanglers: lib/Demangle and include/llvm/Demangle
#   MIXWALK_NODE_MODULES  the scripts of the HTML report
# and there is the target mixwalk_zlib: an archive, since mixwalk.exe needs no DLL beside it.
set(MIXWALK_VENDORED "" CACHE PATH "A folder of libraries that tests/tools/vendor has made or checked")

if(MIXWALK_VENDORED)
  set(lock ${CMAKE_SOURCE_DIR}/tests/tools/libraries.lock)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lock})
  file(READ ${lock} wanted)
  set(checked "")
  if(EXISTS ${MIXWALK_VENDORED}/.checked)
    file(READ ${MIXWALK_VENDORED}/.checked checked)
  endif()
  if(NOT checked STREQUAL wanted)
    message(FATAL_ERROR "${MIXWALK_VENDORED} has not the libraries of tests/tools/libraries.lock, or was not checked: "
                        "python3 tests/tools/vendor check ${MIXWALK_VENDORED}")
  endif()
  set(MIXWALK_HEADERS ${MIXWALK_VENDORED}/include)
  set(MIXWALK_GOOGLETEST ${MIXWALK_VENDORED}/googletest)
  set(MIXWALK_CAPSTONE ${MIXWALK_VENDORED}/capstone)
  set(MIXWALK_LIBDWARF ${MIXWALK_VENDORED}/dwarfutils)
  set(MIXWALK_LLVM ${MIXWALK_VENDORED}/llvm-toolchain-19/llvm)
  set(MIXWALK_NODE_MODULES ${MIXWALK_VENDORED}/node_modules)
  file(GLOB zlib_sources ${MIXWALK_VENDORED}/zlib/*.c)
  add_library(mixwalk_zlib STATIC ${zlib_sources})
  target_include_directories(mixwalk_zlib SYSTEM PUBLIC ${MIXWALK_VENDORED}/zlib)
  target_compile_options(mixwalk_zlib PRIVATE -w)  # its warnings are not ours to mend
elseif(CMAKE_HOST_UNIX)
  include(${CMAKE_SOURCE_DIR}/tests/tools/debian.cmake)
else()
  message(FATAL_ERROR "MIXWALK_VENDORED must name the folder of the libraries (docs/developing.md, \"On Windows\")")
endif()

set(mixwalk_headers ${MIXWALK_HEADERS})
if(NOT MIXWALK_VENDORED)
  # Seen through a folder of links: the whole folder would put the host's own headers before the cross compiler's.
  set(mixwalk_headers ${CMAKE_BINARY_DIR}/header-only)
  file(MAKE_DIRECTORY ${mixwalk_headers})
endif()
foreach(library CLI boost fmt spdlog nlohmann protozero)
  if(NOT EXISTS ${MIXWALK_HEADERS}/${library})
    message(FATAL_ERROR "missing headers: ${library} (tests/run installs them)")
  endif()
  if(NOT EXISTS ${mixwalk_headers}/${library})
    file(CREATE_LINK ${MIXWALK_HEADERS}/${library} ${mixwalk_headers}/${library} SYMBOLIC)
  endif()
endforeach()
add_library(mixwalk_header_only INTERFACE)
target_include_directories(mixwalk_header_only SYSTEM INTERFACE ${mixwalk_headers})

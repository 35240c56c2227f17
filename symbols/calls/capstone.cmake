# capstone, from its source (tests/support/install fetches it): there is none for mingw-w64, and one version
# decodes the same on every system. x86 only. Target: capstone_static.
set(mixwalk_capstone ${CMAKE_SOURCE_DIR}/build/sources/capstone)
if(NOT EXISTS ${mixwalk_capstone}/.ready)
  message(FATAL_ERROR "missing: the source of capstone (tests/run fetches it)")
endif()

function(mixwalk_add_capstone)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # its options take the values below
  set(CMAKE_MESSAGE_LOG_LEVEL WARNING)
  set(BUILD_SHARED_LIBS OFF)
  set(BUILD_STATIC_LIBS ON)
  set(CAPSTONE_ARCHITECTURE_DEFAULT OFF)
  set(CAPSTONE_X86_SUPPORT ON)
  set(CAPSTONE_X86_ATT_DISABLE ON)
  set(CAPSTONE_BUILD_DIET OFF)  # operands and text are what it is for
  set(CAPSTONE_BUILD_TESTS OFF)
  set(CAPSTONE_BUILD_CSTOOL OFF)
  set(CAPSTONE_INSTALL OFF)
  add_subdirectory(${mixwalk_capstone} ${CMAKE_BINARY_DIR}/capstone EXCLUDE_FROM_ALL)
endfunction()
mixwalk_add_capstone()
# Its warnings are not ours to mend.
target_compile_options(capstone PRIVATE -w)
target_include_directories(capstone_static SYSTEM INTERFACE ${mixwalk_capstone}/include)

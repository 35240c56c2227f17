# LLVM's demanglers, of which no package has a build for mingw-w64: those for Microsoft's names and for Rust's.
# itanium.cpp contains the one for Itanium's names, which is a header. (tests/tools/install fetches the source.)
# Target: mixwalk_llvm_demangle.
set(mixwalk_llvm ${MIXWALK_LLVM})
if(NOT EXISTS ${mixwalk_llvm}/lib/Demangle/RustDemangle.cpp)
  message(FATAL_ERROR "missing: the source of LLVM's demanglers (tests/run fetches it)")
endif()

# msvc_names.patch says what it changes. Each part must fit exactly: if LLVM's source becomes another one, the build
# fails here.
find_program(mixwalk_patch patch REQUIRED)
set(mixwalk_msvc_source ${CMAKE_BINARY_DIR}/llvm/MicrosoftDemangle.cpp)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/llvm)
add_custom_command(
  OUTPUT ${mixwalk_msvc_source}
  COMMAND ${mixwalk_patch} --quiet --fuzz=0 --binary --output=${mixwalk_msvc_source}
          --input=${CMAKE_CURRENT_SOURCE_DIR}/demangle/msvc_names.patch
          ${mixwalk_llvm}/lib/Demangle/MicrosoftDemangle.cpp
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/demangle/msvc_names.patch ${mixwalk_llvm}/lib/Demangle/MicrosoftDemangle.cpp
  VERBATIM)

add_library(mixwalk_llvm_demangle STATIC
  ${mixwalk_msvc_source}
  ${mixwalk_llvm}/lib/Demangle/MicrosoftDemangleNodes.cpp
  ${mixwalk_llvm}/lib/Demangle/RustDemangle.cpp)
target_include_directories(mixwalk_llvm_demangle SYSTEM PUBLIC ${mixwalk_llvm}/include)
# Its warnings are not corrected here.
target_compile_options(mixwalk_llvm_demangle PRIVATE -w ${MIXWALK_SMALL_OPTIONS} ${MIXWALK_SHIPPED_OPTIONS}
                       -include ${CMAKE_CURRENT_SOURCE_DIR}/demangle/limited_output.h)

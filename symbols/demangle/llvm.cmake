# LLVM's demanglers, of which no package has a build for mingw-w64: those for Microsoft's names and for Rust's.
# itanium.cpp contains the one for Itanium's names, which is a header. (tests/tools/install fetches the source.)
# Target: mixwalk_llvm_demangle.
set(mixwalk_llvm ${MIXWALK_LLVM})
if(NOT EXISTS ${mixwalk_llvm}/lib/Demangle/RustDemangle.cpp)
  message(FATAL_ERROR "missing: the source of LLVM's demanglers (tests/run fetches it)")
endif()
add_library(mixwalk_llvm_demangle STATIC
  ${mixwalk_llvm}/lib/Demangle/MicrosoftDemangle.cpp
  ${mixwalk_llvm}/lib/Demangle/MicrosoftDemangleNodes.cpp
  ${mixwalk_llvm}/lib/Demangle/RustDemangle.cpp)
target_include_directories(mixwalk_llvm_demangle SYSTEM PUBLIC ${mixwalk_llvm}/include)
# Its warnings are not corrected here.
target_compile_options(mixwalk_llvm_demangle PRIVATE -w ${MIXWALK_SMALL_OPTIONS} ${MIXWALK_SHIPPED_OPTIONS}
                       -include ${CMAKE_CURRENT_SOURCE_DIR}/demangle/limited_output.h)

# The truth with which names, inlined calls and lines are compared: llvm-symbolizer; llvm-undname for MSVC's decorated
# names; llvm-cxxfilt and the binutils' c++filt for those of C++ and Rust. As with binutils_oracle.cmake, a test that
# needs a missing tool fails, and says so.
find_program(MIXWALK_LLVM_SYMBOLIZER llvm-symbolizer-19)
find_program(MIXWALK_LLVM_UNDNAME llvm-undname-19)
find_program(MIXWALK_LLVM_CXXFILT llvm-cxxfilt-19)
find_program(MIXWALK_CXXFILT c++filt)
find_program(MIXWALK_HOST_NM nm)
find_program(MIXWALK_LLVM_NM llvm-nm-19)

add_library(mixwalk_symbolizer_oracle STATIC ${CMAKE_CURRENT_LIST_DIR}/symbolizer_oracle.cpp)
target_compile_definitions(mixwalk_symbolizer_oracle PRIVATE
  MIXWALK_LLVM_SYMBOLIZER="${MIXWALK_LLVM_SYMBOLIZER}"
  MIXWALK_LLVM_UNDNAME="${MIXWALK_LLVM_UNDNAME}"
  MIXWALK_LLVM_CXXFILT="${MIXWALK_LLVM_CXXFILT}"
  MIXWALK_CXXFILT="${MIXWALK_CXXFILT}"
  MIXWALK_HOST_NM="${MIXWALK_HOST_NM}"
  MIXWALK_LLVM_NM="${MIXWALK_LLVM_NM}"
  MIXWALK_OBJDUMP="${MIXWALK_OBJDUMP}")
target_link_libraries(mixwalk_symbolizer_oracle PUBLIC mixwalk_image)

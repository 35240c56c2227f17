# Measures what names by DWARF cost: tests/bench/symbols. It is started by hand; no test runs it.
add_executable(symbol_lookups EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/symbol_lookups.cpp)
target_compile_options(symbol_lookups PRIVATE -O2)
target_link_libraries(symbol_lookups PRIVATE mixwalk_dwarf mixwalk_native_symbols mixwalk_symbolizer_oracle)
target_compile_definitions(symbol_lookups PRIVATE MIXWALK_LLVM_SYMBOLIZER="${MIXWALK_LLVM_SYMBOLIZER}")

# The units have 55 MB of debug information; compiling one takes 31 s.
set(big_objects)
foreach(unit 1 2 3 4 5)
  set(object ${CMAKE_BINARY_DIR}/big_unit_${unit}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${MIXWALK_MINGW_CXX} -std=c++20 -O2 -g -DMIXWALK_UNIT=${unit} -c
            ${CMAKE_CURRENT_LIST_DIR}/big_unit.cpp -o ${object}
    DEPENDS ${CMAKE_CURRENT_LIST_DIR}/big_unit.cpp VERBATIM)
  list(APPEND big_objects ${object})
endforeach()
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/big.exe
  COMMAND ${MIXWALK_MINGW_CXX} -O2 -g -static -o ${CMAKE_BINARY_DIR}/big.exe
          ${CMAKE_CURRENT_LIST_DIR}/big_main.cpp ${big_objects}
  DEPENDS ${big_objects} ${CMAKE_CURRENT_LIST_DIR}/big_main.cpp VERBATIM)
add_custom_target(big_image DEPENDS ${CMAKE_BINARY_DIR}/big.exe)

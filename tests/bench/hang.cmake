# Measures what a comparison of dumps costs: tests/bench/hang. It is started by hand; no test runs it.
add_executable(hang_compare EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/hang_compare.cpp)
target_compile_options(hang_compare PRIVATE -O2)
target_link_libraries(hang_compare PRIVATE mixwalk_builders mixwalk_hang mixwalk_export mixwalk_report)

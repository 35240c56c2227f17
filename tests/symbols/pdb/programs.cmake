# Windows programs with a PDB, made by clang and lld, with which the PDB reader is tested.
find_program(MIXWALK_CLANG clang++-14 REQUIRED)
find_program(MIXWALK_LLD ld.lld-14 REQUIRED)
find_program(MIXWALK_LLD_LINK lld-link-14 REQUIRED)
find_program(MIXWALK_LLVM_OBJCOPY llvm-objcopy-19 REQUIRED)
find_program(MIXWALK_MINGW_GCC x86_64-w64-mingw32-g++-posix REQUIRED)

set(MIXWALK_PDB_PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/programs)
file(MAKE_DIRECTORY ${MIXWALK_PDB_PROGRAMS})
set(pdb_sources ${CMAKE_CURRENT_SOURCE_DIR}/programs)

# Finds the folders of the cross compiler, because clang does not find its C++ library by itself.
function(mingw_folder variable file)
  execute_process(COMMAND ${MIXWALK_MINGW_GCC} -print-file-name=${file}
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
mingw_folder(mingw_cxx include/c++)
mingw_folder(mingw_crt2 crt2.o)
mingw_folder(mingw_crtbegin crtbegin.o)
mingw_folder(mingw_crtend crtend.o)
get_filename_component(mingw_libraries ${mingw_crt2} DIRECTORY)
get_filename_component(mingw_gcc_libraries ${mingw_crtbegin} DIRECTORY)
set(pdb_cxx_flags --target=x86_64-w64-mingw32 -std=c++20 -O2 -g -gcodeview
    -isystem ${mingw_cxx} -isystem ${mingw_cxx}/x86_64-w64-mingw32)
set(pdb_libraries -lstdc++ -lmingw32 -lgcc -lgcc_eh -lmoldname -lmingwex -lmsvcrt -lpthread -ladvapi32
    -lshell32 -luser32 -lkernel32 -lmingw32 -lgcc -lmingwex -lmsvcrt -lkernel32)

# pdb_program(NAME OBJECT …): links NAME.exe and NAME.pdb. The C library's own DWARF is removed, because otherwise the
# oracle would use only that.
function(pdb_program name)
  set(program ${MIXWALK_PDB_PROGRAMS}/${name})
  add_custom_command(
    OUTPUT ${program}.exe
    BYPRODUCTS ${program}.pdb
    COMMAND ${MIXWALK_LLD} -m i386pep -Bstatic --icf=all -o ${program}.exe -pdb ${program}.pdb
            ${mingw_crt2} ${mingw_crtbegin} -L${mingw_gcc_libraries} -L${mingw_libraries} ${ARGN}
            ${pdb_libraries} ${mingw_crtend}
    COMMAND ${MIXWALK_LLVM_OBJCOPY} --strip-debug ${program}.exe
    DEPENDS ${ARGN}
    VERBATIM)
endfunction()

# pdb_object(OBJECT SOURCE FLAG …)
function(pdb_object object source)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${MIXWALK_CLANG} ${pdb_cxx_flags} ${ARGN} -c ${source} -o ${object}
    DEPENDS ${source}
    VERBATIM)
endfunction()

add_custom_command(
  OUTPUT ${MIXWALK_PDB_PROGRAMS}/freestanding.dll
  BYPRODUCTS ${MIXWALK_PDB_PROGRAMS}/freestanding.pdb
  COMMAND ${MIXWALK_CLANG} --target=x86_64-pc-windows-msvc -std=c++20 -O2 -g -gcodeview -fno-exceptions
          -fno-rtti -ffreestanding -ffunction-sections -c ${pdb_sources}/freestanding.cpp
          -o ${MIXWALK_PDB_PROGRAMS}/freestanding.obj
  COMMAND ${MIXWALK_LLD_LINK} -dll -noentry -nodefaultlib -debug -opt:ref,icf
          -out:${MIXWALK_PDB_PROGRAMS}/freestanding.dll -pdb:${MIXWALK_PDB_PROGRAMS}/freestanding.pdb
          ${MIXWALK_PDB_PROGRAMS}/freestanding.obj
  DEPENDS ${pdb_sources}/freestanding.cpp ${pdb_sources}/freestanding.h
  VERBATIM)
add_custom_command(
  OUTPUT ${MIXWALK_PDB_PROGRAMS}/publics.dll
  BYPRODUCTS ${MIXWALK_PDB_PROGRAMS}/publics.pdb
  COMMAND ${MIXWALK_CLANG} --target=x86_64-pc-windows-msvc -c ${pdb_sources}/publics.s
          -o ${MIXWALK_PDB_PROGRAMS}/publics.obj
  COMMAND ${MIXWALK_LLD_LINK} -dll -noentry -nodefaultlib -debug -export:first
          -out:${MIXWALK_PDB_PROGRAMS}/publics.dll -pdb:${MIXWALK_PDB_PROGRAMS}/publics.pdb
          ${MIXWALK_PDB_PROGRAMS}/publics.obj
  DEPENDS ${pdb_sources}/publics.s
  VERBATIM)
pdb_object(${MIXWALK_PDB_PROGRAMS}/standard_library.o ${pdb_sources}/standard_library.cpp)
pdb_program(standard_library ${MIXWALK_PDB_PROGRAMS}/standard_library.o)
add_custom_target(pdb_programs DEPENDS
  ${MIXWALK_PDB_PROGRAMS}/freestanding.dll ${MIXWALK_PDB_PROGRAMS}/publics.dll
  ${MIXWALK_PDB_PROGRAMS}/standard_library.exe)

# A PDB of some 26 MB, made on request.
set(big_objects)
function(big_object name source)
  set(object ${MIXWALK_PDB_PROGRAMS}/${name}.o)
  pdb_object(${object} ${source} -isystem ${mixwalk_headers} -DFMT_HEADER_ONLY -DSPDLOG_FMT_EXTERNAL
             -I${MIXWALK_GOOGLETEST}/googletest -I${MIXWALK_GOOGLETEST}/googletest/include
             -I${MIXWALK_GOOGLETEST}/googlemock -I${MIXWALK_GOOGLETEST}/googlemock/include ${ARGN})
  set(big_objects ${big_objects} ${object} PARENT_SCOPE)
endfunction()
big_object(gtest ${MIXWALK_GOOGLETEST}/googletest/src/gtest-all.cc)
big_object(gmock ${MIXWALK_GOOGLETEST}/googlemock/src/gmock-all.cc)
big_object(big_main ${pdb_sources}/big_main.cpp)
big_object(big_log ${pdb_sources}/big_log.cpp)
set(number 0)
foreach(types "std::map;double;int" "std::map;float;int" "std::map;double;long long"
        "nlohmann::ordered_map;double;int" "nlohmann::ordered_map;float;int")
  math(EXPR number "${number} + 1")
  list(GET types 0 object)
  list(GET types 1 real)
  list(GET types 2 integer)
  big_object(big_json${number} ${pdb_sources}/big_json.cpp -DOBJECT=${object} -DREAL=${real}
             "-DINTEGER=${integer}" -DRUN=run_json${number})
endforeach()
pdb_program(big ${big_objects})
add_custom_target(pdb_big_program DEPENDS ${MIXWALK_PDB_PROGRAMS}/big.exe)

# A PDB of some 100 MB, made on request (tests/bench/pdb): 130,000 functions in 13 units. One unit is compiled, which
# takes 10 s. The others are copies of it in which the namespace has another name of the same length.
add_custom_command(OUTPUT ${MIXWALK_PDB_PROGRAMS}/many_a.obj
  COMMAND ${MIXWALK_CLANG} --target=x86_64-pc-windows-msvc -std=c++20 -g -gcodeview
          -c ${pdb_sources}/many_functions.cpp -o ${MIXWALK_PDB_PROGRAMS}/many_a.obj
  DEPENDS ${pdb_sources}/many_functions.cpp VERBATIM)
set(many_objects ${MIXWALK_PDB_PROGRAMS}/many_a.obj)
foreach(unit b c d e f g h i j k l m)
  set(object ${MIXWALK_PDB_PROGRAMS}/many_${unit}.obj)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E copy ${MIXWALK_PDB_PROGRAMS}/many_a.obj ${object}
    COMMAND env LC_ALL=C sed -i s/department_a/department_${unit}/g ${object}
    DEPENDS ${MIXWALK_PDB_PROGRAMS}/many_a.obj VERBATIM)
  list(APPEND many_objects ${object})
endforeach()
add_custom_command(
  OUTPUT ${MIXWALK_PDB_PROGRAMS}/many.dll
  BYPRODUCTS ${MIXWALK_PDB_PROGRAMS}/many.pdb
  COMMAND ${MIXWALK_LLD_LINK} -dll -noentry -nodefaultlib -debug -opt:noref,noicf -out:${MIXWALK_PDB_PROGRAMS}/many.dll
          -pdb:${MIXWALK_PDB_PROGRAMS}/many.pdb ${many_objects}
  DEPENDS ${many_objects} VERBATIM)
add_custom_target(pdb_of_100_mb DEPENDS ${MIXWALK_PDB_PROGRAMS}/many.dll)

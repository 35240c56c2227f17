# Builds capstone from its source (tests/tools/install fetches it), because there is no package for mingw-w64, and
# because one version decodes the same on every system. Only x86 is built. Target: capstone_static.
set(mixwalk_capstone ${MIXWALK_CAPSTONE})
if(NOT EXISTS ${mixwalk_capstone}/CMakeLists.txt)
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
# Its warnings are not corrected here.
target_compile_options(capstone PRIVATE -w ${MIXWALK_SHIPPED_OPTIONS})
target_include_directories(capstone_static SYSTEM INTERFACE ${mixwalk_capstone}/include)

# For each of its 15,000 instructions, capstone keeps which registers are read and written without being named (60 of 80
# bytes, nearly all of them zero), and in another table which flags (8 of 16 bytes). mixwalk uses neither, so the tables
# are compiled without these, which saves 1 MB. The generated files replace the files with the same names: the header by
# its include guard, the others because they lie beside the source.
set(small ${CMAKE_BINARY_DIR}/capstone-tables)
set(x86 ${mixwalk_capstone}/arch/X86)
# The files are written again only if the source or this file has changed, because capstone would be compiled again with
# them.
if(${x86}/X86Mapping.c IS_NEWER_THAN ${small}/X86Mapping.c OR
   ${CMAKE_CURRENT_LIST_FILE} IS_NEWER_THAN ${small}/X86Mapping.c)
  file(READ ${x86}/X86Mapping.h header)
  string(REGEX REPLACE "regs_(use|mod)\\[[0-9]+\\]" "regs_\\1[1]" header "${header}")
  file(WRITE ${small}/X86Mapping.h "${header}")
  file(READ ${x86}/X86MappingInsn.inc table)
  string(REGEX REPLACE "\n\t{[^}\n]*}, {[^}\n]*}, {" "\n\t{ 0 }, { 0 }, {" table "${table}")
  file(WRITE ${small}/X86MappingInsn.inc "${table}")
  file(READ ${x86}/X86MappingInsnOp.inc table)
  string(REGEX REPLACE "\\*/\n\t[^{}]*,\n\t{" "*/\n\t{" table "${table}")
  file(WRITE ${small}/X86MappingInsnOp.inc "${table}")
  file(READ ${x86}/X86Mapping.c source)
  # Another version of capstone than the one for which this was written must not be compiled with a shifted table.
  if(NOT source MATCHES "uint64_t flags;" OR NOT source MATCHES "\\*eflags = insn_ops\\[i\\]\\.flags;"
     OR table MATCHES "X86_EFLAGS_" OR NOT header MATCHES "regs_use\\[1\\]")
    message(FATAL_ERROR "capstone's tables are not the ones that symbols/calls/capstone.cmake makes smaller")
  endif()
  string(REPLACE "uint64_t flags;" "" source "${source}")
  string(REPLACE "*eflags = insn_ops[i].flags;" "*eflags = 0;" source "${source}")
  file(WRITE ${small}/X86Mapping.c "${source}")
endif()
get_target_property(sources capstone SOURCES)
list(TRANSFORM sources REPLACE "^.*arch/X86/X86Mapping\\.c$" ${small}/X86Mapping.c)
set_target_properties(capstone PROPERTIES SOURCES "${sources}")
target_compile_options(capstone PRIVATE -include ${small}/X86Mapping.h)
target_include_directories(capstone PRIVATE ${x86} ${mixwalk_capstone})

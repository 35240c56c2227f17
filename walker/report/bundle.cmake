cmake_minimum_required(VERSION 3.21)

# Makes a source file of the page's parts (page_pack.h): OUT, of PAGE (the page, the style), SCRIPTS and LIBRARIES.
# Together they are packed, to a third of their bytes.

set(parts "")  # one after the other
set(sizes "")

# The text of a file, which is UTF-8: CMake would end a string at a byte that is 0.
function(read_text file variable)
  file(READ ${file} text)
  file(SIZE ${file} bytes)
  string(LENGTH "${text}" length)
  if(NOT length EQUAL bytes)
    message(FATAL_ERROR "${file} has ${bytes} bytes, and ${length} of them were read")
  endif()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

function(add_part text)
  string(LENGTH "${text}" length)
  set(sizes "${sizes}${length}, " PARENT_SCOPE)
  set(parts "${parts}${text}" PARENT_SCOPE)
endfunction()

list(GET PAGE 0 html)
list(GET PAGE 1 css)
read_text(${html} text)
add_part("${text}")
read_text(${css} text)
add_part("${text}")

set(all "")
foreach(file ${SCRIPTS})
  read_text(${file} text)
  string(APPEND all "${text}")
endforeach()
add_part("${all}")

# The licence of the package in FOLDER, in a comment that nothing in the licence may end, is added to `all`.
function(add_licence folder)
  get_filename_component(package ${folder} NAME)
  file(READ ${folder}/package.json json)
  string(JSON version GET "${json}" version)
  read_text(${folder}/LICENSE licence)
  string(FIND "${licence}" "*/" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "the licence of ${package} would end its comment")
  endif()
  set(all "${all}/*! ${package} ${version}\n\n${licence}*/\n" PARENT_SCOPE)
endfunction()

set(folders "")
foreach(file ${LIBRARIES})
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(folder ${folder} DIRECTORY)
  list(APPEND folders ${folder})
endforeach()

# Each library with its licence, and before it the licences of packages that its file contains: those that it depends on
# and that are no library of the page themselves.
set(all "")
foreach(file folder IN ZIP_LISTS LIBRARIES folders)
  file(READ ${folder}/package.json json)
  string(JSON count ERROR_VARIABLE none LENGTH "${json}" dependencies)
  if(none STREQUAL "NOTFOUND" AND count GREATER 0)
    math(EXPR last "${count} - 1")
    get_filename_component(packages ${folder} DIRECTORY)
    foreach(i RANGE ${last})
      string(JSON dependency MEMBER "${json}" dependencies ${i})
      if(NOT ${packages}/${dependency} IN_LIST folders)
        add_licence(${packages}/${dependency})
      endif()
    endforeach()
  endif()
  add_licence(${folder})
  read_text(${file} script)
  string(APPEND all "${script}\n")
endforeach()
add_part("${all}")

# d3-flame-graph adds a style of its own to the page, which the page's policy must know by its hash.
list(GET LIBRARIES -1 file)
file(READ ${file} text)
set(library_style "")
if(text MATCHES "createElement\\(\"style\"\\);[A-Za-z_]+\\.textContent=`([^`\\\\]+)`")
  set(library_style "${CMAKE_MATCH_1}")
endif()
string(FIND "${library_style}" "\${" substitution)
if(library_style STREQUAL "" OR NOT substitution EQUAL -1)
  message(FATAL_ERROR "${file}: the style that it adds is not found")
endif()
add_part("${library_style}")

# Packed as gzip does it, without the time that a gzip file has.
file(WRITE ${OUT}.parts "${parts}")
file(ARCHIVE_CREATE OUTPUT ${OUT}.gz PATHS ${OUT}.parts FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
file(READ ${OUT}.gz hex HEX)
string(REGEX REPLACE "^(1f8b08..)........" "\\100000000" hex "${hex}")
string(LENGTH "${parts}" whole)
file(SIZE ${OUT}.parts written)
if(NOT written EQUAL whole OR NOT CMAKE_MATCH_1)
  message(FATAL_ERROR "the page's parts were not packed as they are")
endif()
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "#include \"walker/report/page_pack.h\"

namespace mixwalk::page_pack {
namespace {

constexpr unsigned char kPacked[] = {${bytes}};
constexpr std::size_t kSizes[] = {${sizes}};

}  // namespace

std::span<const unsigned char> packed() noexcept { return kPacked; }
std::span<const std::size_t> sizes() noexcept { return kSizes; }

}  // namespace mixwalk::page_pack
")

# The images that users get.

# Compiled and linked from the same sources with the same tools, they are the same bytes in every folder: paths of this
# one, which debug data and __FILE__ have, are written as if it were /mixwalk.
set(MIXWALK_SHIPPED_OPTIONS "")
if(NOT MIXWALK_SANITIZE)
  set(MIXWALK_SHIPPED_OPTIONS -ffile-prefix-map=${CMAKE_SOURCE_DIR}=/mixwalk)
endif()

# For what talks to users and collectors, and runs in mixwalk.exe alone while no thread of a target stands: its size counts
# more than its time.
set(MIXWALK_SMALL_OPTIONS -Os)

# mixwalk_ships(TARGET FILE TYPE DESCRIPTION): how such an image is linked, and what it says of itself. TYPE: of
# VERSIONINFO. The link map, from which tests/tools/package knows what is in the image, goes to walker/FILE.map of the
# build folder.
function(mixwalk_ships target mixwalk_file_name mixwalk_file_type mixwalk_file_description)
  # The build id is a checksum of the image: it leads to the debug data, which is packaged apart.
  target_link_options(${target} PRIVATE -Wl,-Map,${CMAKE_BINARY_DIR}/walker/${mixwalk_file_name}.map -Wl,--build-id=sha1)
  if(WIN32)
    # No time stamp, which is that of the linking. The linker's defaults depend on how it was built, so what Windows may
    # do with the image is said here.
    target_link_options(${target} PRIVATE
      -Wl,--no-insert-timestamp -Wl,--dynamicbase -Wl,--high-entropy-va -Wl,--nxcompat)
    set(resource ${CMAKE_CURRENT_BINARY_DIR}/${mixwalk_file_name}.rc)
    configure_file(${CMAKE_SOURCE_DIR}/walker/base/win/version.rc.in ${resource} @ONLY)
    target_sources(${target} PRIVATE ${resource})
  elseif(NOT MIXWALK_SANITIZE)
    # A machine without this compiler's own library runs it too.
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# The truth with which parsing is compared: Wine's DLLs, and what binutils say about them. Only the build is told here
# where these are. A test that needs one that is missing fails, and says so.
find_path(MIXWALK_WINE_DLLS ntdll.dll
  PATHS /usr/lib/x86_64-linux-gnu/wine/x86_64-windows /usr/lib64/wine/x86_64-windows
        /usr/lib/wine/x86_64-windows /opt/wine-stable/lib64/wine/x86_64-windows
  NO_DEFAULT_PATH)
find_program(MIXWALK_OBJDUMP x86_64-w64-mingw32-objdump)
find_program(MIXWALK_NM x86_64-w64-mingw32-nm)

add_library(mixwalk_binutils_oracle STATIC ${CMAKE_CURRENT_LIST_DIR}/binutils_oracle.cpp)
target_compile_definitions(mixwalk_binutils_oracle PRIVATE
  MIXWALK_WINE_DLLS="${MIXWALK_WINE_DLLS}"
  MIXWALK_OBJDUMP="${MIXWALK_OBJDUMP}"
  MIXWALK_NM="${MIXWALK_NM}")

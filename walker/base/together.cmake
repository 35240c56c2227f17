# mixwalk_compile_together(TARGET): eight files of the target are one compilation, because most of a file's time goes into
# headers. (Not without MIXWALK_PRECOMPILE, so that a missing include shows.)
function(mixwalk_compile_together target)
  if(MIXWALK_PRECOMPILE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# mixwalk_compile_alone(FILE …): files of such a target that name something like another file of it.
function(mixwalk_compile_alone)
  set_source_files_properties(${ARGV} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

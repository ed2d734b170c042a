# compile_by_folder(TARGET): with ZTVM_BY_FOLDER, a folder's files are compiled as one, which takes less than half of the time,
# because what they share is instantiated once. Names in unnamed namespaces are then unique within their folder. The
# preset `dev`, and `tidy` for clang-tidy, take each file by itself, and so find includes that are missing.
option(ZTVM_BY_FOLDER "Compile the files of a folder as one" OFF)

function(compile_by_folder target)
  if(NOT ZTVM_BY_FOLDER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  # Variants of one thing have the same names; without a group they stay by themselves.
  list(FILTER sources EXCLUDE REGEX "/text/template_|/rope_attention_cases|/generated/")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

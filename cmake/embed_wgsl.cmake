# embed_wgsl(OUT file.wgsl ...): a .cpp with every shader's text and gpu::shader_source(name), made again when one changes.
function(embed_wgsl out)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DSHADERS=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_wgsl_script.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed_wgsl_script.cmake
    COMMENT "Embedding shaders"
    VERBATIM)
endfunction()

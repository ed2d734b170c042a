# The browser's engine: zerotvm.wasm, a WASI reactor whose GPU is the import module "ztvm" (web/gpu.ts).

# fmt and nlohmann-json are header-only here. An include folder with nothing else keeps /usr/include's glibc out.
foreach(library fmt nlohmann)
  if(NOT EXISTS /usr/include/${library})
    message(FATAL_ERROR "/usr/include/${library} is missing; install libfmt-dev and nlohmann-json3-dev.")
  endif()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include)
  file(CREATE_LINK /usr/include/${library} ${CMAKE_BINARY_DIR}/include/${library} SYMBOLIC)
endforeach()
target_include_directories(ztvm_core SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/include)
target_compile_definitions(ztvm_core PUBLIC FMT_HEADER_ONLY)

file(GLOB wasm_sources CONFIGURE_DEPENDS src/gpu/wasm_device.cpp src/web/*.cpp src/web/*.c src/*/*_wasm.cpp)
list(FILTER wasm_sources EXCLUDE REGEX "_test\\.cpp$")
add_executable(zerotvm_wasm ${wasm_sources})
set_target_properties(zerotvm_wasm PROPERTIES OUTPUT_NAME zerotvm)
target_link_libraries(zerotvm_wasm PRIVATE ztvm_core)
target_compile_options(zerotvm_wasm PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
target_compile_definitions(zerotvm_wasm PRIVATE JSON_NOEXCEPTION FMT_EXCEPTIONS=0)
target_link_options(zerotvm_wasm PRIVATE -mexec-model=reactor -Wl,--strip-all -Wl,-z,stack-size=1048576)

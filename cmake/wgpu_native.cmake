# wgpu-native and its headers: from WGPU_NATIVE_DIR, or from the PyPI wheel `wgpu`, pinned by version and hash.
set(WGPU_WHEEL_VERSION 0.32.0)
set(WGPU_WHEEL_SHA256 6499a31b5a29a10b4f1089fea4a0806411f42605fa86b6c0b543a07ca0de8568)  # manylinux_2_28_x86_64
set(WGPU_NATIVE_DIR "" CACHE PATH "Folder with webgpu.h, wgpu.h and libwgpu_native*.so; empty: fetched with pip")

if(WGPU_NATIVE_DIR)
  set(wgpu_dir ${WGPU_NATIVE_DIR})
else()
  set(wgpu_cache ${PROJECT_SOURCE_DIR}/.cache/wgpu-${WGPU_WHEEL_VERSION})
  set(wgpu_dir ${wgpu_cache}/wgpu/resources)
  if(NOT EXISTS ${wgpu_dir}/libwgpu_native-release.so)
    fetch_wheel(wgpu ${WGPU_WHEEL_VERSION} ${WGPU_WHEEL_SHA256} ${wgpu_cache}
      "set WGPU_NATIVE_DIR to a wgpu-native folder")
  endif()
endif()

file(GLOB wgpu_library ${wgpu_dir}/libwgpu_native*.so ${wgpu_dir}/libwgpu_native*.dylib)
if(NOT wgpu_library OR NOT EXISTS ${wgpu_dir}/webgpu.h)
  message(FATAL_ERROR "${wgpu_dir} has no webgpu.h and libwgpu_native library.")
endif()
# The library carries no soname, so it is copied beside the programs and found through their run path.
configure_file(${wgpu_library} ${CMAKE_BINARY_DIR}/libwgpu_native.so COPYONLY)
add_library(wgpu_native SHARED IMPORTED)
set_target_properties(wgpu_native PROPERTIES
  IMPORTED_LOCATION ${CMAKE_BINARY_DIR}/libwgpu_native.so
  IMPORTED_NO_SONAME ON
  INTERFACE_INCLUDE_DIRECTORIES ${wgpu_dir})
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

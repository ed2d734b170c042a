# Dawn, the second provider of webgpu.h, which the program loads where it is there (src/gpu/provider_dawn_native.cpp): the
# only packaged library with its whole C interface is that of LiteRT-LM, from the PyPI wheel `litert-lm-api`, pinned by
# version and hash. Any libwebgpu_dawn.so beside the program, or on the library path, does as well.
option(ZTVM_DAWN "Fetch Dawn (47 MB), with which prompts are multiplied by a GPU's tensor cores" OFF)
if(NOT ZTVM_DAWN)
  return()
endif()
set(DAWN_WHEEL_VERSION 0.18.1)
set(DAWN_WHEEL_SHA256 b2fe9b9a87afe991a7b0d29615b0bfc3d41c7a0ac28e9c54436676482bca2e5b)  # manylinux_2_27_x86_64

set(dawn_cache ${PROJECT_SOURCE_DIR}/.cache/dawn-${DAWN_WHEEL_VERSION})
set(dawn_library ${dawn_cache}/litert_lm/liblitert-lm.so)
if(NOT EXISTS ${dawn_library})
  fetch_wheel(litert-lm-api ${DAWN_WHEEL_VERSION} ${DAWN_WHEEL_SHA256} ${dawn_cache}
    "-DZTVM_DAWN=OFF builds without Dawn" litert_lm/liblitert-lm.so)
  file(GLOB wheel ${dawn_cache}/*.whl)
  file(REMOVE ${wheel})
endif()
file(CREATE_LINK ${dawn_library} ${CMAKE_BINARY_DIR}/libwebgpu_dawn.so SYMBOLIC)

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
  message(STATUS "Fetching Dawn with pip (litert-lm-api ${DAWN_WHEEL_VERSION})")
  find_program(PYTHON3 python3 REQUIRED)
  execute_process(
    COMMAND ${PYTHON3} -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all:
      --dest ${dawn_cache} litert-lm-api==${DAWN_WHEEL_VERSION}
    RESULT_VARIABLE failed)
  file(GLOB wheel ${dawn_cache}/litert_lm_api-*.whl)
  if(failed OR NOT wheel)
    message(FATAL_ERROR "pip cannot fetch litert-lm-api ${DAWN_WHEEL_VERSION}; -DZTVM_DAWN=OFF builds without Dawn.")
  endif()
  file(SHA256 ${wheel} got)
  if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT got STREQUAL DAWN_WHEEL_SHA256)
    message(FATAL_ERROR "${wheel} has sha256 ${got}, expected ${DAWN_WHEEL_SHA256}.")
  endif()
  file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${dawn_cache} PATTERNS litert_lm/liblitert-lm.so)
  file(REMOVE ${wheel})
endif()
file(CREATE_LINK ${dawn_library} ${CMAKE_BINARY_DIR}/libwebgpu_dawn.so SYMBOLIC)

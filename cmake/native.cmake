# Native targets: the engine over wgpu-native, the command line program, the tests, the benchmarks, the fuzzers.
include(cmake/fetch_wheel.cmake)
include(cmake/wgpu_native.cmake)
include(cmake/dawn.cmake)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED)
# The loops of the oracles, in which the tests with sanitizers spend half of their time.
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set_source_files_properties(src/base/dequantise.cpp src/base/quant_levels.cpp src/kernels/matrix.cpp
    src/kernels/matmul/matmul_ref.cpp PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
endif()
target_link_libraries(ztvm_core PUBLIC fmt::fmt-header-only nlohmann_json::nlohmann_json utf8proc)
# The core has no RTTI, which UBSan's check of dynamic types would need in whoever calls it.
target_compile_options(ztvm_core INTERFACE $<$<CONFIG:Debug>:-fno-sanitize=vptr>)

add_library(ztvm_native STATIC src/gpu/webgpu_device.cpp)
file(GLOB native_parts CONFIGURE_DEPENDS src/*/*_native.cpp)
target_sources(ztvm_native PRIVATE ${native_parts})
target_link_libraries(ztvm_native PUBLIC ztvm_core wgpu_native)

# Apps may use exceptions, because CLI11 and cpp-httplib do.
file(GLOB_RECURSE app_sources CONFIGURE_DEPENDS src/apps/*.cpp)
list(FILTER app_sources EXCLUDE REGEX "_test\\.cpp$|/main\\.cpp$")
# The table of models that the page reads, too.
file(READ ${PROJECT_SOURCE_DIR}/web/known_models.json known_models_json)
configure_file(${PROJECT_SOURCE_DIR}/cmake/known_models.cpp.in ${CMAKE_BINARY_DIR}/generated/known_models.cpp @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/known_models.json)
add_library(ztvm_apps STATIC ${app_sources} ${CMAKE_BINARY_DIR}/generated/known_models.cpp)
compile_by_folder(ztvm_apps)
target_link_libraries(ztvm_apps PUBLIC ztvm_native CURL::libcurl OpenSSL::Crypto Threads::Threads cpp-httplib)
target_precompile_headers(ztvm_apps PRIVATE src/base/precompiled.hpp)
# As Debian builds libcpp-httplib: these change the layout of its classes.
target_compile_definitions(ztvm_apps PUBLIC
  CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)

add_executable(zerotvm src/apps/main.cpp)
target_link_libraries(zerotvm PRIVATE ztvm_apps)
target_compile_definitions(zerotvm PRIVATE ZTVM_VERSION="${PROJECT_VERSION}")

option(ZTVM_TESTS "Build the tests" ON)
if(ZTVM_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  # Two programs, so that ./test compiles each test once: those that compute on the adapter or go through whole models, for
  # the release build, because sanitizers make them too slow; and all the others, for the build with sanitizers.
  file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS src/*_test.cpp tests/*_test.cpp)
  set(gpu_test_sources ${test_sources})
  list(FILTER gpu_test_sources INCLUDE REGEX "_gpu_test\\.cpp$")
  list(REMOVE_ITEM test_sources ${gpu_test_sources})
  add_executable(ztvm_tests ${test_sources} tests/support/golden_model.cpp)
  add_executable(ztvm_gpu_tests ${gpu_test_sources} tests/support/golden_model.cpp
                                tests/support/software_matrices.cpp)
  foreach(program ztvm_tests ztvm_gpu_tests)
    target_include_directories(${program} PRIVATE tests)
    target_link_libraries(${program} PRIVATE ztvm_apps GTest::gtest GTest::gtest_main)
    target_compile_definitions(${program} PRIVATE ZTVM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_precompile_headers(${program} PRIVATE tests/precompiled.hpp)
    target_compile_options(${program} PRIVATE -Wno-conversion)
    add_test(NAME ${program} COMMAND ${program})
  endforeach()
endif()

option(ZTVM_FUZZ "Build the libFuzzer targets" OFF)
if(ZTVM_FUZZ)
  file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cpp)
  add_custom_target(fuzzers)
  foreach(source IN LISTS fuzz_sources)
    get_filename_component(name ${source} NAME_WE)
    add_dependencies(fuzzers ${name})
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE ztvm_native)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  endforeach()
endif()

# Native targets: the engine over wgpu-native, the command line program, the tests, the benchmarks, the fuzzers.
include(cmake/wgpu_native.cmake)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED)
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
  file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS src/*_test.cpp tests/*_test.cpp)
  add_executable(ztvm_tests ${test_sources})
  target_include_directories(ztvm_tests PRIVATE tests)
  target_link_libraries(ztvm_tests PRIVATE ztvm_apps GTest::gtest GTest::gtest_main)
  target_compile_definitions(ztvm_tests PRIVATE ZTVM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_precompile_headers(ztvm_tests PRIVATE tests/precompiled.hpp)
  target_compile_options(ztvm_tests PRIVATE -Wno-conversion)
  add_test(NAME unit COMMAND ztvm_tests)
endif()

option(ZTVM_FUZZ "Build the libFuzzer targets" OFF)
if(ZTVM_FUZZ)
  file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cpp)
  foreach(source IN LISTS fuzz_sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE ztvm_native)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  endforeach()
endif()

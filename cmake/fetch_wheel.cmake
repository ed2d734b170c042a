# fetch_wheel(NAME VERSION SHA256 FOLDER ADVICE [PATTERN...]): a PyPI wheel's files in FOLDER, or those that match. The hash is
# that of the wheel for x86-64; ADVICE says what to do where pip cannot fetch it.
function(fetch_wheel name version sha256 folder advice)
  message(STATUS "Fetching ${name} ${version} with pip")
  find_program(PYTHON3 python3 REQUIRED)
  execute_process(
    COMMAND ${PYTHON3} -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all:
      --dest ${folder} ${name}==${version}
    RESULT_VARIABLE failed)
  file(GLOB wheel ${folder}/*.whl)
  if(failed OR NOT wheel)
    message(FATAL_ERROR "pip cannot fetch ${name} ${version}; ${advice}.")
  endif()
  file(SHA256 ${wheel} got)
  if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT got STREQUAL sha256)
    message(FATAL_ERROR "${wheel} has sha256 ${got}, expected ${sha256}.")
  endif()
  if(ARGN)
    file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${folder} PATTERNS ${ARGN})
  else()
    file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${folder})
  endif()
endfunction()

# CMake 3.25 does not know the system WASI; this file says that its conventions are the common ones.
set(WASI TRUE)
set(CMAKE_EXECUTABLE_SUFFIX ".wasm")

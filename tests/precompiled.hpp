#pragma once
// Precompiled for the tests (see cmake/native.cmake); no file relies on it, each includes what it uses.
#include <gtest/gtest.h>

#include "base/precompiled.hpp"

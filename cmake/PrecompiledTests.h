// The precompiled header of unit tests of the compiler's rooms.
#pragma once
#include "Precompiled.h"

#include <gtest/gtest.h>

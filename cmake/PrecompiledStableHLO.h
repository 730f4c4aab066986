// The precompiled header of libraries that link ShardcStableHLO: its classes of
// ops take 2.5 of the 4 to 10 seconds that one of their files compiles.
#pragma once
#include "Precompiled.h"

#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

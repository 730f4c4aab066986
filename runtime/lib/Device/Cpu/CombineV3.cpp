//===- CombineV3.cpp - Reductions of buffers for x86-64-v3 ----------------===//
#define SHARDRT_COMBINE_LEVEL findCombinerV3
// NOLINTBEGIN(bugprone-suspicious-include)
#include "Device/Cpu/Combine.cpp"
// NOLINTEND(bugprone-suspicious-include)

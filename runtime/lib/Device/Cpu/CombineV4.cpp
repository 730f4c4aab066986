//===- CombineV4.cpp - Reductions of buffers for x86-64-v4 ----------------===//
#define SHARDRT_COMBINE_LEVEL findCombinerV4
// NOLINTBEGIN(bugprone-suspicious-include)
#include "Device/Cpu/Combine.cpp"
// NOLINTEND(bugprone-suspicious-include)

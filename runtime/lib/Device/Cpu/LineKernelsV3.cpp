//===- LineKernelsV3.cpp - For x86-64-v3 ----------------------------------===//
#define SHARDRT_LEVEL lineKernelsV3
#include "Device/Cpu/LineKernels.cpp" // NOLINT(bugprone-suspicious-include)

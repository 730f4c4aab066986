//===- LineKernelsV4.cpp - For x86-64-v4 ----------------------------------===//
#define SHARDRT_LEVEL lineKernelsV4
#include "Device/Cpu/LineKernels.cpp" // NOLINT(bugprone-suspicious-include)

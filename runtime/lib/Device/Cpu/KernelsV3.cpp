//===- KernelsV3.cpp - Lines and matrices for x86-64-v3
//--------------------===//
#define SHARDRT_LEVEL lineKernelsV3
#define SHARDRT_TRANSFORM_LEVEL transformKernelsV3
#define SHARDRT_EIGEN_LEVEL eigenKernelsV3
// NOLINTBEGIN(bugprone-suspicious-include)
#include "Device/Cpu/EigenKernels.cpp"
#include "Device/Cpu/LineKernels.cpp"
#include "Device/Cpu/TransformKernels.cpp"
// NOLINTEND(bugprone-suspicious-include)

//===- KernelsV4.cpp - Lines and matrices for x86-64-v4
//--------------------===//
#define SHARDRT_LEVEL lineKernelsV4
#define SHARDRT_TRANSFORM_LEVEL transformKernelsV4
#define SHARDRT_EIGEN_LEVEL eigenKernelsV4
// NOLINTBEGIN(bugprone-suspicious-include)
#include "Device/Cpu/EigenKernels.cpp"
#include "Device/Cpu/LineKernels.cpp"
#include "Device/Cpu/TransformKernels.cpp"
// NOLINTEND(bugprone-suspicious-include)

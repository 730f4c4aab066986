//===- TestKernels.h - What communication launches, by hand -----*- C++ -*-===//
#ifndef SHARDRT_TEST_TESTKERNELS_H
#define SHARDRT_TEST_TESTKERNELS_H

#include "Device/Device.h"

namespace shardrt::test {

/// Gives `code` the kernels of shardrt/CommunicationKernels.h for all types, as
/// functions of the host: for the stand-in of the driver, or the emulated
/// device. Those that the compiler makes are tested where it is
/// (test/Execution/gpu).
void addCommunicationKernels(DeviceCode &code, bool isEmulated);

} // namespace shardrt::test

#endif // SHARDRT_TEST_TESTKERNELS_H

/*===- Devices.h - The GPUs of this machine ----------------------*- C -*-===*\
|*
|* For tools that plan a program for them, without starting one.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_DEVICES_H
#define SHARDRT_DEVICES_H

#include "shardrt/shardrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How many CUDA devices there are, and the bytes of memory of the smallest.
 * Ranks take them in turn. SHARDRT_UNSUPPORTED where the driver or devices are
 * missing: both are 0 then. */
SHARDRT_EXPORT int shardrt_cuda_devices(int64_t *count, int64_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* SHARDRT_DEVICES_H */

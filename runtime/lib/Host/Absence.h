//===- Absence.h - When this process was not running ------------*- C++ -*-===//
//
// A job that is stopped and continued (Ctrl-Z and fg, a frozen container), or
// that gets no core, waits for nobody: what its ranks are waited for begins
// anew when it is back.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_HOST_ABSENCE_H
#define SHARDRT_HOST_ABSENCE_H

#include <cstdint>

namespace shardrt {

/// Called at `nowNs` by whoever looks after ranks, ten times a second where any
/// are waited for. Returns when the last pause of half a second or more between
/// two calls was over: waits are counted from there.
int64_t lastReturnNs(int64_t nowNs);

} // namespace shardrt

#endif // SHARDRT_HOST_ABSENCE_H

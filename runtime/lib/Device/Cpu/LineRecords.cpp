//===- LineRecords.cpp - What is moved while a line is sorted -------------===//
//
// For kernels of all levels and those that choose among them.
//
//===----------------------------------------------------------------------===//
#include "Device/Cpu/LineKernels.h"
#include <limits>

using namespace shardrt;

SortRecord shardrt::fullRecordOf(const SortCall &call) {
  return call.operands[0].bytes > 4 ||
                 call.length > std::numeric_limits<uint32_t>::max()
             ? SortRecord::Wide
             : SortRecord::Pair;
}

SortRecord shardrt::recordOf(const SortCall &call) {
  if (call.numOperands > 1 || call.positions)
    return fullRecordOf(call);
  return call.operands[0].bytes > 4 ? SortRecord::Key8 : SortRecord::Key4;
}

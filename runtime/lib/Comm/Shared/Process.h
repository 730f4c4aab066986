//===- Process.h - What the system says of a process ------------*- C++ -*-===//
#ifndef SHARDRT_COMM_SHARED_PROCESS_H
#define SHARDRT_COMM_SHARED_PROCESS_H

#include <cstdint>
#include <string>
#include <vector>

namespace shardrt {

struct ProcessState {
  /// As in /proc: 'T' where a signal has stopped it; 0: there is no such
  /// process, or the system does not say.
  char letter = 0;
  int64_t parent = 0;
  bool isStopped() const { return letter == 'T'; }
};
ProcessState stateOf(int64_t process);

/// Those that it has started and that have not been collected yet.
std::vector<int64_t> childrenOf(int64_t process);

/// The variables that it was started with, a zero behind each; empty where they
/// cannot be read.
std::string environmentOf(int64_t process);

} // namespace shardrt

#endif // SHARDRT_COMM_SHARED_PROCESS_H

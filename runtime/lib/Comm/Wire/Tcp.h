//===- Tcp.h - Messages over sockets ----------------------------*- C++ -*-===//
#ifndef SHARDRT_COMM_WIRE_TCP_H
#define SHARDRT_COMM_WIRE_TCP_H

#include "Comm/Bootstrap/Door.h"
#include "Comm/Bootstrap/Job.h"
#include "Comm/Wire/Carrier.h"
#include <vector>

namespace shardrt {

/// A connection that both sides have proven.
struct Line {
  Socket socket;
  LinkKeys keys;
  std::string received; ///< what has come already
};

/// Carries frames over `lines`, by peer; without a socket where there is none.
std::unique_ptr<Carrier> carryOver(std::vector<Line> lines, bool encrypts);

/// Connects each process of `job` with each other for `world`, within the job's
/// timeout; addresses go through its store. Both sides of a connection prove
/// that they are of the job; frames are authenticated, and encrypted if the job
/// says so. NULL with a status and a reason, which names those that did not
/// come.
std::unique_ptr<Carrier> connectTcp(Job &job, const std::string &world,
                                    int &status, std::string &error);

} // namespace shardrt

#endif // SHARDRT_COMM_WIRE_TCP_H

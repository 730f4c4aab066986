//===- Tcp.h - Messages over sockets ----------------------------*- C++ -*-===//
#ifndef SHARDRT_COMM_WIRE_TCP_H
#define SHARDRT_COMM_WIRE_TCP_H

#include "Comm/Bootstrap/Job.h"
#include "Comm/Wire/Carrier.h"

namespace shardrt {

/// Connects each process of `job` with each other for `world`, within the job's
/// timeout; addresses and what tells this job from others go through its store.
/// NULL with a reason, which names those that did not come.
std::unique_ptr<Carrier> connectTcp(Job &job, const std::string &world,
                                    std::string &error);

} // namespace shardrt

#endif // SHARDRT_COMM_WIRE_TCP_H

//===- Transport.h - How processes' devices reach one another ---*- C++ -*-===//
//
// Processes that were left the choice go over NCCL where each has a device of
// its own and can open the same NCCL, else through host memory. All publish
// what they can, and reach one conclusion.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_BOOTSTRAP_TRANSPORT_H
#define SHARDRT_COMM_BOOTSTRAP_TRANSPORT_H

#include "Comm/Bootstrap/Job.h"
#include <vector>

namespace shardrt {

/// What one process says of itself.
struct TransportOffer {
  int asked = 0; ///< a shardrt_transport; -1: none of them, as `lacks` says
  std::string device; ///< the same for processes that share it; "": none that
                      ///< is real
  int64_t nccl = 0;   ///< NCCL's version
  std::string lacks;  ///< why NCCL cannot be opened; "" if it can
};

struct TransportChoice {
  int transport = 0; ///< what all asked for; never AUTO
  std::string why;   ///< "each process has a device of its own"
};

/// What ranks that make `offers` do. False where they were started with
/// different transports: `error` names two of them.
bool chooseTransport(const std::vector<TransportOffer> &offers,
                     TransportChoice &choice, std::string &error);

/// The same, by all processes of `job` for world `world`; `mine` is this one's
/// offer. False with a status and a reason, which names ranks that did not
/// come.
bool agreeOnTransport(Job &job, const std::string &world,
                      const TransportOffer &mine, TransportChoice &choice,
                      int &status, std::string &error);

/// What a process without a device does in place of agreeOnTransport: the
/// others need not wait, and say `why` as well.
void refuseTransport(Job &job, const std::string &world,
                     const std::string &why);

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_TRANSPORT_H

//===- Job.h - The processes that run a program together --------*- C++ -*-===//
#ifndef SHARDRT_COMM_BOOTSTRAP_JOB_H
#define SHARDRT_COMM_BOOTSTRAP_JOB_H

#include "Comm/Bootstrap/Store.h"
#include "Comm/Comm.h"
#include <memory>
#include <string>

namespace shardrt {

/// This process' place in its job, and what it knows of the others.
struct Job {
  Launch launch;
  std::unique_ptr<Store> store;
  int64_t timeoutMs = 0;     ///< for processes that are slow to come
  int64_t worlds = 0;        ///< made so far: all processes make the same
  std::shared_ptr<void> mpi; ///< the MPI library, once it is open
};

/// How processes reach one another.
enum class Wire {
  Auto,   ///< shared memory if all are of one host, else sockets
  Shared, ///< shared memory
  Tcp,    ///< sockets
  Mpi     ///< messages of an MPI library
};

/// Connects the processes of `job` for world number `world`, whose program is
/// `program` in a few words that must be the same for all. NULL with a status
/// and a reason, which names ranks that did not come.
std::unique_ptr<Group> connectJob(Job &job, Wire wire, const std::string &world,
                                  const std::string &program,
                                  GroupOptions options, DescribeSite describe,
                                  int &status, std::string &error);

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_JOB_H

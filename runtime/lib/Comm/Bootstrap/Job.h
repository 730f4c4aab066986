//===- Job.h - The processes that run a program together --------*- C++ -*-===//
#ifndef SHARDRT_COMM_BOOTSTRAP_JOB_H
#define SHARDRT_COMM_BOOTSTRAP_JOB_H

#include "Comm/Bootstrap/Store.h"
#include "Comm/Comm.h"
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

/// What processes agree on before they run a program.
struct Agreement {
  std::string program; ///< in a few words, which must be the same for all
  /// What it is bound to: so many words for all, and the same.
  std::vector<int64_t> bound = {};
  /// Says where such words, by rank, differ.
  std::function<std::string(std::span<const std::vector<int64_t>>)> compare =
      nullptr;
};

/// Connects the processes of `job` for world number `world` once they agree.
/// NULL with a status and a reason, which names ranks that did not come.
std::unique_ptr<Group> connectJob(Job &job, Wire wire, const std::string &world,
                                  const Agreement &agreement,
                                  GroupOptions options, DescribeSite describe,
                                  int &status, std::string &error);

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_JOB_H

//===- Launch.h - Which process of a job this is ----------------*- C++ -*-===//
//
// What torchrun, mpirun (Open MPI, MPICH, Intel MPI) and srun set for each
// process through its environment. Where a launcher does not say where rank 0
// is, that follows from the rest: the first host of srun's list, this host if
// all ranks are on it; and a port from the job's token.
//
// | launcher        | rank, ranks, rank on its host | job |
// |---|---|---|
// | shard-run       | SHARDRT_RANK, SHARDRT_NUM_RANKS | SHARDRT_JOB_TOKEN |
// | torchrun        | RANK, WORLD_SIZE, LOCAL_RANK | TORCHELASTIC_RUN_ID |
// | Open MPI        | OMPI_COMM_WORLD_RANK, …_SIZE, …_LOCAL_RANK |
// PMIX_NAMESPACE, OMPI_MCA_ess_base_jobid | | MPICH, Intel    | PMI_RANK,
// PMI_SIZE, MPI_LOCALRANKID | PMI_JOBID, PMI_KVS | | srun            |
// SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID | SLURM_JOB_ID, SLURM_STEP_ID |
//
// MASTER_ADDR and MASTER_PORT say where rank 0 is, whatever the launcher;
// SHARDRT_JOB_TOKEN which job it is. None of these is a secret (Secret.h).
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_BOOTSTRAP_LAUNCH_H
#define SHARDRT_COMM_BOOTSTRAP_LAUNCH_H

#include "shardc/Crypto/Crypto.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace shardrt {

struct Launch {
  std::string launcher; ///< "torchrun", …; empty: there is one process
  int64_t rank = 0;
  int64_t size = 1;
  int64_t localRank = 0; ///< among those of its host
  /// Of rank 0: a socket that listens at the port already; -1: there is none.
  int listener = -1;
  /// Of rank 0: a socket on which the launcher says who died; -1: none.
  int news = -1;
  std::string host; ///< where rank 0 is
  int64_t port = 0;
  std::string token;      ///< what processes of this job have in common; public
  bool isOneHost = false; ///< all ranks are on this host

  /// How long another process of this host may be stopped while this one waits
  /// for what it says; 0: for ever.
  int64_t patienceMs = 0;

  // By which ranks know one another: one of these three.
  std::optional<shardc::crypto::Key> secret;
  std::string secretFile;  ///< through which rank 0 shares it
  bool isInsecure = false; ///< asked to do without
  bool encrypts = false;   ///< messages between ranks are sealed as well
};

/// Looks up a variable of the environment; NULL if it is not set.
using Variables = std::function<const char *(const char *)>;

/// Reads `launch`; an empty string, or what is missing or makes no sense, and
/// what to set.
std::string readLaunch(const Variables &variables, Launch &launch);

/// Whether only processes of its own host reach `host`.
bool isLoopback(const std::string &host);

/// Identifies this host, as long as it runs; empty where the kernel
/// does not say.
std::string nameOfBoot();

/// The first name of a list as srun writes it: `node[03-07,9],other` is node03.
std::string firstHost(const std::string &list);

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_LAUNCH_H

//===- Launch.cpp - Which process of a job this is ------------------------===//

#include "Comm/Bootstrap/Launch.h"
#include "shardrt/Sites.h"
#include <arpa/inet.h>
#include <charconv>
#include <cstdio>
#include <initializer_list>
#include <optional>
#include <unistd.h>

using namespace shardrt;

namespace {
/// The variables of one launcher. Of a list the first that is set counts.
struct Names {
  const char *launcher, *rank, *size, *localRank;
  /// How many are on this host; all, if that is `size`.
  const char *localSize;
  std::initializer_list<const char *> job;
};
} // namespace

// A launcher may run under another (torchrun under srun): the inner one first.
static const Names known[] = {
    {"shard-run",
     "SHARDRT_RANK",
     "SHARDRT_NUM_RANKS",
     "SHARDRT_RANK",
     "SHARDRT_NUM_RANKS",
     {}},
    {"torchrun",
     "RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     {"TORCHELASTIC_RUN_ID"}},
    {"mpirun",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"mpirun",
     "PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     {"PMI_JOBID", "PMI_KVS"}},
    {"srun",
     "SLURM_PROCID",
     "SLURM_NTASKS",
     "SLURM_LOCALID",
     "SLURM_NTASKS_PER_NODE",
     {"SLURM_JOB_ID", "SLURM_JOBID"}},
};

static std::string textOf(const Variables &variables, const char *name) {
  const char *text = variables(name);
  return text ? text : "";
}

/// The number in variable `name`, of `least` to `most`; none, with `error`
/// where there is something else.
static std::optional<int64_t> numberOf(const Variables &variables,
                                       const char *name, int64_t least,
                                       int64_t most, std::string &error) {
  std::string text = textOf(variables, name);
  if (text.empty())
    return std::nullopt;
  int64_t value = 0;
  auto [end, failed] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc() && end == text.data() + text.size() &&
      value >= least && value <= most)
    return value;
  if (error.empty())
    error = std::string(name) + "=" + text + ": expected a number from " +
            std::to_string(least) + " to " + std::to_string(most);
  return std::nullopt;
}

std::string shardrt::nameOfBoot() {
  char text[128] = "";
  if (FILE *file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    if (!std::fgets(text, sizeof(text), file))
      text[0] = 0;
    std::fclose(file);
  }
  std::string line = text;
  return line.substr(0, line.find('\n'));
}

std::string shardrt::firstHost(const std::string &list) {
  size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket)
    return list.substr(0, comma);
  size_t end = list.find_first_of(",-]", bracket);
  if (end == std::string::npos)
    return {};
  std::string first = list.substr(bracket + 1, end - bracket - 1);
  // What follows the bracket belongs to each name: node[1-4]-ib.
  size_t close = list.find(']', bracket);
  std::string tail;
  if (close != std::string::npos)
    tail = list.substr(close + 1, list.find(',', close) - close - 1);
  return list.substr(0, bracket) + first + tail;
}

/// A port of the range that systems leave to programs, the same for all of a
/// job.
static int64_t portOf(const std::string &token) {
  uint32_t hash = 2166136261u;
  for (char c : token)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return 20000 + hash % 12000;
}

bool shardrt::isLoopback(const std::string &host) {
  in_addr address = {};
  return host == "localhost" ||
         (inet_pton(AF_INET, host.c_str(), &address) == 1 &&
          ntohl(address.s_addr) >> 24 == 127);
}

std::string shardrt::readLaunch(const Variables &variables, Launch &launch) {
  launch = Launch();
  const Names *names = nullptr;
  for (const Names &candidate : known)
    if (!names && !textOf(variables, candidate.rank).empty() &&
        // The script of a batch job is no task of a step.
        (std::string(candidate.launcher) != "srun" ||
         !textOf(variables, "SLURM_STEP_ID").empty()))
      names = &candidate;
  if (!names)
    return {};
  std::string error;
  launch.launcher = names->launcher;
  auto size = numberOf(variables, names->size, 1, maxRanks, error);
  if (!size)
    return error.empty() ? std::string(names->rank) + " is set, but " +
                               names->size + " is not"
                         : error;
  launch.size = *size;
  auto rank = numberOf(variables, names->rank, 0, *size - 1, error);
  if (!rank)
    return error;
  launch.rank = *rank;
  launch.localRank =
      numberOf(variables, names->localRank, 0, *size - 1, error).value_or(0);
  if (!error.empty())
    return error;

  launch.token = textOf(variables, "SHARDRT_JOB_TOKEN");
  for (const char *job : names->job)
    if (launch.token.empty())
      launch.token = textOf(variables, job);
  // Steps of one allocation are jobs of their own.
  if (launch.launcher == "srun")
    launch.token += "." + textOf(variables, "SLURM_STEP_ID");

  if (launch.launcher == "shard-run" && launch.rank == 0)
    launch.listener = static_cast<int>(
        numberOf(variables, "SHARDRT_LISTENER", 3, 1 << 20, error)
            .value_or(-1));
  if (launch.launcher == "shard-run" && launch.rank == 0)
    launch.news = static_cast<int>(
        numberOf(variables, "SHARDRT_NEWS", 3, 1 << 20, error).value_or(-1));
  launch.host = textOf(variables, "MASTER_ADDR");
  if (launch.host.empty() && launch.launcher == "srun") {
    std::string hosts = textOf(variables, "SLURM_STEP_NODELIST");
    launch.host =
        firstHost(hosts.empty() ? textOf(variables, "SLURM_NODELIST") : hosts);
  }
  launch.isOneHost =
      *size == 1 || isLoopback(launch.host) ||
      textOf(variables, names->localSize) == textOf(variables, names->size);
  if (launch.host.empty() && launch.isOneHost)
    launch.host = "127.0.0.1";
  if (launch.host.empty())
    return launch.launcher +
           " does not say where rank 0 is: set MASTER_ADDR to "
           "its host's name, the same for all ranks";
  // MPICH starts all of a host from one process of its own.
  if (launch.token.empty() && launch.host == "127.0.0.1" &&
      std::string(names->rank) == "PMI_RANK")
    launch.token = "mpirun." + std::to_string(getppid());
  auto port = numberOf(variables, "MASTER_PORT", 1, 65535, error);
  if (!error.empty())
    return error;
  if (!port && launch.token.empty())
    return launch.launcher + " does not say which job this is: set "
                             "SHARDRT_JOB_TOKEN, or MASTER_PORT, the same for "
                             "all ranks";
  launch.port = port.value_or(portOf(launch.token));
  // There torchrun itself listens.
  if (textOf(variables, "TORCHELASTIC_USE_AGENT_STORE") == "True")
    launch.port = portOf(launch.token + ":" + std::to_string(launch.port) +
                         ":" + textOf(variables, "TORCHELASTIC_RESTART_COUNT"));
  return {};
}

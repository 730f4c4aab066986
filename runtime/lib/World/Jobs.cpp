//===- Jobs.cpp - The C surface of jobs of processes ----------------------===//

#include "shardrt/Jobs.h"
#include "Comm/Bootstrap/Job.h"
#include "Comm/Bootstrap/Secret.h"
#include "Comm/Bootstrap/Siblings.h"
#include "Host/WriteError.h"
#include "World/World.h"
#include <cstdlib>
#include <cstring>

using namespace shardrt;

static const char *variable(const char *name) { return std::getenv(name); }

/// What the environment says of this process.
static std::string readEnvironment(Launch &launch) {
  return readLaunch(variable, launch);
}

/// Values of the store are shorter than what jobs may share.
static constexpr size_t pieceBytes = Store::maxBytes / 2;

static std::string pieceName(const std::string &name, size_t piece) {
  return "shared/" + name + "/" + std::to_string(piece);
}

/// What its worlds need, jobs of several ranks a process exchange themselves.
static int withoutStore(char *error, size_t errorSize) {
  writeError(error, errorSize,
             "a job of several ranks a process shares no values");
  return SHARDRT_USAGE;
}

extern "C" {

int shardrt_job_join(const shardrt_job_options *given, shardrt_job **job,
                     char *error, size_t errorSize) {
  if (!job || (given && given->size < sizeof(size_t))) {
    writeError(error, errorSize, "a NULL argument, or options without a size");
    return SHARDRT_USAGE;
  }
  *job = nullptr;
  shardrt_job_options asked = {};
  if (given)
    std::memcpy(&asked, given, std::min(given->size, sizeof(asked)));
  try {
    auto handle = std::make_unique<shardrt_job>();
    Job &made = handle->job;
    made.timeoutMs = asked.timeout_ms > 0 ? asked.timeout_ms : 120'000;
    std::string why;
    if (asked.local_ranks < 0 || asked.ranks < 0 || asked.rank < 0 ||
        (asked.ranks > 0 && asked.rank >= asked.ranks) ||
        asked.wire < SHARDRT_WIRE_AUTO || asked.wire > SHARDRT_WIRE_TCP ||
        (asked.key_values && (asked.local_ranks == 0 || asked.ranks == 0))) {
      writeError(error, errorSize,
                 "rank " + std::to_string(asked.rank) + " of " +
                     std::to_string(asked.ranks) + ", with " +
                     std::to_string(asked.local_ranks) +
                     " of this process: numbers that make no sense");
      return SHARDRT_USAGE;
    }
    if (asked.ranks > 0) {
      made.launch.rank = made.launch.localRank = asked.rank;
      made.launch.size = asked.ranks;
      made.launch.host = asked.host ? asked.host : "127.0.0.1";
      made.launch.port = asked.port;
      made.launch.token = asked.token ? asked.token : "";
      made.launch.isOneHost = isLoopback(made.launch.host);
    } else {
      why = readEnvironment(made.launch);
      // Who is alone needs nobody, whatever the environment says of others.
      bool isAlone =
          made.launch.size == 1 && made.launch.launcher != "shard-run";
      if (isAlone || (why.empty() && made.launch.launcher.empty()))
        return SHARDRT_OK;
    }
    if (!why.empty()) {
      writeError(error, errorSize, why);
      return SHARDRT_USAGE;
    }
    // Others may take their time to come, but not to do nothing.
    made.launch.patienceMs = made.timeoutMs / 4;
    bool isTeam = asked.local_ranks > 0;
    if (isTeam && asked.key_values) {
      // Who reads the exchange has what it takes to join.
      made.launch.host = asked.host ? asked.host : "";
      made.launch.isInsecure = true;
      made.launch.isOneHost = false;
    }
    why = readSecret(variable, made.launch);
    if (!why.empty()) {
      writeError(error, errorSize, why);
      return SHARDRT_USAGE;
    }
    if (isTeam) {
      Team::Options options;
      options.launch = made.launch;
      options.localRanks = asked.local_ranks;
      options.exchange = asked.key_values;
      options.timeoutMs = made.timeoutMs;
      options.wire = static_cast<Wire>(asked.wire);
      int status = SHARDRT_OK;
      handle->team = Team::join(options, status, why);
      if (!handle->team) {
        writeError(error, errorSize, why);
        return status;
      }
      *job = handle.release();
      return SHARDRT_OK;
    }
    int status = SHARDRT_OK;
    made.store = Store::join(made.launch, made.timeoutMs, why, &status);
    if (!made.store) {
      writeError(error, errorSize, why);
      return status;
    }
    *job = handle.release();
    return SHARDRT_OK;
  } catch (const std::exception &) {
    writeError(error, errorSize, "out of memory");
    return SHARDRT_MEMORY;
  }
}

int shardrt_job_agree(shardrt_job *job, const char *name, const char *value,
                      char *error, size_t errorSize) {
  if (!job || !name || !value) {
    writeError(error, errorSize, "a NULL argument");
    return SHARDRT_USAGE;
  }
  if (job->team)
    return withoutStore(error, errorSize);
  try {
    Store &store = *job->job.store;
    const Launch &launch = job->job.launch;
    int64_t timeoutMs = job->job.timeoutMs;
    std::string why, verdict, mine = value;
    auto key = [&](int64_t rank) {
      return "agree/" + std::string(name) + "@" + std::to_string(rank);
    };
    auto lost = [&] {
      writeError(error, errorSize, why);
      return store.status();
    };
    std::string decided = "verdict/" + std::string(name) + "@0";
    if (!store.set(key(launch.rank), mine, why) ||
        !store.barrier(name, timeoutMs, why))
      return lost();
    if (launch.rank == 0) {
      for (int64_t rank = 1; rank < launch.size; ++rank) {
        std::string theirs;
        if (!store.get(key(rank), timeoutMs, theirs, why))
          return lost();
        if (theirs != mine && !theirs.empty() && verdict.empty())
          verdict = "rank " + std::to_string(rank) + " has " + theirs +
                    ", rank 0 has " + mine;
      }
      if (!store.set(decided, verdict, why))
        return lost();
    } else if (!store.get(decided, timeoutMs, verdict, why)) {
      return lost();
    }
    // The store goes with rank 0: all are to have read it.
    if (!store.barrier("agreed/" + std::string(name), timeoutMs, why))
      return lost();
    if (verdict.empty())
      return SHARDRT_OK;
    writeError(error, errorSize, verdict);
    return SHARDRT_ARTIFACT;
  } catch (const std::exception &) {
    writeError(error, errorSize, "out of memory");
    return SHARDRT_MEMORY;
  }
}

void shardrt_job_leave(shardrt_job *job) {
  if (job && job->team)
    job->team->leave();
  delete job;
}

void shardrt_job_say_goodbye(shardrt_job *job) {
  if (job && job->team)
    job->team->sayGoodbye();
}

int shardrt_job_is_one_host(const shardrt_job *job) {
  if (!job)
    return 0;
  return job->team ? job->team->isOneHost() : job->job.launch.isOneHost;
}

int64_t shardrt_job_rank(const shardrt_job *job) {
  if (!job)
    return -1;
  return job->team ? job->team->first() : job->job.launch.rank;
}

int64_t shardrt_job_size(const shardrt_job *job) {
  if (!job)
    return 0;
  return job->team ? job->team->size() : job->job.launch.size;
}

int64_t shardrt_job_local_ranks(const shardrt_job *job) {
  if (!job)
    return 0;
  return job->team ? job->team->localRanks() : 1;
}

int64_t shardrt_job_num_processes(const shardrt_job *job) {
  if (!job)
    return 0;
  return job->team ? job->team->processes() : job->job.launch.size;
}

int64_t shardrt_job_process_of(const shardrt_job *job, int64_t rank) {
  if (rank < 0 || rank >= shardrt_job_size(job))
    return -1;
  return job->team ? job->team->processOf(rank) : rank;
}

const char *shardrt_job_launcher(const shardrt_job *job) {
  if (!job)
    return "";
  if (job->team)
    return job->team->launcher().c_str();
  return job->job.launch.launcher.c_str();
}

int shardrt_job_is_insecure(const shardrt_job *job) {
  if (!job)
    return 0;
  const Launch &launch = job->job.launch;
  return !launch.secret && launch.secretFile.empty();
}

int shardrt_job_look(int64_t *rank, int64_t *ranks, char *launcher,
                     size_t launcherSize) {
  if (!rank || !ranks)
    return SHARDRT_USAGE;
  Launch launch;
  bool isOne = !readEnvironment(launch).empty() || launch.launcher.empty();
  *rank = isOne ? 0 : launch.rank;
  *ranks = isOne ? 1 : launch.size;
  writeError(launcher, launcherSize, isOne ? "" : launch.launcher);
  return SHARDRT_OK;
}

int shardrt_job_put(shardrt_job *job, const char *name, const void *data,
                    int64_t bytes, char *error, size_t errorSize) {
  if (!job || !name || bytes < 0 || (bytes > 0 && !data)) {
    writeError(error, errorSize, "a NULL or negative argument");
    return SHARDRT_USAGE;
  }
  if (job->team)
    return withoutStore(error, errorSize);
  try {
    auto *from = static_cast<const char *>(data);
    auto size = static_cast<size_t>(bytes);
    Store &store = *job->job.store;
    std::string why;
    size_t pieces = (size + pieceBytes - 1) / pieceBytes;
    bool done = true;
    for (size_t i = 0; done && i < pieces; ++i) {
      size_t begin = i * pieceBytes;
      std::string piece(from + begin, std::min(pieceBytes, size - begin));
      done = store.set(pieceName(name, i + 1), piece, why);
    }
    // The number last: who has it finds the rest.
    if (done && store.set(pieceName(name, 0), std::to_string(size), why))
      return SHARDRT_OK;
    writeError(error, errorSize, why);
    return store.status();
  } catch (const std::exception &) {
    writeError(error, errorSize, "out of memory");
    return SHARDRT_MEMORY;
  }
}

int shardrt_job_get(shardrt_job *job, const char *name, int64_t timeoutMs,
                    void **data, int64_t *bytes, char *error,
                    size_t errorSize) {
  if (!job || !name || !data || !bytes) {
    writeError(error, errorSize, "a NULL argument");
    return SHARDRT_USAGE;
  }
  if (job->team)
    return withoutStore(error, errorSize);
  try {
    Store &store = *job->job.store;
    std::string why, text;
    if (timeoutMs <= 0)
      timeoutMs = job->job.timeoutMs;
    if (!store.get(pieceName(name, 0), timeoutMs, text, why)) {
      writeError(error, errorSize, why);
      return store.status();
    }
    size_t size = std::strtoull(text.c_str(), nullptr, 10);
    std::unique_ptr<char, void (*)(void *)> all(
        static_cast<char *>(std::malloc(size + 1)), std::free);
    if (!all)
      throw std::bad_alloc();
    for (size_t at = 0, piece = 1; at < size; ++piece) {
      if (!store.get(pieceName(name, piece), timeoutMs, text, why)) {
        writeError(error, errorSize, why);
        return store.status();
      }
      if (text.empty() || text.size() > size - at) {
        writeError(error, errorSize,
                   "a damaged value of '" + std::string(name) + "'");
        return SHARDRT_LOST;
      }
      std::memcpy(all.get() + at, text.data(), text.size());
      at += text.size();
    }
    *bytes = static_cast<int64_t>(size);
    *data = all.release();
    return SHARDRT_OK;
  } catch (const std::exception &) {
    writeError(error, errorSize, "out of memory");
    return SHARDRT_MEMORY;
  }
}

} // extern "C"

//===- Processes.cpp - Ranks that are processes ---------------------------===//
//
// --processes=N is a launcher for one machine: it listens at a port that the
// system picks, passes the socket to rank 0, and gives each process its rank
// and the job's secret, as other launchers do. On SHARDRT_NEWS it reports to
// rank 0 whom a signal ended, so that nobody waits for a rank that never came.
// What they share with it has no name, and they inherit it open:
// SHARDRT_COMPILED is what all of them load, which nobody can write to,
// SHARDRT_ERRORS the descriptor where each leaves what it has to say in the end
// (what several say is said once), SHARDRT_CALLS one to lock.
//
//===----------------------------------------------------------------------===//

#include "Processes.h"
#include "shardc/Crypto/Crypto.h"
#include "shardc/Support/MemoryFile.h"
#include "shardc/Translation/Artifact.h"
#include "shardrt/Checkpoint.h"
#include "shardrt/Jobs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

//===----------------------------------------------------------------------===//
// The launcher
//===----------------------------------------------------------------------===//

/// Sent on to all processes.
static volatile sig_atomic_t caught = 0;
static void catchSignal(int number) { caught = number; }

static Error systemError(const Twine &what) {
  return toolError(errno == ENOMEM || errno == EAGAIN ? ExitCode::Memory
                                                      : ExitCode::IO,
                   what + ": " + std::strerror(errno));
}

/// What all processes load, in memory that they share: the artifact if its
/// code is trusted, else what the model is compiled to. Sets the `mesh` of the
/// latter.
static Expected<PrivateFile> prepare(const RunOptions &options,
                                     std::vector<MeshAxis> &mesh) {
  std::optional<OpenedArtifact> artifact;
  if (options.isArtifact) {
    Expected<OpenedArtifact> opened =
        openArtifact(options.model, *options.trust);
    if (!opened)
      return opened.takeError();
    if (opened->isTrusted)
      return std::move(opened->file);
    artifact = std::move(*opened);
  }
  Expected<CompiledProgram> compiled =
      artifact ? rebuild("shard-run", *artifact, options.compile)
               : compileLinked("shard-run", options.model, options.compile,
                               *options.cache);
  if (!compiled)
    return compiled.takeError();
  int64_t ranks = compiled->metadata.numRanks();
  mesh = compiled->metadata.mesh;
  // Where the number of ranks is open, each binds the program to theirs.
  bool isOpen =
      artifact || StringRef(options.compile.stages.mesh).contains('?');
  if (ranks != options.processes && !isOpen)
    return toolError(ExitCode::Usage,
                     "--processes gives " + Twine(options.processes) +
                         ", but the program's mesh " +
                         printMesh(compiled->metadata.mesh) + " has " +
                         Twine(ranks) + " ranks: one process is one rank");
  if (Error error = linkProgram(*compiled))
    return std::move(error);
  PrivateFile file;
  if (std::string why = file.hold(compiled->object, "shardc-program");
      !why.empty())
    return toolError(ExitCode::Memory, "the program: " + why);
  return std::move(file);
}

namespace {
/// A process that was started.
struct Started {
  pid_t process = -1;
  MemoryFile said{-1}; ///< what it has to say in the end
  bool isOver = false;
  bool isKilled = false; ///< by a signal that the launcher did not send
  bool isLate = false;   ///< it did not end, and was ended
  bool isEnded = false;  ///< the launcher has ended it
  /// Since when, and by which signal, it is stopped; 0: it is not.
  int64_t stoppedMs = 0;
  int stopSignal = 0;
  int code = 0;
};
} // namespace

/// Codes of what happens to a rank through others.
static bool isOfRun(int code) {
  return code >= static_cast<int>(ExitCode::RankLost) &&
         code <= static_cast<int>(ExitCode::Mismatch);
}

/// The ranks that say why all ended: those that gave up by themselves, before
/// the others missed them; where there is none, all.
static std::vector<size_t> findSpeakers(const std::vector<Started> &ranks,
                                        int firstCode) {
  std::vector<size_t> all, gaveUp, late;
  bool isAnyKilled = false;
  for (auto [rank, started] : enumerate(ranks)) {
    all.push_back(rank);
    isAnyKilled |= started.isKilled;
    if (started.code != 0 && !isOfRun(started.code))
      gaveUp.push_back(rank);
    if (started.code == static_cast<int>(ExitCode::Watchdog))
      late.push_back(rank);
  }
  // Others miss the rank that gave up waiting; it says for whom it waited.
  if (firstCode == static_cast<int>(ExitCode::Watchdog) && !isAnyKilled)
    return late;
  return gaveUp.empty() || isAnyKilled ? all : gaveUp;
}

/// What a process ended with, as an exit code; says so where it was a signal.
static int describeEnd(int64_t rank, pid_t process, int status, bool isAsked) {
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int number = WTERMSIG(status);
  if (isAsked)
    return 0;
  errs() << "shard-run: rank " << rank << " (process " << process
         << ") was ended by signal " << number << " (" << strsignal(number)
         << ")"
         << (number == SIGKILL
                 ? "; if nobody did that, memory may have run out: see the "
                   "kernel's log"
                 : "")
         << "\n";
  return static_cast<int>(ExitCode::RankLost);
}

static int64_t nowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// How long the others may take to find out by themselves, and say more, once a
/// rank has ended with `code`.
static int64_t graceOf(int code) {
  // Who does not begin is waited for by those who wait to begin.
  if (!isOfRun(code))
    return 1000;
  // All watchdogs bark at about the same time.
  return code == static_cast<int>(ExitCode::Watchdog) ? 700 : 1700;
}

namespace {
/// The processes of a job, until all are over.
class Watch {
public:
  /// `news`: where rank 0 learns who was killed.
  Watch(std::vector<Started> &ranks, int news, int64_t timeoutMs)
      : ranks(ranks), news(news), timeoutMs(timeoutMs) {}
  int run();
  int firstCode = 0; ///< of the rank that failed first

private:
  /// Looks what became of a process; false if it is over.
  bool look(size_t rank, Started &started);
  void end(size_t rank, Started &started, const std::string &why);
  void endThoseLeft();
  void sendOn();

  std::vector<Started> &ranks;
  int news;
  int64_t timeoutMs;
  int64_t failedMs = 0; ///< when; 0: nothing has
  bool isAsked = false; ///< all that are left have been ended
  int sent = 0;         ///< the signal that was sent on,
  int64_t sentMs = 0;   ///< and when first
};
} // namespace

bool Watch::look(size_t rank, Started &started) {
  int status = 0;
  pid_t found =
      waitpid(started.process, &status, WNOHANG | WUNTRACED | WCONTINUED);
  if (found == 0 || (found < 0 && errno == EINTR))
    return true;
  if (found > 0 && (WIFSTOPPED(status) || WIFCONTINUED(status))) {
    started.stoppedMs = WIFSTOPPED(status) ? nowMs() : 0;
    started.stopSignal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
    return true;
  }
  started.isOver = true;
  // A terminal's signal reaches all processes, in any order.
  bool isAskedFor = isAsked || started.isEnded || caught != 0;
  started.isKilled = found > 0 && WIFSIGNALED(status) && !isAskedFor;
  started.code = found < 0
                     ? static_cast<int>(ExitCode::RankLost)
                     : describeEnd(rank, started.process, status, isAskedFor);
  if (started.isKilled) {
    std::string line =
        std::to_string(rank) + " " + std::to_string(WTERMSIG(status)) + "\n";
    (void)!send(news, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  if (started.code != 0 && failedMs == 0) {
    failedMs = nowMs();
    firstCode = started.code;
  }
  return false;
}

void Watch::end(size_t rank, Started &started, const std::string &why) {
  if (!why.empty())
    errs() << "shard-run: rank " << rank << " (process " << started.process
           << ") " << why << "\n";
  started.isEnded = true;
  started.isLate = isOfRun(firstCode) && sent == 0;
  kill(started.process, SIGKILL);
}

/// Says that a signal has stopped a process, and for how long it has been so.
static std::string describeStop(const Started &started) {
  return "was stopped by signal " + std::to_string(started.stopSignal) + " (" +
         strsignal(started.stopSignal) + ") " +
         std::to_string(nowMs() - started.stoppedMs) + " ms ago";
}

void Watch::endThoseLeft() {
  // One that is stopped does not answer.
  bool isLate = sent != 0
                    ? nowMs() - sentMs > 1000
                    : failedMs != 0 && nowMs() - failedMs > graceOf(firstCode);
  for (auto [rank, started] : enumerate(ranks)) {
    if (started.isOver || started.isEnded)
      continue;
    // What is stopped finds out nothing.
    if (!isLate && (failedMs == 0 || started.stoppedMs == 0))
      continue;
    bool isSilent = !isOfRun(firstCode) || sent != 0;
    end(rank, started,
        isSilent                 ? ""
        : started.stoppedMs != 0 ? describeStop(started) + ": it is ended"
                                 : "does not end: it is ended");
  }
  isAsked |= isLate;
  if (failedMs != 0 || sent != 0)
    return;
  // Where ranks step, those that wait have said so by now.
  auto isForgotten = [&](const Started &started) {
    return !started.isOver && started.stoppedMs != 0 &&
           nowMs() - started.stoppedMs - timeoutMs >= 800;
  };
  if (none_of(ranks, isForgotten))
    return;
  firstCode = static_cast<int>(ExitCode::Watchdog);
  failedMs = nowMs();
  // The others know no more: those that load, or compute, have nobody to miss
  // yet.
  isAsked = true;
  for (auto [rank, started] : enumerate(ranks))
    if (!started.isOver)
      end(rank, started,
          isForgotten(started)
              ? describeStop(started) +
                    ", longer than ranks wait for one another: all are ended"
              : "");
}

void Watch::sendOn() {
  if (caught == 0 || sent == caught)
    return;
  sent = caught;
  if (sentMs == 0)
    sentMs = nowMs();
  for (Started &started : ranks)
    if (!started.isOver)
      kill(started.process, sent);
}

int Watch::run() {
  while (true) {
    bool isAnyLeft = false, isAnyNew = false;
    for (auto [rank, started] : enumerate(ranks)) {
      if (started.isOver)
        continue;
      (look(rank, started) ? isAnyLeft : isAnyNew) = true;
    }
    if (!isAnyLeft)
      break;
    sendOn();
    if (!isAsked)
      endThoseLeft();
    if (!isAnyNew)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (sent != 0)
    return 128 + sent;
  // Others miss the rank that gave up waiting, and may end before it does.
  constexpr int watchdog = static_cast<int>(ExitCode::Watchdog);
  auto isKilled = [](const Started &rank) { return rank.isKilled; };
  auto isLate = [](const Started &rank) { return rank.code == watchdog; };
  if (none_of(ranks, isKilled) &&
      (firstCode == watchdog || any_of(ranks, isLate)))
    return firstCode = watchdog;
  // A lost rank explains what the others say; else the lowest rank has the
  // word.
  int code = 0;
  for (size_t rank : findSpeakers(ranks, firstCode))
    if (ranks[rank].code == static_cast<int>(ExitCode::RankLost))
      return ranks[rank].code;
    else if (code == 0)
      code = ranks[rank].code;
  return code;
}

namespace {
/// How an attempt to run all steps ended.
struct Attempt {
  int code = 0;
  int64_t ranks = 0;
  int64_t lost = 0;           ///< ranks whose processes were ended
  std::vector<MeshAxis> mesh; ///< of a model
};
} // namespace

static Expected<Attempt> attempt(const RunOptions &options, char **argv,
                                 bool isRestart) {
  Attempt ended;
  Expected<PrivateFile> prepared = prepare(options, ended.mesh);
  if (!prepared)
    return prepared.takeError();
  prepared->shareWithChildren();
  Expected<MemoryFile> calls = MemoryFile::create("calls");
  if (!calls)
    return ioError(calls.takeError());

  int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto *any = reinterpret_cast<sockaddr *>(&address);
  if (listener < 0 || bind(listener, any, length) != 0 ||
      listen(listener, 4096) != 0 || getsockname(listener, any, &length) != 0)
    return systemError("cannot listen at a port of this host");
  std::string program = sys::fs::getMainExecutable(argv[0], nullptr);
  struct sigaction action = {};
  action.sa_handler = catchSignal;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup and others ignore it.
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN)
      sigaction(number, &action, nullptr);
  }

  int news[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, news) != 0)
    return systemError("no sockets");
  // The name identifies the job, the secret lets ranks in.
  std::string token = "shard-run-" + std::to_string(getpid());
  std::string secret = crypto::toHex(crypto::randomKey());
  errs().flush();
  outs().flush();
  std::vector<Started> ranks(options.processes);
  for (Started &started : ranks) {
    Expected<MemoryFile> said = MemoryFile::create("errors");
    if (!said)
      return ioError(said.takeError());
    started.said = std::move(*said);
  }
  auto inherit = [](const char *name, int file) {
    fcntl(file, F_SETFD, 0);
    setenv(name, std::to_string(file).c_str(), 1);
  };
  pid_t launcher = getpid();
  for (auto [rank, started] : enumerate(ranks)) {
    started.process = fork();
    if (started.process < 0) {
      Error error =
          systemError("cannot start a process for rank " + Twine(rank));
      for (Started &other : ranks)
        if (other.process > 0)
          kill(other.process, SIGKILL);
      return std::move(error);
    }
    if (started.process != 0)
      continue;
    // Nobody runs on when the launcher was killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher)
      _exit(static_cast<int>(ExitCode::RankLost));
    setenv("SHARDRT_RANK", std::to_string(rank).c_str(), 1);
    setenv("SHARDRT_NUM_RANKS", std::to_string(options.processes).c_str(), 1);
    setenv("SHARDRT_JOB_TOKEN", token.c_str(), 1);
    setenv("SHARDRT_SECRET", secret.c_str(), 1);
    unsetenv("SHARDRT_SECRET_FILE");
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", std::to_string(ntohs(address.sin_port)).c_str(), 1);
    close(news[0]);
    if (rank == 0) {
      setenv("SHARDRT_LISTENER", std::to_string(listener).c_str(), 1);
      setenv("SHARDRT_NEWS", std::to_string(news[1]).c_str(), 1);
    } else {
      close(listener);
      close(news[1]);
    }
    inherit("SHARDRT_ERRORS", started.said.descriptor());
    inherit("SHARDRT_CALLS", calls->descriptor());
    setenv("SHARDRT_COMPILED", prepared->path().c_str(), 1);
    if (isRestart)
      setenv("SHARDRT_RESUME", "1", 1);
    execv(program.c_str(), argv);
    errs() << "shard-run: error: cannot start " << program << ": "
           << std::strerror(errno) << "\n";
    _exit(static_cast<int>(ExitCode::IO));
  }
  close(listener);
  close(news[1]);
  int64_t timeoutMs = options.timeoutMs > 0 ? options.timeoutMs : 30'000;
  Watch watch(ranks, news[0], timeoutMs);
  ended.code = watch.run();
  close(news[0]);
  // Ranks that do not end are lost themselves where none was killed or stopped:
  // else they may have waited for that one.
  if (caught == 0) {
    ended.lost =
        count_if(ranks, [](const Started &rank) { return rank.isKilled; });
    if (ended.lost == 0)
      ended.lost = count_if(ranks, [](const Started &rank) {
        return rank.isLate && rank.stoppedMs != 0;
      });
    if (ended.lost == 0)
      ended.lost =
          count_if(ranks, [](const Started &rank) { return rank.isLate; });
  }
  std::vector<std::string> said;
  for (size_t rank : findSpeakers(ranks, watch.firstCode)) {
    Expected<std::string> left = ranks[rank].said.read();
    if (!left) {
      consumeError(left.takeError());
      continue;
    }
    StringRef text = *left;
    if (text.empty())
      continue;
    if (is_contained(said, text.split('\n').first.str()))
      continue;
    said.push_back(text.split('\n').first.str());
    errs() << "shard-run: error: " << text << "\n";
  }
  return ended;
}

/// The largest mesh for `left` ranks whose axes are no longer than those of
/// `mesh`; of several the one that keeps its last axes, as those of models are.
static std::vector<MeshAxis> shrinkMesh(std::vector<MeshAxis> mesh,
                                        int64_t left) {
  if (mesh.empty())
    return mesh;
  MeshAxis last = mesh.back();
  mesh.pop_back();
  std::vector<MeshAxis> best;
  int64_t most = 0;
  for (int64_t size = std::min(last.size, left); size > 0; --size) {
    std::vector<MeshAxis> rest = shrinkMesh(mesh, left / size);
    int64_t ranks = size;
    for (const MeshAxis &axis : rest)
      ranks *= axis.size;
    if (ranks <= most)
      continue;
    most = ranks;
    best = std::move(rest);
    best.push_back({last.name, size});
  }
  return best;
}

/// Sets `options` for the ranks that are left, and says from where they go on.
static void prepareRestart(RunOptions &options, const Attempt &ended,
                           int64_t number) {
  std::string on;
  if (options.isArtifact) {
    on = "an artifact has its mesh: " + std::to_string(options.processes) +
         " ranks again";
  } else {
    std::string mesh;
    options.processes = 1;
    for (const MeshAxis &axis :
         shrinkMesh(ended.mesh, ended.ranks - ended.lost)) {
      mesh += (mesh.empty() ? "" : ",") + axis.name + "=" +
              std::to_string(axis.size);
      options.processes *= axis.size;
    }
    options.compile.ranks.reset();
    options.compile.stages.mesh = mesh;
    on = std::to_string(options.processes) + " ranks of mesh " + mesh;
    if (!options.compile.stages.sizes.empty() || !options.sizes.empty()) {
      options.compile.stages.sizes.clear();
      options.sizes.clear();
      on += ", without the shards of --sizes";
    }
  }
  int64_t last = -1;
  shardrt_checkpoints *checkpoints = nullptr;
  if (!shardrt_checkpoints_open(options.steps.directory.c_str(), 0,
                                &checkpoints, nullptr, 0)) {
    int64_t found =
        shardrt_checkpoints_steps(checkpoints, nullptr, 0, nullptr, 0);
    std::vector<int64_t> steps(std::max<int64_t>(found, 0));
    found = shardrt_checkpoints_steps(checkpoints, steps.data(), steps.size(),
                                      nullptr, 0);
    if (found > 0 && found <= static_cast<int64_t>(steps.size()))
      last = steps[found - 1];
    shardrt_checkpoints_close(checkpoints);
  }
  errs() << "shard-run: restart " << number << " of " << options.restarts
         << " after the loss of " << ended.lost
         << (ended.lost == 1 ? " rank: " : " ranks: ") << on << ", from step "
         << std::max<int64_t>(last, 0) << "\n";
}

Expected<int> shardc::runProcesses(RunOptions options, char **argv) {
  for (int64_t number = 0;; ++number) {
    Expected<Attempt> ended = attempt(options, argv, number > 0);
    if (!ended)
      return ended.takeError();
    ended->ranks = options.processes;
    // Whoever failed otherwise would do so again.
    if (ended->code == 0 || ended->lost == 0 || number == options.restarts ||
        (ended->lost >= ended->ranks && !options.isArtifact))
      return ended->code;
    prepareRestart(options, *ended, number + 1);
  }
}

/// The exit code of an error, and what it says.
static std::pair<ExitCode, std::string> readError(Error error) {
  std::pair<ExitCode, std::string> read(ExitCode::Refused, "");
  handleAllErrors(
      std::move(error),
      [&](const ToolError &known) { read = {known.code, known.message}; },
      [&](const ErrorInfoBase &other) { read.second = other.message(); });
  return read;
}

bool shardc::leaveToLauncher(ExitCode &code, Error &error) {
  const char *said = std::getenv("SHARDRT_ERRORS");
  int file;
  if (!said || !std::getenv("SHARDRT_RANK") ||
      StringRef(said).getAsInteger(10, file))
    return false;
  std::string text;
  std::tie(code, text) = readError(std::move(error));
  std::string self = std::string("rank ") + std::getenv("SHARDRT_RANK");
  if (code == ExitCode::Memory && !StringRef(text).contains(self))
    text = self + " (process " + std::to_string(getpid()) + "): " + text;
  consumeError(MemoryFile(file).write(text));
  return true;
}

std::string shardc::artifactOfProcesses() {
  const char *path = std::getenv("SHARDRT_COMPILED");
  return path && std::getenv("SHARDRT_RANK") ? path : "";
}

//===----------------------------------------------------------------------===//
// One of the processes
//===----------------------------------------------------------------------===//

Expected<JobMember> JobMember::join(const RunOptions &options) {
  JobMember member;
  int64_t rank = 0, ranks = 1;
  char launcher[64] = "";
  shardrt_job_look(&rank, &ranks, launcher, sizeof(launcher));
  if (options.asksForDirect && ranks > 1) {
    // Said once; the others end as well.
    std::string text;
    if (rank == 0)
      raw_string_ostream(text)
          << "--transport=direct is for ranks that are threads of one process, "
             "but "
          << launcher << " started " << ranks
          << ", and each would run all ranks: start one, or give "
             "--transport=nccl or process";
    return toolError(ExitCode::Usage, text);
  }
  if (options.asksForThreads)
    return std::move(member);
  shardrt_job_options join = {};
  join.size = sizeof(join);
  join.timeout_ms = options.timeoutMs > 0 ? 4 * options.timeoutMs : 0;
  char problem[1024] = "";
  shardrt_job *joined = nullptr;
  if (int status = shardrt_job_join(&join, &joined, problem, sizeof(problem)))
    return toolError(
        static_cast<ExitCode>(status),
        (status == SHARDRT_MEMORY ? "joining the other ranks: " : "") +
            Twine(problem));
  member.job.reset(joined);
  if (joined && shardrt_job_is_insecure(joined) && member.isFirst())
    errs() << "shard-run: warning: --insecure: ranks prove nothing to one "
              "another; whoever reaches a port of this job can be one of them "
              "and run code here\n";
  if (!joined && !options.asksForProcesses.empty())
    return toolError(
        ExitCode::Usage,
        "--transport=" + options.asksForProcesses +
            " goes between processes, but there is one: start one "
            "for each rank with --processes=N, torchrun, mpirun or "
            "srun");
  return std::move(member);
}

bool JobMember::hasLauncher() const {
  return job && StringRef(shardrt_job_launcher(job.get())) == "shard-run";
}

//===----------------------------------------------------------------------===//
// Bound alike
//===----------------------------------------------------------------------===//

Error shardc::agreeOnBinding(const JobMember &member, Error error) {
  shardrt_job *job = member.get();
  if (!job)
    return error;
  // A file of several modules is several programs.
  static int number = 0;
  std::string name = "opened/" + std::to_string(number++), own;
  bool failed = bool(error);
  ExitCode code = ExitCode::Ok;
  if (failed) {
    std::tie(code, own) = readError(std::move(error));
    own = std::to_string(static_cast<int>(code)) + " " + own;
  } else {
    consumeError(std::move(error));
  }
  auto keyOf = [&](int64_t rank) { return name + "@" + std::to_string(rank); };
  char problem[1024] = "";
  auto ended = [&](int status) -> Error {
    if (failed)
      return toolError(code, StringRef(own).split(' ').second);
    return status ? toolError(static_cast<ExitCode>(status), problem)
                  : Error::success();
  };
  if (int status =
          shardrt_job_put(job, keyOf(shardrt_job_rank(job)).c_str(), own.data(),
                          own.size(), problem, sizeof(problem)))
    return ended(status);
  int status = shardrt_job_agree(job, name.c_str(), failed ? "no" : "yes",
                                 problem, sizeof(problem));
  if (status != SHARDRT_ARTIFACT)
    return ended(status);
  for (int64_t rank = 0; rank < shardrt_job_size(job) && !failed; ++rank) {
    void *data = nullptr;
    int64_t size = 0;
    if (int status = shardrt_job_get(job, keyOf(rank).c_str(), 0, &data, &size,
                                     problem, sizeof(problem)))
      return ended(status);
    own.assign(static_cast<char *>(data), size);
    std::free(data);
    int number = 0;
    auto [digits, text] = StringRef(own).split(' ');
    if (digits.getAsInteger(10, number) || number == 0)
      continue;
    failed = true;
    code = static_cast<ExitCode>(number);
    own = (digits + " rank " + Twine(rank) + ": " + text).str();
  }
  // The store goes with rank 0: all are to have read it.
  shardrt_job_agree(job, (name + "/read").c_str(), "yes", problem,
                    sizeof(problem));
  return ended(status);
}

//===----------------------------------------------------------------------===//
// Compiled once
//===----------------------------------------------------------------------===//

/// How long others wait for rank 0 to compile.
static constexpr int64_t kCompileMs = 3'600'000;

std::optional<SharedProgram> SharedProgram::of(const RunOptions &options,
                                               const JobMember &member) {
  if (!member.get() || member.hasLauncher())
    return std::nullopt;
  SharedProgram shared;
  shared.job = member.get();
  // A file of several modules is several programs.
  static int number = 0;
  shared.name = "program/" + std::to_string(number++) + "@0";
  SHA256 hash;
  hash.update(options.command);
  hash.update(sys::getHostCPUName());
  if (options.compile.text)
    hash.update(*options.compile.text);
  else if (auto file = MemoryBuffer::getFile(options.model))
    hash.update((*file)->getBuffer());
  shared.key = toHex(hash.final());
  return shared;
}

Error SharedProgram::agree(StringRef digest) {
  char problem[1024] = "";
  std::string text = digest.empty() ? "" : ("SHA-256 " + digest).str();
  int status =
      shardrt_job_agree(job, StringRef(name).drop_back(2).str().c_str(),
                        text.c_str(), problem, sizeof(problem));
  if (status == SHARDRT_OK)
    return Error::success();
  return toolError(static_cast<ExitCode>(status),
                   status == SHARDRT_ARTIFACT
                       ? "the program that rank 0 compiled is another one "
                         "elsewhere: " +
                             Twine(problem) +
                             "; what came from rank 0 was not loaded"
                       : Twine(problem));
}

static std::string digestOf(StringRef bytes) {
  return crypto::toHex(crypto::sha256(crypto::bytesOf(bytes)));
}

Error SharedProgram::show(StringRef path) {
  if (shardrt_job_rank(job) != 0)
    return agree("");
  auto file = MemoryBuffer::getFile(path);
  if (!file)
    return toolError(ExitCode::IO, path + ": " + file.getError().message());
  StringRef artifact = (*file)->getBuffer();
  std::string bytes = "K" + key + artifact.str();
  // Whoever gets nothing says so.
  char problem[256];
  shardrt_job_put(job, name.c_str(), bytes.data(), bytes.size(), problem,
                  sizeof(problem));
  return agree(digestOf(artifact));
}

Error SharedProgram::refuse(Error error) {
  if (shardrt_job_rank(job) != 0)
    return error;
  auto [code, text] = readError(std::move(error));
  std::string bytes = "E" + std::to_string(static_cast<int>(code));
  char problem[256];
  shardrt_job_put(job, name.c_str(), bytes.data(), bytes.size(), problem,
                  sizeof(problem));
  // The store goes with this process: the others are to have read it.
  for (int64_t rank = 1; rank < shardrt_job_size(job); ++rank) {
    void *data = nullptr;
    int64_t size;
    std::string seen = name + "/seen@" + std::to_string(rank);
    if (shardrt_job_get(job, seen.c_str(), 10'000, &data, &size, problem,
                        sizeof(problem)))
      break;
    std::free(data);
  }
  return toolError(code, text);
}

Expected<std::optional<Session>> SharedProgram::fetch() {
  int64_t rank = shardrt_job_rank(job);
  if (rank == 0)
    return std::nullopt;
  void *data = nullptr;
  int64_t size = 0;
  char problem[1024] = "";
  if (int status = shardrt_job_get(job, name.c_str(), kCompileMs, &data, &size,
                                   problem, sizeof(problem)))
    return toolError(static_cast<ExitCode>(status),
                     "no program from rank 0: " + Twine(problem));
  std::unique_ptr<char, void (*)(void *)> owner(static_cast<char *>(data),
                                                std::free);
  StringRef bytes(owner.get(), size);
  if (bytes.consume_front("E")) {
    int code = static_cast<int>(ExitCode::Refused);
    (void)bytes.getAsInteger(10, code);
    std::string seen = name + "/seen@" + std::to_string(rank);
    shardrt_job_put(job, seen.c_str(), "", 0, problem, sizeof(problem));
    return toolError(static_cast<ExitCode>(code), "");
  }
  if (!bytes.consume_front("K" + key) || bytes.empty())
    return std::nullopt;
  // Nobody maps anything before all are known to hold the same.
  if (Error error = agree(digestOf(bytes)))
    return std::move(error);
  PrivateFile file;
  if (std::string why = file.hold(bytes, "shardc-program"); !why.empty())
    return toolError(ExitCode::Memory, "the program of rank 0: " + why);
  Expected<Session> session = Session::loadMade(file, "the program of rank 0");
  if (!session)
    return session.takeError();
  return std::optional<Session>(std::move(*session));
}

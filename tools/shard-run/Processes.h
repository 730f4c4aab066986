//===- Processes.h - Ranks that are processes -------------------*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_PROCESSES_H
#define SHARDC_TOOLS_SHARD_RUN_PROCESSES_H

#include "Options.h"
#include "Session.h"
#include "shardrt/shardrt.h"
#include <memory>
#include <optional>

namespace shardc {

/// Starts `options.processes` processes of this tool, one for each rank, with
/// its arguments `argv`; compiles the model for all of them before. Waits for
/// them, says which of them were ended by a signal, and ends those that are
/// left a while after one has failed. Up to `options.restarts` times, where
/// processes were lost, those that are left go on from the last checkpoint, on
/// a smaller mesh. The code that the tool ends with, or an error before
/// processes are started.
llvm::Expected<int> runProcesses(RunOptions options, char **argv);

/// The artifact that runProcesses has made for this process; empty if there is
/// none.
std::string artifactOfProcesses();

/// In a process of runProcesses, leaves it to the launcher to say what `error`,
/// not a success, says, once for all that say the same. Sets the code to end
/// with.
bool leaveToLauncher(ExitCode &code, llvm::Error &error);

/// This process among those of its job; nothing if there is one process.
class JobMember {
public:
  /// Joins the job that the environment names, if `options` do not ask for
  /// threads.
  static llvm::Expected<JobMember> join(const RunOptions &options);

  shardrt_job *get() const { return job.get(); }
  bool isFirst() const { return !job || shardrt_job_rank(job.get()) == 0; }

  /// Whether shard-run started it, and has compiled the program for all.
  bool hasLauncher() const;

private:
  struct Leave {
    void operator()(shardrt_job *job) const { shardrt_job_leave(job); }
  };
  std::unique_ptr<shardrt_job, Leave> job;
};

/// A program that rank 0 of a job compiles for all: the artifact goes to the
/// others through the job's store. Those whose command, model or processor is
/// another compile for themselves.
class SharedProgram {
public:
  /// Nothing where there is no such job.
  static std::optional<SharedProgram> of(const RunOptions &options,
                                         const JobMember &member);

  /// Not on rank 0: what rank 0 has compiled; nothing where this process has to
  /// do it. An error without a message where rank 0 says why there is no
  /// program, one with code 8 where what has come is not what rank 0 gave.
  llvm::Expected<std::optional<Session>> fetch();
  /// On rank 0: gives the artifact at `path` to the others, and waits until all
  /// of them have the same, before they map it; code 8 where one has not.
  /// Elsewhere says that this process has compiled for itself.
  llvm::Error show(llvm::StringRef path);
  /// On rank 0: informs the others that there is no program; returns `error`.
  llvm::Error refuse(llvm::Error error);

private:
  /// Compares the digests of what all ranks are about to load.
  llvm::Error agree(llvm::StringRef digest);

  shardrt_job *job = nullptr;
  std::string name; ///< of this program in its job; rank 0's to set
  std::string key;  ///< what it is compiled from, and for
};

/// Called by all processes of a job with what became of opening and binding the
/// program here, `error`. Where that is an error anywhere, it is one
/// everywhere, of the same code, before anything runs: here its own, else that
/// of the first rank which has one.
llvm::Error agreeOnBinding(const JobMember &member, llvm::Error error);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_PROCESSES_H

//===- Store.h - Values that the processes of a job share -------*- C++ -*-===//
//
// Values by name, over TCP: the process of rank 0 keeps them, the others
// connect to it. Who connects proves that it is of this job, and which rank
// (Handshake.h), before anything else is read; strangers get nothing and
// disturb nobody. Once all ranks have joined nobody listens any more. For what
// ranks must know before they can communicate (NCCL's unique id), not for data.
//
// A name with an owner, `place/0@3` or `shared/program@0/1`, is set by that
// rank alone: who reads it knows whose word it is. Names without may be set by
// any rank; the first has the word.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_BOOTSTRAP_STORE_H
#define SHARDRT_COMM_BOOTSTRAP_STORE_H

#include "Comm/Bootstrap/Siblings.h"
#include <atomic>
#include <memory>
#include <vector>

namespace shardrt {

class Store {
public:
  virtual ~Store() { shardc::crypto::wipe(jobSecret); }

  /// Joins the job: rank 0 begins to listen, the others connect, and try again
  /// for `timeoutMs` while nobody listens. NULL with a reason, and with what
  /// status() would be.
  static std::unique_ptr<Store> join(const Launch &launch, int64_t timeoutMs,
                                     std::string &error, int *status = nullptr);

  /// Sets a value, at most maxBytes; one that is set already stays, and false
  /// is returned with a reason, unless it is the same.
  virtual bool set(const std::string &name, const std::string &value,
                   std::string &error) = 0;
  /// Waits until `name` is set.
  virtual bool get(const std::string &name, int64_t timeoutMs,
                   std::string &value, std::string &error) = 0;
  /// Waits until all ranks have called it with this name; else names those who
  /// have not.
  bool barrier(const std::string &name, int64_t timeoutMs, std::string &error);

  /// Whether somebody who had joined is not there any more, or was ended
  /// before, or has been stopped for long: then what others wait for does not
  /// come. `loss` says so.
  virtual bool isBroken(Loss &loss) = 0;

  /// After a failure: SHARDRT_LOST, or SHARDRT_WATCHDOG where those who are
  /// waited for had joined and say nothing any more, or were stopped.
  int status() const { return failedWith; }

  /// Where others of the job reach this process: an address of IPv4.
  virtual std::string address() const = 0;

  /// The job's secret, for other connections between its processes.
  const shardc::crypto::Key &secret() const { return jobSecret; }

  static constexpr int64_t maxBytes = 1 << 20;

protected:
  explicit Store(const Launch &launch)
      : launch(launch), siblings(this->launch) {}
  /// What became of a request; but for Given there is an error.
  enum class Answer { Given, Late, Refused };
  /// barrier(), with an error that does not say who is missing.
  virtual Answer come(const std::string &name, int64_t timeoutMs,
                      std::string &error) = 0;
  /// Who has not set its part of `name`, `name@R`, and who has not joined at
  /// all; or that rank 0 does not say, or is gone.
  enum class Missing { Known, Silent, Gone };
  virtual Missing whoIsMissing(const std::string &name,
                               std::vector<int64_t> &parts,
                               std::vector<int64_t> &strangers) = 0;
  /// Completes the error of a wait that was in vain, and sets the status.
  void explain(const std::string &name, std::string &error);
  Launch launch;
  Siblings siblings;
  shardc::crypto::Key jobSecret = {};
  std::atomic<int> failedWith{Loss().status()};
  /// Why, where it waited at a barrier in vain.
  Loss gaveUp;
};

/// The rank that owns `name`; -1: nobody does.
int64_t ownerOf(const std::string &name);

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_STORE_H

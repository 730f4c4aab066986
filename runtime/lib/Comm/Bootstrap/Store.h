//===- Store.h - What the processes of a job tell one another ---*- C++ -*-===//
//
// Values by name, over TCP: the process of rank 0 keeps them, the others
// connect to it. Who connects says which job it is of, which rank, and of how
// many; a process of another job, or one that has been there, is refused with
// the reason, and disturbs nobody. For what ranks must know before they can
// communicate (NCCL's unique id), not for data.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_BOOTSTRAP_STORE_H
#define SHARDRT_COMM_BOOTSTRAP_STORE_H

#include "Comm/Bootstrap/Launch.h"
#include <memory>

namespace shardrt {

class Store {
public:
  virtual ~Store() = default;

  /// Joins the job: rank 0 begins to listen, the others connect, and try again
  /// for `timeoutMs` while nobody listens. NULL with a reason.
  static std::unique_ptr<Store> join(const Launch &launch, int64_t timeoutMs,
                                     std::string &error);

  /// Sets a value, at most maxBytes; one that is set already stays, and false
  /// is returned with a reason, unless it is the same.
  virtual bool set(const std::string &name, const std::string &value,
                   std::string &error) = 0;
  /// Waits until `name` is set.
  virtual bool get(const std::string &name, int64_t timeoutMs,
                   std::string &value, std::string &error) = 0;
  /// Waits until all ranks have called it with this name; else names those who
  /// have not.
  bool meet(const std::string &name, int64_t timeoutMs, std::string &error);

  /// Where others of the job reach this process: an address of IPv4.
  virtual std::string address() const = 0;

  static constexpr int64_t maxBytes = 1 << 20;

protected:
  explicit Store(const Launch &launch) : launch(launch) {}
  /// meet(), with an error that does not say who is missing.
  virtual bool come(const std::string &name, int64_t timeoutMs,
                    std::string &error) = 0;
  Launch launch;
};

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_STORE_H

//===- Team.h - The ranks of a job that are of this process -----*- C++ -*-===//
//
// Where processes live as long as their user's program and run one compiled
// program after the other, connections are made once: for each list of ranks
// that programs run on there is one group, which all of them use.
// Programs have numbers there (Comm::program), so that ranks that run different
// ones find out.
//
// A process has one rank or more. Each is one to the store and to the others,
// wherever they are.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_BOOTSTRAP_TEAM_H
#define SHARDRT_COMM_BOOTSTRAP_TEAM_H

#include "Comm/Bootstrap/Job.h"
#include "shardrt/shardrt.h"
#include <map>
#include <mutex>
#include <set>
#include <span>

namespace shardrt {

struct Program;

/// What programs on one list of ranks synchronise through, as far as they are
/// of this process.
class TeamGroup final : public Group {
public:
  /// `ends` by rank; NULL: of another process.
  explicit TeamGroup(std::vector<std::unique_ptr<Group>> ends);

  int64_t size() const override { return static_cast<int64_t>(ends.size()); }
  Comm &rank(int64_t i) override { return ends[i]->rank(i); }
  /// Memory of rank `i` that the others read in place; or NULL.
  Segment *segmentOf(int64_t i) { return ends[i]->segment(); }
  void fail(Failure failure) override;
  bool failed() const override;
  Failure failure() const override;
  bool reset() override { return !failed(); }
  void patrol(int64_t sinceNs) override;
  void leave() override;

  /// Its failure has been reported.
  std::atomic<bool> hasReportedFailure{false};

  /// The program that rank `i` runs from here on.
  struct Running {
    int64_t number = 0;
    int64_t unbound = 0; ///< of what it was bound from; 0: of nothing
    std::span<const int64_t> bound = {}; ///< to what
  };
  /// The first time all ranks find out whether it is the same; of one that is
  /// bound each time what each is bound to: `byRank`. False: the step has
  /// failed.
  bool begin(int64_t i, const Running &program,
             std::vector<std::vector<int64_t>> &byRank);

private:
  std::vector<std::unique_ptr<Group>> ends;
  std::vector<std::set<int64_t>> known; ///< programs, by rank; each rank's own
};

class Team {
public:
  struct Options {
    Launch launch; ///< of processes
    int64_t localRanks = 1;
    const shardrt_key_values *exchange = nullptr;
    int64_t timeoutMs = 0;
    Wire wire = Wire::Auto;
  };
  /// NULL with a status and a reason.
  static std::shared_ptr<Team> join(const Options &options, int &status,
                                    std::string &error);

  int64_t process() const { return number; }
  int64_t processes() const { return static_cast<int64_t>(counts.size()); }
  int64_t size() const { return total; }
  int64_t first() const { return firstRank; }
  int64_t localRanks() const { return counts[number]; }
  int64_t processOf(int64_t rank) const;
  bool isHere(int64_t rank) const {
    return rank >= firstRank && rank < firstRank + localRanks();
  }
  const std::string &launcher() const { return launch.launcher; }
  bool isOneHost() const { return launch.isOneHost; }
  /// Ends all connections, unless keep() was called: a rank never came back.
  void leave();
  /// … or only announces that this process takes part in no run any
  /// more.
  void sayGoodbye();
  bool hasSaidGoodbye() const { return isGone.load(); }
  void keep() { isKept.store(true); }

  /// The group of programs over `ranks` of the job, some of them of this
  /// process. The first time it waits for the others. NULL with a status and a
  /// reason.
  TeamGroup *find(std::span<const int64_t> ranks, const GroupOptions &options,
                  int &status, std::string &error);
  /// The number of a program that is in a few words `words`.
  int64_t enroll(const std::shared_ptr<const Program> &program,
                 const std::string &words);

private:
  struct Found {
    std::unique_ptr<TeamGroup> group;
    int status = 0;
    std::string error;
  };
  std::string rendezvous(const Options &options);
  Found connect(std::span<const int64_t> ranks, const GroupOptions &options);
  std::string describe(int64_t site, bool full);

  Launch launch; ///< of ranks; `rank` is that of the first
  int64_t number = 0, total = 0, firstRank = 0, timeoutMs = 0;
  Wire wire = Wire::Auto;
  std::vector<int64_t> counts;                ///< ranks, by process
  std::vector<std::unique_ptr<Store>> stores; ///< of this process' ranks

  std::atomic<bool> isKept{false}, isGone{false};
  std::mutex naming; ///< guards the next
  std::map<int64_t, std::weak_ptr<const Program>> programs;
  std::mutex connecting; ///< guards what follows; the outer one
  std::map<std::vector<int64_t>, Found> groups;
};

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_TEAM_H

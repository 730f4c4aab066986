//===- Crew.h - Threads of ranks that worlds share --------------*- C++ -*-===//
//
// A place is a thread and what it owns. It does tasks in the order in which
// they were put into its queue; tasks for several places are put into all their
// queues at once, so that two runs come in the same order everywhere and none
// waits for the other.
//
// Whoever has a place's turn may do something in it: the place's own thread, or
// a caller that found it idle. The turn and the number of tasks are one word,
// on which the thread sleeps.
//
// What ranks that are threads synchronise through is a group. Runs borrow one
// of the crew's, when their first rank begins, until their last has left: what
// goes wrong in one run reaches no other, and worlds hold none.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_WORLD_CREW_H
#define SHARDRT_WORLD_CREW_H

#include "Comm/Local/LocalComm.h"
#include "Device/Cpu/Memory.h"
#include "Host/Pool.h"
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace shardrt {

class Team;
class TeamGroup;
struct Run;
struct RunPart;
struct Outcome;

/// Something for a place to do.
class Task {
public:
  /// Called once, in the place's turn; or with a status where the place will
  /// not come to it. The task may be gone afterwards. What somebody is to be
  /// told goes to `outcome`.
  virtual void run(int status, Outcome &outcome) = 0;
  int64_t place = 0;
  /// One that is put into a queue at the same time, of a place above.
  Task *sibling = nullptr;
  Task *next = nullptr; ///< in its place's queue

protected:
  ~Task() = default;
};

/// A word that a forked child sees as zero.
class ForkMark {
public:
  ForkMark();
  ~ForkMark();
  ForkMark(const ForkMark &) = delete;
  ForkMark &operator=(const ForkMark &) = delete;
  /// Whether this is the process that made it.
  bool isHere() const;

private:
  volatile int *word = nullptr; ///< NULL where the system knows no such memory
  int process = 0;
};

/// Whether a place is given up, as its thread has not come back from a part of
/// a run. Who gives it up looks at the part, and who comes back at this; each
/// says first what it does, so that one of them sees the other. Changes under
/// the place's mutex.
class GivenUp {
public:
  bool load() const { return is.load(); }
  /// Of a part that seemed not to have left. False: it has. `places` counts
  /// those that are given up.
  bool set(const std::atomic<bool> &hasLeft, std::atomic<int64_t> &places) {
    bool was = is.exchange(true);
    if (hasLeft.load()) {
      is.store(was);
      return false;
    }
    places.fetch_add(was ? 0 : 1);
    return true;
  }
  /// By the place's thread, after the part has left.
  void clear(std::atomic<int64_t> &places) {
    if (is.exchange(false))
      places.fetch_sub(1);
  }

private:
  std::atomic<bool> is{false};
};

/// State that threads share with the handle, so that one that never comes back
/// can be left behind.
class Crew {
public:
  struct Options {
    bool pin = false;
    int64_t threads = 0;  ///< of a place; 0: as many as programs ask for
    bool isShared = true; ///< by several worlds
    /// Where it is a part of more threads: how many, and the number of its
    /// first.
    int64_t ranks = 0, first = 0;
    /// Those of other processes that see what is in the places' memory.
    std::shared_ptr<Team> team;
    TeamGroup *group = nullptr; ///< of all its ranks
  };

  class alignas(128) Place {
  public:
    Place(int64_t index, int64_t places, const Options &options);

    Memory memory;
    Pool pool;
    /// The group of a single rank.
    LocalGroup alone;
    const int64_t index;
    /// Where its thread is sent when it wakes up, and when this changes,
    /// counted round.
    std::atomic<int64_t> core;
    /// Its thread goes there, if it was sent elsewhere before.
    void follow();

  private:
    friend class Crew;
    /// `state` is this, and `Queued` for each task. `Asleep` is the thread's to
    /// set and to take away.
    enum : uint32_t { Taken = 1, Closing = 2, Asleep = 4, Queued = 8 };
    static bool hasWork(uint32_t state) { return state >= Queued; }
    alignas(128) std::atomic<uint32_t> state{0};
    std::mutex mutex; ///< guards the queue
    Task *first = nullptr, *last = nullptr;
    GivenUp isLost;
    bool hasEnded = false; ///< its thread; guarded by `watching`
    int64_t sentTo = -1;   ///< the thread's
  };

  Crew(int64_t places, Options options);
  Crew(const Crew &) = delete;
  Crew &operator=(const Crew &) = delete;

  int64_t size() const { return static_cast<int64_t>(places.size()); }
  Place &place(int64_t index) { return *places[index]; }
  bool isShared() const { return options.isShared; }
  bool isPinned() const { return options.pin; }
  Team *team() const { return options.team.get(); }

  /// Why nothing can be asked of it; 0 if it can.
  int status() const;
  std::string describeStatus() const;
  /// Puts a task and its siblings behind what their places have to do: all, or
  /// none with the status why.
  int push(Task &first);
  /// Takes the turn of a place that has nothing to do.
  bool tryTake(int64_t index);
  void giveBack(int64_t index);
  bool isIdle(int64_t index) const {
    return (places[index]->state.load(std::memory_order_acquire) &
            ~uint32_t(Place::Asleep)) == 0;
  }

  /// What the thread of a place does.
  void serve(int64_t index);

  // What is watched: runs that could wait for ever.

  /// Lends a group to a run of several threads, at its first call, and watches
  /// the run. `part` begins then, if there is one: false where the run is over
  /// already, and what its caller gave may be gone.
  bool watch(Run &run, RunPart *part);
  /// After the last rank has left.
  void unwatch(Run &run);
  /// Has runs watched by a thread, if they are not yet. May throw.
  void startPatrol();
  /// Looks after all runs that are watched; for those who wait anyway.
  void patrol();
  /// How often to do so.
  int64_t tickNs() const { return tick.load(std::memory_order_relaxed); }
  /// There are waits of `timeoutNs` at most.
  void expect(int64_t timeoutNs);

  // The handle's side.

  /// No more tasks; returns when each of the first `started` places has done
  /// its last, or is lost.
  void close(int64_t started);
  /// Whether the thread of a place has ended: it is joined then, else left.
  bool hasEnded(int64_t index);
  const ForkMark fork;

private:
  static constexpr int64_t looksBeforeSleep = 200; ///< some 5 us
  /// Waits until there is something to do; false: there never will be.
  bool takeTurn(Place &place);
  Task *pop(Place &place);
  /// Gives up the place of a part that has begun and does not come back, and
  /// adds the tasks that wait there to `unreached`. False: it has come back.
  bool lose(const RunPart &part, std::vector<Task *> &unreached);

  const Options options;
  const int64_t looks; ///< of a place that has nothing to do, before it sleeps
  std::vector<std::unique_ptr<Place>> places;
  std::atomic<int64_t> lost{0}; ///< places that have not come back
  std::atomic<bool> isClosed{false};
  std::atomic<int64_t> tick;

  std::mutex watching; ///< guards what follows
  std::vector<Run *> runs;
  std::map<int64_t, std::vector<std::unique_ptr<LocalGroup>>> idle; ///< by size
  int64_t begun = 0; ///< runs, so far
  bool isAsleep = false, isStopping = false;
  std::condition_variable wakePatrol;
  std::condition_variable ended; ///< a thread of a place has
  std::thread guard;
};

/// Adds what one holds to those who end it: the crew and its threads.
struct CrewHandle {
  CrewHandle(int64_t places, Crew::Options options);
  CrewHandle(CrewHandle &&) = default;
  ~CrewHandle();
  std::shared_ptr<Crew> crew;
  std::vector<std::thread> threads;

private:
  void end();
};

} // namespace shardrt

/// The C handle.
struct shardrt_crew {
  shardrt::CrewHandle handle;
};

#endif // SHARDRT_WORLD_CREW_H

//===- Plan.h - What is held, what is made again ----------------*- C++ -*-===//
//
// A program as the planner of memory sees it: plain data, no IR. Ops are in
// groups, and groups one after the other. A group whose ops work on the same
// rows may run as a loop over blocks of rows; what is made and used up inside
// of it then exists for one block only. A value that waits for a late use is
// held, or its op and those before it are repeated where it is used.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_MEMORY_PLAN_H
#define SHARDC_MEMORY_PLAN_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace shardc::memory {

/// How an op may be repeated. What communicates is repeated where nothing else
/// helps.
enum class Repeat { Never, Communicates, Freely };

struct PlanValue {
  int64_t bytes = 0; ///< of the rank that has most; 0 if it takes no memory
  int64_t producer = -1;
  /// The value that this one is a copy of; itself if it is none.
  int64_t base = -1;
  /// True if it is made row by row, of the rows of its op.
  bool hasRows = false;
};

struct PlanUse {
  int64_t value = -1;
  /// True if the op reads row i of it for its own row i.
  bool byRows = false;
};

struct PlanOp {
  llvm::SmallVector<PlanUse, 4> operands;
  llvm::SmallVector<int64_t, 1> results;
  /// The rows that it works on; -1 if it cannot be split by rows.
  int64_t space = -1;
  /// Arithmetic, in operations; what bytes cost is in it.
  double cost = 0;
  Repeat repeat = Repeat::Never;
  /// Costs next to nothing and reads nothing by rows: each group has its own.
  bool isFree = false;
  /// The op of the program that it is, or repeats.
  int64_t source = -1;
  /// Which repetition it belongs to; 0 for the op itself.
  int64_t repetition = 0;
  /// The op whose work it waits for, -1 if none. What both read is held from
  /// one to the other: neither reads a copy that the other does not.
  int64_t begun = -1;
};

struct PlanGroup {
  int64_t space = -1;
  std::vector<int64_t> ops; ///< in an order in which they can run
  bool isLoop = false;
};

/// What Planner says of itself.
struct Summary {
  int64_t peakBefore = 0, peakAfter = 0; ///< bytes, as estimated
  int64_t repeated = 0;                  ///< ops that run once more
  int64_t loops = 0;
  double addedCost = 0, cost = 0;
};

class Program {
public:
  int64_t addValue(int64_t bytes, bool hasRows = false);
  /// Takes over `op`; its results get it as their producer.
  int64_t addOp(PlanOp op);

  std::vector<PlanValue> values;
  std::vector<PlanOp> ops;
  std::vector<PlanGroup> groups;
  /// Groups, in the order in which they run.
  std::vector<int64_t> order;

  /// Puts ops, which are in an order in which they can run, into groups: ops
  /// on the same rows into one where what they need allows it.
  void formGroups();
  /// True if each op is behind what it reads, and in a loop reads what the
  /// loop makes by rows alone.
  bool isOrdered() const;
};

/// Bytes of a block of rows where all is to take no more than `limit`.
int64_t blockBytesFor(int64_t limit);

/// What a plan may do beside repeating ops.
struct PlanMeans {
  bool loops = false;         ///< over blocks of rows
  bool communication = false; ///< repeated
};

/// Changes a program with groups until it fits.
class Planner {
public:
  explicit Planner(Program &program) : program(program) {}

  /// Makes loops of groups and repeats ops until no group needs more than
  /// `limit` bytes, or nothing helps any more; returns whether it fits. Tries
  /// several ways, and takes the one that adds least arithmetic.
  bool fit(int64_t limit, PlanMeans means = {});

  /// Bytes while each group runs, by place in the order.
  std::vector<int64_t> bytesByPlace() const;
  /// The values that live at `place`, the largest first.
  std::vector<int64_t> liveAt(int64_t place) const;
  const Summary &summary() const { return result; }

private:
  struct Span {
    int64_t first = -1, last = -1; ///< places
  };
  struct Request {
    int64_t op;    ///< repeated
    int64_t group; ///< into which, or before which
    bool isBefore;
  };
  /// A value given up at one place, and what takes its place.
  struct Removal {
    int64_t value = -1;
    int64_t freed =
        0; ///< bytes at the place, what must be held instead taken off
    double cost = 0;
    llvm::SmallVector<Request, 0> requests;
    /// Values that must be held for longer.
    llvm::SmallVector<int64_t> holds;
    /// What is among the requests, and what was found to be impossible or too
    /// dear.
    llvm::DenseSet<std::pair<int64_t, int64_t>> asked, refused, dear;
  };

  void refresh();
  void chooseLoops();
  void giveFreeOps();
  void dropUnread();
  void sortGroup(PlanGroup &group);
  bool isInternal(int64_t value) const;
  bool isRepeatable(const PlanOp &op) const;
  /// True if work that reads `value` is under way at `place`.
  bool isUnderWay(int64_t value, int64_t place) const;
  /// The copy of `value` that `group` makes itself, or -1.
  int64_t madeIn(int64_t value, int64_t group) const;
  /// A copy of `value`, other than `without`, that is made before `place` and
  /// lives there anyway, or -1.
  int64_t available(int64_t value, int64_t place, int64_t without) const;
  /// The copy of `value` that was made last before `place`, or -1.
  int64_t latest(int64_t value, int64_t place, int64_t without) const;
  std::pair<int64_t, int64_t> keyOf(const Request &what) const {
    return {2 * program.ops[what.op].source + what.isBefore, what.group};
  }
  /// What an op must be repeated for: to have `value` where `where` says.
  bool require(int64_t value, bool byRows, Request where, int64_t peak,
               Removal &removal) const;
  bool request(Request what, int64_t peak, Removal &removal) const;
  bool giveUpSome(int64_t peak, int64_t tooMuch);
  Removal consider(int64_t value, int64_t peak) const;
  void carryOut(const Removal &removal);
  /// The same, unless other places then need as much more.
  bool carryOutIfLess(const Removal &removal);
  void formLoops();
  bool fitOnce();
  /// The values, alike and one behind the other, that hold most once all that
  /// is cheap to repeat is given up: the states between a network's layers.
  std::vector<int64_t> findChain(const Program &before);
  /// Appends a copy of an op for `group` (-1: a new one before `place`), which
  /// reads other copies made for it, or what lives there.
  int64_t copyOp(int64_t op, int64_t group, int64_t place, int64_t without,
                 llvm::ArrayRef<int64_t> early, llvm::ArrayRef<int64_t> inside);

  Program &program;
  PlanMeans means;
  /// Only what leaves less above the limit is done.
  bool isCareful = false;
  int64_t limit = 0, blockBytes = 0, repetition = 0;
  Program spare;                ///< what an attempt began with
  llvm::DenseSet<int64_t> kept; ///< values that are not given up
  double mostAdded = 0;         ///< arithmetic, in parts of the program's own
  /// Cost of repeated ops that a byte is worth. It rises until the program
  /// fits, so that what costs little for its bytes goes first.
  double price = 1;
  std::vector<Span> spans;
  std::vector<int64_t> placeOf;            ///< by group
  std::vector<int64_t> groupOf;            ///< by op
  std::vector<std::vector<int64_t>> users; ///< ops, by value
  std::vector<std::vector<int64_t>>
      copies; ///< values, by the value they are copies of
  Summary result;
};

} // namespace shardc::memory

#endif // SHARDC_MEMORY_PLAN_H

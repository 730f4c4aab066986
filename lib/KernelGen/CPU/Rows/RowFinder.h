//===- RowFinder.h - Finds ops to be done block by block --------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_ROWS_ROWFINDER_H
#define SHARDC_LIB_KERNELGEN_CPU_ROWS_ROWFINDER_H

#include "RowGroup.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Machine/Cost.h"

namespace shardc::cpu {
using namespace mlir;

/// What touches of `memref` are noted under: the part of a buffer that it shows
/// where that is a part of its own, as each value of a bucket that is
/// all-reduced has, else the buffer.
Value partBehind(Value memref);
/// What `op` touches, where nothing is known of rows.
Touches touchesOf(Operation *op);
/// True if the order of two ops that touch these matters.
bool conflict(const Touches &some, const Touches &others);

/// Collects a group around one reduction.
class RowFinder {
public:
  RowFinder(linalg::GenericOp seed, ShardSizes &sizes, int64_t threads,
            bool exact)
      : seed(seed), sizes(sizes), threads(threads), exact(exact),
        cost(machineOf(seed)) {}

  /// The group to be emitted, if it is worth it.
  std::optional<RowGroup> find();

private:
  using Units = SmallVector<int64_t>;
  struct Cuts {
    SmallVector<int64_t> counts;
    SmallVector<Quantity> sizes; ///< as counts, where the function says it
    Units units;                 ///< in the seed's largest input
    SmallVector<Outside> outside;
  };
  int64_t elementsOf(Value memref);
  int64_t bytesOf(Value memref) {
    return elementsOf(memref) *
           elementBytes(cast<MemRefType>(memref.getType()).getElementType());
  }
  void collectWindow();
  std::optional<RowGroup> tryCuts(const Cuts &cuts);
  /// A group under way, and what has to wait for it.
  struct Gathering {
    RowGroup group;
    llvm::SmallDenseSet<Operation *> late;
    Touches lateTouches;
    bool siteIsLate = false;
    /// Fills that wait for the op that they are of; null once they are settled.
    SmallVector<linalg::GenericOp> fills;
  };
  /// Whether `op`, which touches `touches`, cannot stay before the group.
  static bool mustWait(const Gathering &g, Operation *op,
                       const Touches &touches);
  void putOff(Gathering &g, Operation *op);
  /// Has fills of what `own` touches join, if `join`, stay, or wait.
  void settleFills(Gathering &g, const Touches &own, bool join);
  bool joinFill(Gathering &g, linalg::GenericOp fill);
  /// Whether all rows may add to the results of `op` in parts.
  bool canCombine(linalg::GenericOp op);
  bool join(Gathering &g, linalg::GenericOp op, const Touches &plain);

  // RowCuts.cpp
  SmallVector<Cuts> candidates();
  std::optional<Member> map(linalg::GenericOp op);
  std::optional<Place> placeOf(Value view, AffineMap map,
                               ArrayRef<LoopShare> shares);
  bool placeLoads(Member &member, const Touches &touches);
  void spreadHints();

  // RowTouches.cpp
  std::optional<Touches> touchesOfMember(Member &member);
  bool mayJoin(const Touches &group, const Touches &own);

  // RowGains.cpp
  bool isWorth(RowGroup &group);
  void findLocal(RowGroup &group);

  linalg::GenericOp seed;
  ShardSizes &sizes;
  int64_t threads;
  bool exact;
  Cost cost;
  Value largest; ///< the seed's largest input
  AffineMap largestMap;
  SmallVector<Operation *> window;
  SmallVector<int64_t> counts;
  /// Units of memory that ops may share, by key: where to look for cuts.
  struct Hint {
    Units units;
    SmallVector<Outside> outside;
  };
  DenseMap<Value, Hint> hints;
};

} // namespace shardc::cpu

#endif // SHARDC_LIB_KERNELGEN_CPU_ROWS_ROWFINDER_H

//===- RowGroup.h - Ops that are done block by block ------------*- C++ -*-===//
//
// What FuseRows finds and EmitRows writes: ops that follow one another, each of
// which touches, of all that another one of them writes, its own rows alone.
//
// "Rows" are the iterations of one or more cuts. A cut divides dims of buffers
// into as many shares: an image's channels into its groups, say, where another
// view of the same memory has a dim of groups. In contiguous memory a share is
// known by its unit, the distance between two shares in elements: views that
// agree on units agree on which elements a row has. Where it is not known how
// many shares there are, they have to agree on what is outside of them, too.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_ROWS_ROWGROUP_H
#define SHARDC_LIB_KERNELGEN_CPU_ROWS_ROWGROUP_H

#include "../Nests/Nest.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <vector>

namespace shardc::cpu {

/// How many shares are outside of one dim of a view, in other dims; where that
/// is not known, the view's type.
using Outside = std::pair<int64_t, mlir::Type>;

/// Where the cuts are in a view: by cut, the dim (-1: none) and how many of its
/// elements are one row's.
struct Place {
  llvm::SmallVector<int> at;
  llvm::SmallVector<int64_t> width;
  /// By cut: elements from one share to the next; 0 without a dim, -1 unknown.
  llvm::SmallVector<int64_t> units;
  llvm::SmallVector<Outside> outside; ///< of cuts of unknown size

  /// True if a row has elements of its own.
  bool isOwn() const {
    return llvm::all_of(units, [](int64_t unit) { return unit > 0; });
  }
};

/// Where memory of `type` has shares of such units, by cut.
std::optional<Place> placeByUnits(mlir::MemRefType type,
                                  llvm::ArrayRef<int64_t> units,
                                  llvm::ArrayRef<Outside> outside,
                                  llvm::ArrayRef<int64_t> counts);

/// How an op, or a group of them, touches memory.
struct Touch {
  mlir::Value key; ///< the memory, under the name that units are of
  llvm::SmallVector<int64_t> units;
  llvm::SmallVector<Outside> outside;
  bool isOwn = false;   ///< a row touches elements of its own
  bool writes = false;  ///< some op writes
  bool isMixed = false; ///< in more than one way
  int64_t count = 0;    ///< of ops
};
/// By buffer, or by part of one.
using Touches = llvm::MapVector<mlir::Value, Touch>;

/// The iterations of an op's loop that are one share of a cut.
struct LoopShare {
  int loop = -1;
  int64_t width = 1;
};

struct Member {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<LoopShare> shares; ///< by cut
  llvm::SmallVector<Place> places;     ///< by operand
  /// Loads in the body of what members write.
  std::vector<std::pair<mlir::memref::LoadOp, Place>> loads;
  /// An output is added to by all rows.
  bool accumulates = false;
};

struct RowGroup {
  llvm::SmallVector<int64_t> counts; ///< shares of each cut; dynamic: unknown
  /// The same as far as the function knows it; null: of no member's operand.
  llvm::SmallVector<Quantity> sizes;
  std::vector<Member> members; ///< in order
  Touches touches;
  /// What is between members and has to wait for them, in order.
  llvm::SmallVector<mlir::Operation *> after;
  /// Buffers that nothing but members touches: a block's share of them does.
  llvm::SmallVector<mlir::Value> local;
  int64_t rowsOfBlock = 1; ///< of the last cut
  int64_t chunks = 1;      ///< partial results of what all rows add to
  int64_t parts = 1;

  bool accumulates() const {
    return llvm::any_of(members, [](const Member &m) { return m.accumulates; });
  }
};

/// Writes `group` in front of what follows its last member, and erases its ops.
void emitRows(RowGroup &group);

} // namespace shardc::cpu

#endif // SHARDC_LIB_KERNELGEN_CPU_ROWS_ROWGROUP_H

//===- Ranks.h - Meshes and intervals of the local view ---------*- C++ -*-===//
#ifndef SHARDC_LIB_INTERPRETER_RANKS_H
#define SHARDC_LIB_INTERPRETER_RANKS_H

#include "Evaluator.h"
#include "Mesh.h"
#include "shardc/Dialect/Local/IR/Local.h"

namespace shardc::interpreter {

using mlir::ArrayAttr;
using mlir::SmallVector;
using mlir::StringAttr;

/// A mesh of our own dialect.
struct RankMesh : Mesh {
  explicit RankMesh(spmd::MeshAttr attr);
  static std::optional<RankMesh> of(Evaluator &evaluator, Operation *op,
                                    mlir::FlatSymbolRefAttr name);
  /// The row-major number of the rank's coordinates along `axes`.
  int64_t place(int64_t rank, ArrayRef<StringRef> axes) const;
  /// Whether two ranks differ along `axes` alone.
  bool areGroup(int64_t a, int64_t b, ArrayRef<StringRef> axes) const;
  int64_t groupSize(ArrayRef<StringRef> axes) const;
};

/// Half-open.
struct Extent {
  int64_t begin, end;
  int64_t size() const { return std::max<int64_t>(end - begin, 0); }
  bool contains(int64_t at) const { return begin <= at && at < end; }
};

/// One dim of an exchange, as its attribute says it.
struct Dim {
  int64_t dim;
  SmallVector<StringRef> axes;
  ArrayRef<int64_t> ownedTable, neededTable;
  Padding padding;

  explicit Dim(spmd::DimExchangeAttr attr);
  int64_t countPlaces() const { return ownedTable.size() / 2; }
  Extent ownedAt(int64_t place) const {
    return {ownedTable[2 * place], ownedTable[2 * place + 1]};
  }
  Extent owned(const RankMesh &mesh, int64_t rank) const {
    return ownedAt(mesh.place(rank, axes));
  }
  Extent needed(const RankMesh &mesh, int64_t rank) const {
    int64_t place = mesh.place(rank, axes);
    return {neededTable[2 * place], neededTable[2 * place + 1]};
  }
  /// Of the whole dim.
  int64_t size() const;
};

SmallVector<Dim> dimsOf(ArrayAttr attr);
SmallVector<StringRef> namesOf(ArrayAttr attr);

/// The value of elements that nothing was written to.
Element poison(const Format &format);

/// The element of a dim of `size` elements that is at `at`; -1: the fill.
int64_t sourceOf(int64_t at, int64_t size, Padding padding);

/// Of the binary op that combines so.
StringRef combinerOf(spmd::ReductionKind kind);

/// The lanes that differ from `rank` along `axes` alone, by rank; an error if
/// some are not here.
FailureOr<SmallVector<Lane *>> groupOf(Operation *op, const RankMesh &mesh,
                                       ArrayRef<StringRef> axes, Lanes lanes,
                                       int64_t rank);

/// Checks that each of `group` holds of `value` what `dims` say that it owns,
/// and of all other dims as much as `mine` does.
LogicalResult verifyHeld(Operation *op, const RankMesh &mesh,
                         ArrayRef<Dim> dims, mlir::Value value, Lanes group,
                         const Lane &mine);

inline Format indexFormat() { return {Format::Integer, 64, true, nullptr}; }

} // namespace shardc::interpreter

#endif // SHARDC_LIB_INTERPRETER_RANKS_H

//===- Exchanges.h - From what is owned to what is needed -------*- C++ -*-===//
//
// The one place where Partition makes communication ops. Halos, shifts,
// rebalances, gathers and all-to-alls are the same tables; Layout says which it
// is, and where nothing leaves a rank there is a local slice and pad instead.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_PARTITION_EXCHANGES_H
#define SHARDC_LIB_PARTITION_EXCHANGES_H

#include "mlir/IR/Builders.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Interfaces/Localization.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

namespace shardc {

/// What differs by rank, as constants or table lookups at the function's entry.
class RankTables {
public:
  RankTables(spmd::MeshAttr mesh, mlir::FlatSymbolRefAttr meshName,
             mlir::Block *entry, Binding binding)
      : mesh(mesh), meshName(meshName), entry(entry),
        binding(std::move(binding)) {}

  /// The entry of `table` at this rank's coordinate along `axes` (mesh axis
  /// numbers): an IntegerAttr where all entries agree.
  mlir::OpFoldResult lookup(llvm::ArrayRef<int64_t> table,
                            llvm::ArrayRef<int64_t> axes);
  /// This rank's entry of a table that follows from what is bound, over `axes`
  /// or some of them.
  mlir::OpFoldResult lookup(const Formula &formula,
                            llvm::ArrayRef<int64_t> axes);
  /// The numbers of a formula in the binding by which costs are estimated, for
  /// each coordinate along `axes`.
  BoundTable evaluate(const Formula &formula, llvm::ArrayRef<int64_t> axes);
  /// Notes that the op that is being made local has no form for sizes that are
  /// known when a program is bound: `what` it needs to know now.
  void refuse(llvm::StringRef what) {
    if (refused.empty())
      refused = what;
  }
  /// What was refused since the last call; empty for nothing.
  std::string takeRefused() { return std::exchange(refused, {}); }

  /// True if sizes of arguments, extents, or sizes of axes, are known only when
  /// the program is bound.
  bool isBoundLate() const {
    return !binding.given.empty() || mesh.getExtents() ||
           !mesh.getSymbolicAxes().empty();
  }
  /// Refuses what is said in numbers for each coordinate along `axes`, if there
  /// may be another number of them.
  void requireKnown(llvm::ArrayRef<int64_t> axes) {
    if (mesh.isSymbolic(axes))
      refuse("the number of ranks along its axes");
  }
  /// True if `needed` is within a dim of `size` elements, whatever is bound.
  bool isInDomain(const Formula &needed, int64_t size);
  spmd::MeshAttr getMesh() const { return mesh; }
  mlir::FlatSymbolRefAttr getMeshName() const { return meshName; }
  int64_t countCoordinates(llvm::ArrayRef<int64_t> axes) const;

private:
  mlir::OpFoldResult lookup(llvm::ArrayRef<int64_t> table,
                            llvm::ArrayRef<int64_t> axes,
                            const Formula &formula);

  spmd::MeshAttr mesh;
  mlir::FlatSymbolRefAttr meshName;
  mlir::Block *entry;
  Binding binding;
  std::string refused;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>,
                 mlir::OpFoldResult>
      known;
  mlir::Operation *lastLookup = nullptr;
  /// Extents around the placeholders, once a window has asked for them.
  std::optional<std::vector<std::vector<int64_t>>> nearby;
};

/// How each coordinate along `dim`'s axes owns a dim of `size` elements.
IntervalTable ownedTable(spmd::MeshAttr mesh, spmd::DimShardingAttr dim,
                         int64_t size);

/// A dim of `size` elements that every rank has whole.
IntervalTable wholeTable(spmd::MeshAttr mesh, int64_t size);

/// The exchange of one dim, over the axes of both tables.
DimExchange combineTables(RankTables &tables, int64_t dim,
                          const IntervalTable &owned,
                          const IntervalTable &needed);

/// The size of what a rank needs of a dim, where all ranks and all bindings
/// agree; else ShapedType::kDynamic.
int64_t neededSize(const DimExchange &dim);

/// True if what a rank needs differs from what it owns in some binding.
bool moves(const DimExchange &dim);

/// Takes `local`, a shard of a tensor whose dims (all of them) are exchanged as
/// `dims` say, from owned to needed. `fill` is a 0-d tensor or null. Returns
/// `local` itself where nothing changes.
mlir::Value emitExchange(mlir::OpBuilder &builder, mlir::Location loc,
                         RankTables &tables, mlir::Value local,
                         llvm::ArrayRef<DimExchange> dims, mlir::Value fill,
                         llvm::StringRef reason);

/// Zero of `elementType` (integer, float or complex) as a 0-d tensor.
mlir::DenseElementsAttr zeroScalar(mlir::Type elementType);

} // namespace shardc

#endif // SHARDC_LIB_PARTITION_EXCHANGES_H

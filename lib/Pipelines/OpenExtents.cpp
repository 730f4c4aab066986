//===- OpenExtents.cpp - The same program with other placeholders ---------===//
//
// A number of a compiled program says by its value which open extent it follows
// from (shardc/Layout/Extents.h). One that came out of a division, or of some
// estimate, may follow from an extent and not say so. It is another one where
// the placeholders are others: the local views of both are compared number by
// number.
//
//===----------------------------------------------------------------------===//
#include "OpenExtents.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {
class Comparison {
public:
  Comparison(Extents here, Extents there)
      : here(std::move(here)), there(std::move(there)) {}

  bool same(Operation *a, Operation *b) const {
    if ((a->getName() != b->getName() &&
         !(isExchangeBoundLate(a) && isExchangeBoundLate(b))) ||
        a->getNumOperands() != b->getNumOperands() ||
        a->getNumResults() != b->getNumResults() ||
        a->getAttrs().size() != b->getAttrs().size())
      return false;
    for (auto [x, y] : llvm::zip(a->getResultTypes(), b->getResultTypes()))
      if (!same(x, y))
        return false;
    for (auto [x, y] : llvm::zip(a->getAttrs(), b->getAttrs())) {
      auto lookup = dyn_cast<LookupOp>(a);
      bool isOfOneBinding = lookup && lookup.getFormula() &&
                            x.getName() == lookup.getTableAttrName();
      if (x.getName() != y.getName() ||
          (!isOfOneBinding && !same(x.getValue(), y.getValue())))
        return false;
    }
    return true;
  }

private:
  /// Its name says whether those who exchange are neighbours in one binding.
  static bool isExchangeBoundLate(Operation *op) {
    return isa<HaloExchangeOp, RebalanceOp>(op) &&
           isBoundLate(cast<ExchangeOpInterface>(op).getDims());
  }
  bool same(int64_t a, int64_t b) const {
    std::optional<LinearExtent> x = here.find(a), y = there.find(b);
    if (!x || !y)
      return !x && !y && a == b;
    return x->extent == y->extent && x->coefficient == y->coefficient &&
           x->constant == y->constant;
  }
  bool same(ArrayRef<int64_t> a, ArrayRef<int64_t> b) const {
    return a.size() == b.size() &&
           llvm::all_of(llvm::zip(a, b), [&](auto pair) {
             return same(std::get<0>(pair), std::get<1>(pair));
           });
  }
  template <typename List> bool sameAll(List a, List b) const {
    return a.size() == b.size() &&
           llvm::all_of(llvm::zip(a, b), [&](auto pair) {
             return same(Attribute(std::get<0>(pair)),
                         Attribute(std::get<1>(pair)));
           });
  }
  bool same(Type a, Type b) const {
    auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
    if (!x || !y)
      return a == b;
    return x.getElementType() == y.getElementType() &&
           same(x.getShape(), y.getShape());
  }
  bool same(Attribute a, Attribute b) const;

  Extents here, there;
};
} // namespace

/// Numbers beside a formula are of one binding; words name sizes for people.
bool Comparison::same(Attribute a, Attribute b) const {
  if (a == b && !isa_and_nonnull<FormulaAttr, DimExchangeAttr, TypeAttr,
                                 DenseI64ArrayAttr, IntegerAttr>(a))
    return true;
  if (!a || !b || a.getTypeID() != b.getTypeID())
    return false;
  if (isa<StringAttr, MeshAttr>(a))
    return true;
  if (auto x = dyn_cast<FormulaAttr>(a)) {
    auto y = cast<FormulaAttr>(b);
    return x.getKind() == y.getKind() && same(x.getNumbers(), y.getNumbers()) &&
           sameAll(x.getOperands(), y.getOperands());
  }
  if (auto x = dyn_cast<DimExchangeAttr>(a)) {
    auto y = cast<DimExchangeAttr>(b);
    if (x.getDim() != y.getDim() || x.getAxes() != y.getAxes() ||
        bool(x.getOwnedFormula()) != bool(y.getOwnedFormula()))
      return false;
    if (!x.getOwnedFormula())
      return same(x.getOwned(), y.getOwned()) &&
             same(x.getNeeded(), y.getNeeded());
    return same(x.getOwnedFormula(), y.getOwnedFormula()) &&
           same(x.getNeededFormula(), y.getNeededFormula());
  }
  if (auto x = dyn_cast<DimShardingAttr>(a)) {
    auto y = cast<DimShardingAttr>(b);
    if (x.getAxes() != y.getAxes() ||
        bool(x.getFormula()) != bool(y.getFormula()))
      return false;
    if (x.getFormula())
      return same(x.getFormula(), y.getFormula());
    // Of an open extent these say nothing (DimShardingAttr::getBoundaries).
    return bool(x.getSizes()) == bool(y.getSizes());
  }
  if (auto x = dyn_cast<ShardingAttr>(a))
    return sameAll(x.getDims(), cast<ShardingAttr>(b).getDims());
  if (auto x = dyn_cast<TypeAttr>(a))
    return same(x.getValue(), cast<TypeAttr>(b).getValue());
  if (auto x = dyn_cast<ArrayAttr>(a))
    return sameAll(x.getValue(), cast<ArrayAttr>(b).getValue());
  if (auto x = dyn_cast<DictionaryAttr>(a)) {
    auto y = cast<DictionaryAttr>(b);
    return x.size() == y.size() && llvm::all_of(llvm::zip(x, y), [&](auto p) {
             return std::get<0>(p).getName() == std::get<1>(p).getName() &&
                    same(std::get<0>(p).getValue(), std::get<1>(p).getValue());
           });
  }
  if (auto x = dyn_cast<DenseI64ArrayAttr>(a))
    return same(x.asArrayRef(), cast<DenseI64ArrayAttr>(b).asArrayRef());
  if (auto x = dyn_cast<IntegerAttr>(a)) {
    const APInt &y = cast<IntegerAttr>(b).getValue();
    if (x.getValue().getSignificantBits() > 64 || y.getSignificantBits() > 64)
      return x.getValue() == y;
    return same(x.getValue().getSExtValue(), y.getSExtValue());
  }
  return false;
}

static Extents extentsOf(ModuleOp module) {
  for (MeshOp mesh : module.getOps<MeshOp>())
    return mesh.getMesh().getExtents().getExtents();
  return {};
}

LogicalResult shardc::checkOpenExtents(ModuleOp module, ModuleOp twin) {
  SmallVector<Operation *> ops, others;
  for (auto [from, list] : {std::pair(module, &ops), std::pair(twin, &others)})
    for (auto function : from.getOps<func::FuncOp>())
      function.walk<WalkOrder::PreOrder>(
          [list = list](Operation *op) { list->push_back(op); });
  Comparison comparison(extentsOf(module), extentsOf(twin));
  for (size_t i = 0; i < ops.size(); ++i) {
    if (isa<func::FuncOp>(ops[i]))
      continue;
    if (i < others.size() && comparison.same(ops[i], others[i]))
      continue;
    return emitUnsupported(ops[i])
           << "'" << ops[i]->getName() << "' at "
           << userLocation(ops[i]->getLoc())
           << ": its local form follows from open extents in a way that is not "
              "known; give shapes of the arguments (--shapes)";
  }
  return success();
}

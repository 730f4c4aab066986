//===- LocalTables.cpp - What differs by rank, as tables ------------------===//
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

OpFoldResult shardc::lookUp(OpBuilder &builder, Location loc, MeshAttr mesh,
                            FlatSymbolRefAttr meshName, ArrayRef<int64_t> table,
                            ArrayRef<int64_t> axes, const Formula &formula) {
  if (!formula && llvm::all_equal(table))
    return builder.getIndexAttr(table.front());
  SmallVector<StringRef> names;
  for (int64_t axis : axes)
    names.push_back(mesh.getAxisNames()[axis].getValue());
  return LookupOp::create(builder, loc, builder.getIndexType(),
                          builder.getDenseI64ArrayAttr(table),
                          builder.getStrArrayAttr(names), meshName,
                          FormulaAttr::get(builder.getContext(), formula))
      .getResult();
}

std::pair<int64_t, int64_t> shardc::rangeOf(LookupOp lookup) {
  auto [least, greatest] = lookup.getFormulaAttr().getFormula().range();
  // An extent is not bounded by what stands for it while it is open.
  if (MeshAttr mesh = lookupMesh(lookup, lookup.getMeshAttr());
      mesh && mesh.getExtents())
    return {least >= 0 ? 0 : INT64_MIN, INT64_MAX};
  return {least, greatest};
}

bool shardc::isBoundLate(ArrayAttr dims) {
  return dims && llvm::any_of(dims.getAsRange<DimExchangeAttr>(),
                              [](DimExchangeAttr dim) {
                                return bool(dim.getOwnedFormula());
                              });
}

Value shardc::lookUpSize(OpBuilder &builder, Location loc, DimExchangeAttr dim,
                         bool needed, FlatSymbolRefAttr mesh) {
  ArrayRef<int64_t> ends = needed ? dim.getNeeded() : dim.getOwned();
  SmallVector<int64_t> table;
  for (size_t k = 0; k + 1 < ends.size(); k += 2)
    table.push_back(std::max<int64_t>(0, ends[k + 1] - ends[k]));
  SmallVector<Attribute> axes(dim.getAxes().begin(), dim.getAxes().end());
  FormulaAttr formula = needed ? dim.getNeededFormula() : dim.getOwnedFormula();
  if (formula)
    formula = FormulaAttr::get(builder.getContext(),
                               Formula::size(formula.getFormula()));
  return LookupOp::create(builder, loc, builder.getIndexType(),
                          builder.getDenseI64ArrayAttr(table),
                          builder.getArrayAttr(axes), mesh, formula);
}

Formula shardc::sizeFormula(MeshAttr mesh, DimShardingAttr dim, int64_t size) {
  Boundaries bounds = dim.getBoundaries(mesh, size);
  if (!bounds.formula())
    return {};
  std::vector<int64_t> axes;
  for (StringAttr axis : dim.getAxes())
    axes.push_back(mesh.getAxisIndex(axis.getValue()));
  return Formula::size(Formula::shards(bounds.formula(), std::move(axes)));
}

Value shardc::lookUpSize(OpBuilder &builder, Location loc, MeshAttr mesh,
                         FlatSymbolRefAttr meshName, DimShardingAttr dim,
                         int64_t size) {
  Boundaries bounds = dim.getBoundaries(mesh, size);
  SmallVector<Attribute> axes(dim.getAxes().begin(), dim.getAxes().end());
  return LookupOp::create(
      builder, loc, builder.getIndexType(),
      builder.getDenseI64ArrayAttr(bounds.sizes()), builder.getArrayAttr(axes),
      meshName,
      FormulaAttr::get(builder.getContext(), sizeFormula(mesh, dim, size)));
}

SmallVector<int64_t> shardc::sizesOf(ArrayRef<Interval> intervals) {
  return llvm::map_to_vector(intervals,
                             [](Interval interval) { return interval.size(); });
}

int64_t shardc::staticSize(ArrayRef<int64_t> sizes) {
  return llvm::all_equal(sizes) ? sizes.front() : ShapedType::kDynamic;
}

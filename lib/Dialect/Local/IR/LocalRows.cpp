//===- LocalRows.cpp - Rows asked for by index ----------------------------===//
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

static void addAxes(ArrayAttr dims, SmallVectorImpl<StringAttr> &axes) {
  for (Attribute attr : dims)
    for (StringAttr axis : cast<DimExchangeAttr>(attr).getAxes())
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
}

/// Checks that `dims` are dims of a tensor with `numDims`, each once, over axes
/// of the mesh.
static LogicalResult verifyTables(Operation *op, ArrayAttr dims,
                                  FlatSymbolRefAttr meshName, int64_t numDims,
                                  StringRef what,
                                  SymbolTableCollection &symbols) {
  auto meshOp = symbols.lookupNearestSymbolFrom<MeshOp>(op, meshName);
  if (!meshOp)
    return op->emitOpError() << "names unknown mesh " << meshName;
  MeshAttr mesh = meshOp.getMesh();
  llvm::SmallBitVector seen(numDims);
  for (Attribute attr : dims) {
    auto dim = cast<DimExchangeAttr>(attr);
    int64_t number = dim.getDim(), coordinates = 1;
    if (number < 0 || number >= numDims || seen.test(number))
      return op->emitOpError()
             << "lists dim " << number << " of " << what << ", which has "
             << numDims << " dims, each listed once at most";
    seen.set(number);
    for (auto [i, axis] : llvm::enumerate(dim.getAxes())) {
      if (mesh.getAxisIndex(axis.getValue()) < 0)
        return op->emitOpError()
               << "names axis \"" << axis.getValue() << "\", but mesh "
               << meshName << " is " << mesh;
      if (llvm::is_contained(dim.getAxes().take_front(i), axis))
        return op->emitOpError()
               << "names axis \"" << axis.getValue() << "\" twice";
      coordinates *= mesh.getAxisSize(axis.getValue());
    }
    if (static_cast<int64_t>(dim.getOwned().size()) != 2 * coordinates)
      return op->emitOpError()
             << "has " << dim.getOwned().size() / 2 << " intervals for dim "
             << number << " of " << what << ", but there are " << coordinates
             << " coordinates along its axes";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// RowPlanOp
//===----------------------------------------------------------------------===//

FlatSymbolRefAttr RowPlanOp::getMeshName() { return getMeshAttr(); }
Value RowPlanOp::getSource() { return getIndices(); }

SmallVector<StringAttr> RowPlanOp::getGroupAxes() {
  SmallVector<StringAttr> axes;
  addAxes(getRows(), axes);
  addAxes(getDims(), axes);
  return axes;
}

LogicalResult RowPlanOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = cast<RankedTensorType>(getIndices().getType());
  int64_t numRows = getRows().size(), vectorDim = getVectorDim();
  if (!isa<IntegerType>(type.getElementType()))
    return emitOpError() << "has indices of type " << type
                         << ", expected integers";
  if (vectorDim > type.getRank() ||
      (vectorDim < type.getRank() && type.isDynamicDim(vectorDim)))
    return emitOpError() << "has index vectors in dim " << vectorDim << " of "
                         << type
                         << ", expected a static dim, or the number of dims";
  int64_t components =
      vectorDim < type.getRank() ? type.getDimSize(vectorDim) : 1;
  if (static_cast<int64_t>(getComponents().size()) != numRows ||
      static_cast<int64_t>(getSlices().size()) != numRows)
    return emitOpError() << "has " << getComponents().size()
                         << " components and " << getSlices().size()
                         << " slices for " << numRows << " addressed dims";
  for (auto [i, component] : llvm::enumerate(getComponents())) {
    if (component >= components || -1 - component >= type.getRank() ||
        -1 - component == vectorDim)
      return emitOpError() << "takes component " << component << " for dim "
                           << i << ", but index vectors of " << type << " have "
                           << components;
    if (static_cast<int64_t>(i) != cast<DimExchangeAttr>(getRows()[i]).getDim())
      return emitOpError() << "lists addressed dim "
                           << cast<DimExchangeAttr>(getRows()[i]).getDim()
                           << " at place " << i
                           << ", expected all of them in order";
  }
  if (failed(verifyTables(*this, getRows(), getMeshAttr(), numRows,
                          "the addressed dims", symbols)))
    return failure();
  return verifyTables(*this, getDims(), getMeshAttr(), type.getRank(),
                      "the indices", symbols);
}

//===----------------------------------------------------------------------===//
// GatherRowsOp, ScatterRowsOp
//===----------------------------------------------------------------------===//

/// Checks that `positions` has the dims of the plan's indices and slices where
/// `addressed` has the addressed dims.
static LogicalResult verifyRows(Operation *op, RowPlanOp plan,
                                RankedTensorType addressed,
                                RankedTensorType positions, int64_t first) {
  if (!plan)
    return op->emitOpError() << "has a plan that no 'local.row_plan' makes";
  auto indices = cast<RankedTensorType>(plan.getIndices().getType());
  int64_t numRows = plan.getRows().size();
  int64_t batch =
      indices.getRank() -
      (static_cast<int64_t>(plan.getVectorDim()) < indices.getRank());
  int64_t slices = llvm::count_if(plan.getSlices(),
                                  [](int64_t slice) { return slice != 1; });
  int64_t expected = addressed.getRank() - numRows + batch + slices;
  if (first + numRows > addressed.getRank() ||
      positions.getRank() != expected ||
      addressed.getElementType() != positions.getElementType())
    return op->emitOpError()
           << "has " << addressed << " addressed from dim " << first
           << " on in " << numRows << " dims, and " << positions
           << ", expected " << expected << " dims: those around, " << batch
           << " of the plan's indices and " << slices
           << " of its slices of more than one row";
  return success();
}

RowPlanOp GatherRowsOp::getRowPlan() {
  return getPlan().getDefiningOp<RowPlanOp>();
}
FlatSymbolRefAttr GatherRowsOp::getMeshName() { return getMeshAttr(); }
Value GatherRowsOp::getSource() { return getOperand(); }

SmallVector<StringAttr> GatherRowsOp::getGroupAxes() {
  SmallVector<StringAttr> axes;
  addAxes(getDims(), axes);
  if (RowPlanOp plan = getRowPlan())
    addAxes(plan.getRows(), axes);
  return axes;
}

LogicalResult GatherRowsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = cast<RankedTensorType>(getOperand().getType());
  if (failed(verifyRows(*this, getRowPlan(), type,
                        cast<RankedTensorType>(getType()), getFirst())))
    return failure();
  return verifyTables(*this, getDims(), getMeshAttr(), type.getRank(),
                      "the operand", symbols);
}

RowPlanOp ScatterRowsOp::getRowPlan() {
  return getPlan().getDefiningOp<RowPlanOp>();
}
FlatSymbolRefAttr ScatterRowsOp::getMeshName() { return getMeshAttr(); }
Value ScatterRowsOp::getSource() { return getUpdates(); }

SmallVector<StringAttr> ScatterRowsOp::getGroupAxes() {
  SmallVector<StringAttr> axes;
  addAxes(getDims(), axes);
  if (RowPlanOp plan = getRowPlan()) {
    addAxes(plan.getRows(), axes);
    addAxes(plan.getDims(), axes);
  }
  return axes;
}

LogicalResult ScatterRowsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = cast<RankedTensorType>(getInto().getType());
  if (failed(verifyRows(*this, getRowPlan(), type,
                        cast<RankedTensorType>(getUpdates().getType()),
                        getFirst())))
    return failure();
  return verifyTables(*this, getDims(), getMeshAttr(), type.getRank(),
                      "what is written to", symbols);
}

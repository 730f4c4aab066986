//===- LocalValues.cpp - What differs by rank -----------------------------===//
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "MeshUses.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#define GET_OP_CLASSES
#include "shardc/Dialect/Local/IR/LocalValues.cpp.inc"

//===----------------------------------------------------------------------===//
// LookupOp
//===----------------------------------------------------------------------===//

LogicalResult LookupOp::verifySymbolUses(SymbolTableCollection &symbols) {
  MeshAttr mesh;
  SmallVector<StringAttr> axes = axisNames(getAxes());
  if (failed(verifyAxes(*this, getMeshAttr(), axes, symbols, mesh)))
    return failure();
  int64_t coordinates = countCoordinates(mesh, axes);
  if (static_cast<int64_t>(getTable().size()) != coordinates)
    return emitOpError() << "has a table of " << getTable().size()
                         << " entries, but there are " << coordinates
                         << " coordinates along its axes";
  return success();
}

OpFoldResult LookupOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> table = getTable();
  if (!getFormula() && !table.empty() && llvm::all_equal(table))
    return IntegerAttr::get(getType(), table.front());
  return {};
}

void LookupOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                 SetIntRangeFn setResultRanges) {
  if (getFormulaAttr()) {
    auto [least, greatest] = rangeOf(*this);
    return setResultRanges(
        getResult(), ConstantIntRanges::fromSigned(APInt(64, least, true),
                                                   APInt(64, greatest, true)));
  }
  if (ArrayRef<int64_t> table = getTable(); !table.empty())
    setResultRanges(getResult(),
                    ConstantIntRanges::fromSigned(
                        APInt(64, *llvm::min_element(table), true),
                        APInt(64, *llvm::max_element(table), true)));
}

//===----------------------------------------------------------------------===//
// DilateOp
//===----------------------------------------------------------------------===//

LogicalResult DilateOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  if (input.getRank() != result.getRank() ||
      input.getElementType() != result.getElementType())
    return emitOpError()
           << "has input " << input << " and result " << result
           << ", expected the same element type and number of dims";
  if (static_cast<int64_t>(getDim()) >= input.getRank())
    return emitOpError() << "has dim " << getDim() << ", but the tensor has "
                         << input.getRank() << " dims";
  if (static_cast<int64_t>(getFactor()) < 1)
    return emitOpError() << "has factor " << getFactor()
                         << ", expected at least 1";
  return success();
}

//===----------------------------------------------------------------------===//
// CallHostOp
//===----------------------------------------------------------------------===//

void CallHostOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  if (getHasEffect())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult CallHostOp::verify() {
  size_t numValues = getNumOperands() + getNumResults();
  if (getTypes().size() != numValues)
    return emitOpError() << "lists " << getTypes().size() << " types, expected "
                         << numValues << ": those of its operands and results";
  for (Attribute attr : getTypes())
    if (auto type = dyn_cast<RankedTensorType>(cast<TypeAttr>(attr).getValue());
        !type || !type.hasStaticShape())
      return emitOpError() << "lists type " << attr
                           << ", expected tensors of static shapes";
  return success();
}

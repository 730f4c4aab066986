//===- SpmdLocal.cpp - What differs by rank -------------------------------===//
#include "shardc/Dialect/Spmd/IR/SpmdLocal.h"
#include "MeshUses.h"
#include "shardc/Dialect/Spmd/IR/SpmdTables.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#define GET_OP_CLASSES
#include "shardc/Dialect/Spmd/IR/SpmdLocal.cpp.inc"

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
// PadOp
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()),
       result = cast<RankedTensorType>(getType());
  if (input.getRank() != result.getRank() ||
      input.getElementType() != result.getElementType())
    return emitOpError()
           << "has input " << input << " and result " << result
           << ", expected the same element type and number of dims";
  if (static_cast<int64_t>(getLow().size()) != input.getRank() ||
      getHigh().size() != getLow().size())
    return emitOpError() << "has " << getLow().size() << " low and "
                         << getHigh().size() << " high amounts for "
                         << input.getRank() << " dims";
  for (int64_t i = 0; i < input.getRank(); ++i) {
    int64_t size = input.getDimSize(i),
            padded = size + getLow()[i] + getHigh()[i];
    if (padded != result.getDimSize(i))
      return emitOpError() << "makes " << padded << " elements of the " << size
                           << " in dim " << i << ", but its result has "
                           << result.getDimSize(i);
    if (size == 0 && padded != 0)
      return emitOpError() << "pads dim " << i
                           << ", which has no elements to read";
  }
  return success();
}

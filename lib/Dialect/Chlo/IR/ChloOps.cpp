//===- ChloOps.cpp - The chlo dialect -------------------------------------===//
#include "shardc/Dialect/Chlo/IR/Chlo.h"

#include "mlir/IR/Builders.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::chlo;

#include "shardc/Dialect/Chlo/IR/ChloDialect.cpp.inc"

#define GET_OP_CLASSES
#include "shardc/Dialect/Chlo/IR/ChloOps.cpp.inc"

namespace {
/// Every op may move into a caller; there are no regions.
struct ChloInliner final : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "shardc/Dialect/Chlo/IR/ChloOps.cpp.inc"
      >();
  addInterfaces<ChloInliner>();
}

Operation *ChloDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

/// The operand's shape with elements of i1.
static LogicalResult inferPredicate(MLIRContext *context, Value operand,
                                    SmallVectorImpl<Type> &types) {
  types.push_back(cast<RankedTensorType>(operand.getType())
                      .clone(IntegerType::get(context, 1)));
  return success();
}

LogicalResult IsInfOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  return inferPredicate(context, adaptor.getOperand(), types);
}

LogicalResult IsNegInfOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  return inferPredicate(context, adaptor.getOperand(), types);
}

LogicalResult IsPosInfOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  return inferPredicate(context, adaptor.getOperand(), types);
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t k = adaptor.getK();
  if (operand.getRank() == 0)
    return emitOptionalError(location, "'chlo.top_k' op operand has type ",
                             operand, ", expected at least one dim");
  SmallVector<int64_t> shape(operand.getShape());
  if (k < 0 || (!ShapedType::isDynamic(shape.back()) && k > shape.back()))
    return emitOptionalError(location, "'chlo.top_k' op asks for ", k,
                             " of the ", shape.back(),
                             " elements of the last dim");
  shape.back() = k;
  types.push_back(operand.clone(shape));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}

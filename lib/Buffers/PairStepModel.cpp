//===- PairStepModel.cpp - pairs.pair_step from tensors to buffers --------===//
//
// And kernel.lines and the ops on matrices, which have destinations as well.
//
//===----------------------------------------------------------------------===//
#include "BufferOperands.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "shardc/Buffers/Models.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/Kernel/IR/KernelMatrices.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {
/// What reads what goes in and writes its destinations, which it may have read
/// (`readsDestinations`: a state that changes) or not.
template <typename OpT, bool readsDestinations>
struct DestinationModel
    : bufferization::DstBufferizableOpInterfaceExternalModel<
          DestinationModel<OpT, readsDestinations>, OpT> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    return readsDestinations || !cast<OpT>(op).isDpsInit(&operand);
  }
  bool bufferizesToElementwiseAccess(Operation *,
                                     const bufferization::AnalysisState &,
                                     ArrayRef<OpOperand *>) const {
    return false;
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    FailureOr<SmallVector<Value>> operands =
        bufferOperands(op, rewriter, options, state);
    if (failed(operands))
      return failure();
    OperationState next(op->getLoc(), op->getName(), *operands, TypeRange(),
                        op->getDiscardableAttrDictionary().getValue());
    next.propertiesAttr = op->getPropertiesAsAttribute();
    for (Region &region : op->getRegions())
      next.addRegion()->takeBody(region);
    auto onBuffers = cast<OpT>(rewriter.create(next));
    SmallVector<Value> results(onBuffers.getInits());
    bufferization::replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};
} // namespace

void shardc::registerPairStepModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, PairsDialect *) {
    PairStepOp::attachInterface<DestinationModel<PairStepOp, true>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, KernelDialect *) {
    LinesOp::attachInterface<DestinationModel<LinesOp, false>>(*context);
    EighOp::attachInterface<DestinationModel<EighOp, false>>(*context);
    SvdOp::attachInterface<DestinationModel<SvdOp, false>>(*context);
    QrOp::attachInterface<DestinationModel<QrOp, false>>(*context);
    HessenbergOp::attachInterface<DestinationModel<HessenbergOp, false>>(
        *context);
    HouseholderProductOp::attachInterface<
        DestinationModel<HouseholderProductOp, false>>(*context);
  });
}

//===- LibraryCallModel.cpp - kernel.library_call from tensors to buffers
//---===//
#include "BufferOperands.h"
#include "shardc/Buffers/Models.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"

using namespace mlir;
using namespace shardc;

namespace {
/// A call reads its inputs and overwrites its init in place.
struct LibraryCallModel : bufferization::BufferizableOpInterface::ExternalModel<
                              LibraryCallModel, spmd::LibraryCallOp> {
  static bool isInit(Operation *op, OpOperand &operand) {
    // Numbers that are known when it runs are behind.
    unsigned first = cast<spmd::LibraryCallOp>(op).getInputs().size();
    return operand.getOperandNumber() >= first &&
           isa<ShapedType>(operand.get().getType());
  }
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    return !isInit(op, operand);
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const bufferization::AnalysisState &) const {
    return isInit(op, operand);
  }
  bufferization::AliasingValueList
  getAliasingValues(Operation *op, OpOperand &operand,
                    const bufferization::AnalysisState &) const {
    if (isInit(op, operand) && op->getNumResults() == 2)
      return {{op->getResult(0), bufferization::BufferRelation::Equivalent}};
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    FailureOr<SmallVector<Value>> operands =
        bufferOperands(op, rewriter, options, state);
    if (failed(operands))
      return failure();
    auto call = cast<spmd::LibraryCallOp>(op);
    size_t numInputs = call.getInputs().size();
    auto onBuffers = spmd::LibraryCallOp::create(
        rewriter, op->getLoc(), Type(), rewriter.getI1Type(),
        call.getKindAttr(), ValueRange(*operands).take_front(numInputs),
        ValueRange(*operands).slice(numInputs, call.getInits().size()),
        call.getAt(), call.getDimsAttr(), call.getNumbersAttr(),
        call.getEpilogueAttr(), call.getRequiredAttr(), call.getTcgen05Attr(),
        call.getTf32Attr());
    SmallVector<Value> results;
    if (call.getResult())
      results.push_back((*operands)[numInputs]);
    results.push_back(onBuffers.getDone());
    bufferization::replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};
} // namespace

void shardc::registerLibraryCallModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, spmd::KernelDialect *) {
    spmd::LibraryCallOp::attachInterface<LibraryCallModel>(*context);
  });
}

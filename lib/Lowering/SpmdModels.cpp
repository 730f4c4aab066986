//===- SpmdModels.cpp - Bufferisation and bounds of spmd ops --------------===//
#include "DenseBuffers.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Lowering/RuntimePasses.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// `buffer` itself if it is dense, else a dense copy.
static Value dense(RewriterBase &rewriter, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  if (isDenseBuffer(type))
    return buffer;
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(memref::DimOp::create(rewriter, loc, buffer, i));
  Value copy = memref::AllocOp::create(rewriter, loc, MemRefType::get(type.getShape(), type.getElementType()), sizes);
  memref::CopyOp::create(rewriter, loc, buffer, copy);
  return copy;
}

namespace {

/// A site reads its inputs and overwrites its destination.
struct RunSiteModel
    : bufferization::DstBufferizableOpInterfaceExternalModel<RunSiteModel, RunSiteOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const bufferization::AnalysisState &) const {
    return cast<RunSiteOp>(op).getAccumulates() || !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }
  // Peers read the input while others write: input and destination never alias.
  bool bufferizesToElementwiseAccess(Operation *, const bufferization::AnalysisState &, ArrayRef<OpOperand *>) const {
    return false;
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto site = cast<RunSiteOp>(op);
    SmallVector<Value> inputs, inits;
    for (auto [from, to] : {std::pair(site.getInputs(), &inputs), std::pair(site.getInits(), &inits)})
      for (Value value : from) {
        if (isa<TensorType>(value.getType())) {
          FailureOr<Value> buffer = bufferization::getBuffer(rewriter, value, options, state);
          if (failed(buffer))
            return failure();
          value = dense(rewriter, op->getLoc(), *buffer);
        }
        to->push_back(value);
      }
    auto onBuffers = RunSiteOp::create(rewriter, op->getLoc(), TypeRange(), site.getSiteAttr(), site.getToken(), inputs, inits);
    onBuffers.setAccumulates(site.getAccumulates());
    bufferization::replaceOpWithBufferizedValues(rewriter, op, ArrayRef(inits).take_front(op->getNumResults()));
    return success();
  }
};

/// A call of the host does the same, with any number of each.
struct RunHostModel
    : bufferization::DstBufferizableOpInterfaceExternalModel<RunHostModel, RunHostOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const bufferization::AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto call = cast<RunHostOp>(op);
    SmallVector<Value> inputs, inits;
    for (auto [from, to] : {std::pair(call.getInputs(), &inputs), std::pair(call.getInits(), &inits)})
      for (Value value : from) {
        FailureOr<Value> buffer = bufferization::getBuffer(rewriter, value, options, state);
        if (failed(buffer))
          return failure();
        to->push_back(dense(rewriter, op->getLoc(), *buffer));
      }
    RunHostOp::create(rewriter, op->getLoc(), TypeRange(), call.getIndexAttr(), inputs, inits, call.getHasEffectAttr(),
                      call.getOrderedAttr(), call.getTypesAttr(), call.getAxesAttr(), call.getMeshAttr());
    bufferization::replaceOpWithBufferizedValues(rewriter, op, inits);
    return success();
  }
};

/// A start reads its input; peers go on reading what it holds, until the wait has
/// read that too.
struct StartSiteModel : bufferization::BufferizableOpInterface::ExternalModel<StartSiteModel, StartSiteOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const bufferization::AnalysisState &) const { return true; }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const bufferization::AnalysisState &) const { return false; }
  bufferization::AliasingValueList getAliasingValues(Operation *op, OpOperand &, const bufferization::AnalysisState &) const {
    return {{cast<StartSiteOp>(op).getHeld(), bufferization::BufferRelation::Unknown, /*isDefinite=*/false}};
  }
  FailureOr<bufferization::BufferLikeType> getBufferType(Operation *op, Value, const bufferization::BufferizationOptions &options,
                                                         const bufferization::BufferizationState &state, SmallVector<Value> &stack) const {
    FailureOr<bufferization::BufferLikeType> type = bufferization::getBufferType(cast<StartSiteOp>(op).getInput(), options, state, stack);
    if (failed(type))
      return failure();
    auto memref = cast<MemRefType>(*type);
    return cast<bufferization::BufferLikeType>(Type(isDenseBuffer(memref) ? memref : MemRefType::get(memref.getShape(), memref.getElementType())));
  }
  /// Where something writes to the input before the wait, peers read a copy. By
  /// default what the start holds would be copied, after peers were shown the input.
  LogicalResult resolveConflicts(Operation *op, RewriterBase &rewriter, const bufferization::AnalysisState &analysis,
                                 const bufferization::BufferizationState &state) const {
    OpOperand &input = cast<StartSiteOp>(op).getInputMutable();
    if (analysis.isInPlace(input))
      return success();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    FailureOr<Value> copy = bufferization::allocateTensorForShapedValue(rewriter, op->getLoc(), input.get(),
                                                                        analysis.getOptions(), state);
    if (failed(copy))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { input.set(*copy); });
    return success();
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto start = cast<StartSiteOp>(op);
    FailureOr<Value> buffer = bufferization::getBuffer(rewriter, start.getInput(), options, state);
    if (failed(buffer))
      return failure();
    Value held = dense(rewriter, op->getLoc(), *buffer);
    auto onBuffer = StartSiteOp::create(rewriter, op->getLoc(), start.getToken().getType(), Type(), start.getSiteAttr(), held);
    bufferization::replaceOpWithBufferizedValues(rewriter, op, {onBuffer.getToken(), held});
    return success();
  }
};

/// A lookup is at least the least and at most the greatest of its table.
struct LookupBounds : ValueBoundsOpInterface::ExternalModel<LookupBounds, LookupOp> {
  void populateBoundsForIndexValue(Operation *op, Value value, ValueBoundsConstraintSet &constraints) const {
    ArrayRef<int64_t> table = cast<LookupOp>(op).getTable();
    if (table.empty())
      return;
    constraints.bound(value) >= *llvm::min_element(table);
    constraints.bound(value) <= *llvm::max_element(table);
  }
};

} // namespace

void shardc::registerSpmdLoweringModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, SpmdDialect *) {
    RunSiteOp::attachInterface<RunSiteModel>(*context);
    RunHostOp::attachInterface<RunHostModel>(*context);
    StartSiteOp::attachInterface<StartSiteModel>(*context);
    LookupOp::attachInterface<LookupBounds>(*context);
  });
}

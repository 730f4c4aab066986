//===- SpmdModels.cpp - Bufferisation and bounds of spmd ops --------------===//
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "shardc/Buffers/Models.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Support/DenseBuffers.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// A dense buffer of the sizes of `buffer`, with nothing in it.
static Value denseLike(RewriterBase &rewriter, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(memref::DimOp::create(rewriter, loc, buffer, i));
  return memref::AllocOp::create(
      rewriter, loc, MemRefType::get(type.getShape(), type.getElementType()),
      sizes);
}

/// `buffer` itself if it is dense, else a dense copy.
static Value dense(RewriterBase &rewriter, Location loc, Value buffer) {
  if (isDenseBuffer(cast<MemRefType>(buffer.getType())))
    return buffer;
  Value copy = denseLike(rewriter, loc, buffer);
  memref::CopyOp::create(rewriter, loc, buffer, copy);
  return copy;
}

namespace {
/// Dense buffers that an op writes to in place of those that it was given,
/// which get what it wrote: whoever reads its results reads them.
class DenseDestinations {
public:
  Value replace(RewriterBase &rewriter, Location loc, Value buffer,
                bool isRead) {
    if (isDenseBuffer(cast<MemRefType>(buffer.getType())))
      return buffer;
    Value copy = isRead ? dense(rewriter, loc, buffer)
                        : denseLike(rewriter, loc, buffer);
    copies.emplace_back(copy, buffer);
    return copy;
  }
  void writeBack(RewriterBase &rewriter, Location loc) {
    for (auto [copy, buffer] : copies)
      memref::CopyOp::create(rewriter, loc, copy, buffer);
  }

private:
  SmallVector<std::pair<Value, Value>> copies;
};
} // namespace

namespace {

/// A site reads its inputs and overwrites its destination.
struct RunSiteModel
    : bufferization::DstBufferizableOpInterfaceExternalModel<RunSiteModel,
                                                             RunSiteOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    return cast<RunSiteOp>(op).getAccumulates() ||
           !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }
  // Peers read the input while others write: input and destination never alias.
  bool bufferizesToElementwiseAccess(Operation *,
                                     const bufferization::AnalysisState &,
                                     ArrayRef<OpOperand *>) const {
    return false;
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto site = cast<RunSiteOp>(op);
    SmallVector<Value> inputs, inits, results;
    DenseDestinations destinations;
    auto bufferOf = [&](Value value) -> FailureOr<Value> {
      if (!isa<TensorType>(value.getType()))
        return value;
      return bufferization::getBuffer(rewriter, value, options, state);
    };
    for (Value value : site.getInputs()) {
      FailureOr<Value> buffer = bufferOf(value);
      if (failed(buffer))
        return failure();
      inputs.push_back(isa<TensorType>(value.getType())
                           ? dense(rewriter, op->getLoc(), *buffer)
                           : *buffer);
    }
    for (Value value : site.getInits()) {
      FailureOr<Value> buffer = bufferOf(value);
      if (failed(buffer))
        return failure();
      results.push_back(*buffer);
      inits.push_back(isa<TensorType>(value.getType())
                          ? destinations.replace(rewriter, op->getLoc(),
                                                 *buffer, site.getAccumulates())
                          : *buffer);
    }
    auto onBuffers =
        RunSiteOp::create(rewriter, op->getLoc(), TypeRange(),
                          site.getSiteAttr(), site.getToken(), inputs, inits);
    onBuffers.setAccumulates(site.getAccumulates());
    destinations.writeBack(rewriter, op->getLoc());
    bufferization::replaceOpWithBufferizedValues(
        rewriter, op, ArrayRef(results).take_front(op->getNumResults()));
    return success();
  }
};

/// A call of the host does the same, with any number of each.
struct RunHostModel
    : bufferization::DstBufferizableOpInterfaceExternalModel<RunHostModel,
                                                             RunHostOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto call = cast<RunHostOp>(op);
    SmallVector<Value> inputs, inits, results;
    DenseDestinations destinations;
    for (Value value : call.getInputs()) {
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      inputs.push_back(dense(rewriter, op->getLoc(), *buffer));
    }
    for (Value value : call.getInits()) {
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      results.push_back(*buffer);
      inits.push_back(destinations.replace(rewriter, op->getLoc(), *buffer,
                                           /*isRead=*/false));
    }
    RunHostOp::create(rewriter, op->getLoc(), TypeRange(), call.getIndexAttr(),
                      inputs, inits, call.getHasEffectAttr(),
                      call.getOrderedAttr(), call.getTypesAttr(),
                      call.getAxesAttr(), call.getMeshAttr());
    destinations.writeBack(rewriter, op->getLoc());
    bufferization::replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

/// A start reads its input; peers go on reading what it holds, until the wait
/// has read that too.
struct StartSiteModel
    : bufferization::BufferizableOpInterface::ExternalModel<StartSiteModel,
                                                            StartSiteOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const bufferization::AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const bufferization::AnalysisState &) const {
    return false;
  }
  bufferization::AliasingValueList
  getAliasingValues(Operation *op, OpOperand &,
                    const bufferization::AnalysisState &) const {
    return {{cast<StartSiteOp>(op).getHeld(),
             bufferization::BufferRelation::Unknown, /*isDefinite=*/false}};
  }
  FailureOr<bufferization::BufferLikeType>
  getBufferType(Operation *op, Value,
                const bufferization::BufferizationOptions &options,
                const bufferization::BufferizationState &state,
                SmallVector<Value> &stack) const {
    FailureOr<bufferization::BufferLikeType> type =
        bufferization::getBufferType(cast<StartSiteOp>(op).getInput(), options,
                                     state, stack);
    if (failed(type))
      return failure();
    auto memref = cast<MemRefType>(*type);
    return cast<bufferization::BufferLikeType>(Type(
        isDenseBuffer(memref)
            ? memref
            : MemRefType::get(memref.getShape(), memref.getElementType())));
  }
  /// Where something writes to the input before the wait, peers read a copy. By
  /// default what the start holds would be copied, after peers were shown the
  /// input.
  LogicalResult
  resolveConflicts(Operation *op, RewriterBase &rewriter,
                   const bufferization::AnalysisState &analysis,
                   const bufferization::BufferizationState &state) const {
    OpOperand &input = cast<StartSiteOp>(op).getInputMutable();
    if (analysis.isInPlace(input))
      return success();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    FailureOr<Value> copy = bufferization::allocateTensorForShapedValue(
        rewriter, op->getLoc(), input.get(), analysis.getOptions(), state);
    if (failed(copy))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { input.set(*copy); });
    return success();
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto start = cast<StartSiteOp>(op);
    FailureOr<Value> buffer =
        bufferization::getBuffer(rewriter, start.getInput(), options, state);
    if (failed(buffer))
      return failure();
    Value held = dense(rewriter, op->getLoc(), *buffer);
    auto onBuffer =
        StartSiteOp::create(rewriter, op->getLoc(), start.getToken().getType(),
                            Type(), start.getSiteAttr(), held);
    bufferization::replaceOpWithBufferizedValues(rewriter, op,
                                                 {onBuffer.getToken(), held});
    return success();
  }
};

/// A lookup is at least the least and at most the greatest of its table.
struct LookupBounds
    : ValueBoundsOpInterface::ExternalModel<LookupBounds, LookupOp> {
  void
  populateBoundsForIndexValue(Operation *op, Value value,
                              ValueBoundsConstraintSet &constraints) const {
    if (cast<LookupOp>(op).getFormulaAttr()) {
      auto [least, greatest] = rangeOf(cast<LookupOp>(op));
      if (least > INT64_MIN)
        constraints.bound(value) >= least;
      if (greatest < INT64_MAX)
        constraints.bound(value) <= greatest;
      return;
    }
    ArrayRef<int64_t> table = cast<LookupOp>(op).getTable();
    if (table.empty())
      return;
    constraints.bound(value) >= *llvm::min_element(table);
    constraints.bound(value) <= *llvm::max_element(table);
  }
};

} // namespace

void shardc::registerSiteModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KernelDialect *) {
    RunSiteOp::attachInterface<RunSiteModel>(*context);
    RunHostOp::attachInterface<RunHostModel>(*context);
    StartSiteOp::attachInterface<StartSiteModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, LocalDialect *) {
    LookupOp::attachInterface<LookupBounds>(*context);
  });
}

//===- SeparateReaders.cpp - Many readers of an argument, each for itself -===//
//
// One-shot bufferization decides for each operand whether it may be written in
// place, and collects all reads of its buffer for that: n readers of one tensor
// take n² steps. Where nothing writes to the tensor the answer is known, and
// readers need not be compared.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "shardc/Buffers/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_SEPARATEREADERSPASS
#include "shardc/Buffers/Passes.h.inc"

/// True if the result of `op` shows elements of its operand.
static bool isView(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp, tensor::CastOp>(op);
}

/// True if `user` may hand a tensor on to where its reads are not seen here:
/// into a region, to another function, or out of this one.
static bool mayForward(Operation *user) {
  return user->hasTrait<OpTrait::IsTerminator>() ||
         isa<CallOpInterface>(user) ||
         (user->getNumRegions() && !isa<linalg::LinalgOp>(user));
}

/// Counts the ops that read what `value` shows, by itself or by views of it;
/// none if some use may write there, or may hand the tensor on.
static std::optional<unsigned>
countReaders(Value value, const bufferization::AnalysisState &state) {
  unsigned count = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      continue;
    if (isView(user)) {
      auto readers = countReaders(user->getResult(0), state);
      if (!readers)
        return std::nullopt;
      count += *readers;
      continue;
    }
    auto op = dyn_cast<bufferization::BufferizableOpInterface>(user);
    if (!op || mayForward(user) || op.bufferizesToMemoryWrite(use, state) ||
        op.getAliasingValues(use, state).getNumAliases())
      return std::nullopt;
    ++count;
  }
  return count;
}

/// Gives each use of `value`, which nothing writes, a tensor of its own that
/// shows the same buffer.
static void separate(Value value, OpBuilder &builder) {
  SmallVector<OpOperand *> uses(llvm::make_pointer_range(value.getUses()));
  auto type = cast<RankedTensorType>(value.getType());
  Value buffer = bufferization::ToBufferOp::create(
      builder, value.getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()), value,
      /*read_only=*/true);
  // The list of uses ends with the first.
  for (OpOperand *use : llvm::reverse(uses))
    use->set(bufferization::ToTensorOp::create(builder, value.getLoc(), type,
                                               buffer, /*restrict=*/true));
}

namespace {
struct SeparateReadersPass final
    : impl::SeparateReadersPassBase<SeparateReadersPass> {
  using Base::Base;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    bufferization::BufferizationOptions options;
    bufferization::AnalysisState state(options);
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(&getOperation().front());
    for (BlockArgument argument : getOperation().getArguments())
      if (isa<RankedTensorType>(argument.getType()) &&
          countReaders(argument, state).value_or(0) >= manyReaders)
        separate(argument, builder);
  }
};
} // namespace
} // namespace shardc

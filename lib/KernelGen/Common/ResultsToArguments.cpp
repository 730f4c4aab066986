//===- ResultsToArguments.cpp - Destination buffers for results -----------===//
//
// A caller that owns the output buffers saves a copy, and a function without
// results has nothing whose owner must be agreed on.
//
//===----------------------------------------------------------------------===//
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_RESULTSTOARGUMENTSPASS
#include "shardc/KernelGen/Passes.h.inc"

static void markArgumentsReadOnly(func::FuncOp function) {
  Builder builder(function.getContext());
  for (unsigned i : llvm::seq(function.getNumArguments()))
    if (isa<TensorType>(function.getArgument(i).getType()))
      function.setArgAttr(
          i, bufferization::BufferizationDialect::kWritableAttrName,
          builder.getBoolAttr(false));
}

/// The operands that `value`'s op may overwrite to build it; or, with `isView`
/// set, the one that it is a view of.
static SmallVector<OpOperand *> builtIn(Value value, bool &isView) {
  Operation *op = value.getDefiningOp();
  isView = false;
  if (!op)
    return {};
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(op)) {
    isView = true;
    return {&op->getOpOperand(0)};
  }
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return {destination.getDpsInitOperand(number)};
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return {&insert.getDestMutable()};
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return {&insert.getDestMutable()};
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    if (OpOperand *init = loop.getTiedLoopInit(cast<OpResult>(value)))
      return {init};
    return {};
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {&branch.thenYield()->getOpOperand(number), &branch.elseYield()->getOpOperand(number)};
  return {};
}

/// True if `use` hands its tensor, or a view of it, to a result after number
/// `result`.
static bool isReturnedAfter(OpOperand &use, unsigned result) {
  if (isa<func::ReturnOp>(use.getOwner()))
    return use.getOperandNumber() > result;
  if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(use.getOwner()))
    return false;
  return llvm::any_of(use.getOwner()->getUses(), [&](OpOperand &next) { return isReturnedAfter(next, result); });
}

/// True if result number `result` is built by overwriting a value that is a later
/// result too. That value would be built where the result belongs, and be gone
/// when the result has been stored there.
static bool overwritesResult(Value value, unsigned result, bool overwritten = false) {
  bool isView;
  for (OpOperand *operand : builtIn(value, isView)) {
    Value source = operand->get();
    bool lost = overwritten || !isView;
    if (lost && llvm::any_of(source.getUses(), [&](OpOperand &use) {
          return &use != operand && isReturnedAfter(use, result);
        }))
      return true;
    if (overwritesResult(source, result, lost))
      return true;
  }
  return false;
}

namespace {
struct ResultsToArgumentsPass final
    : shardc::impl::ResultsToArgumentsPassBase<ResultsToArgumentsPass> {
  using Base::Base;
  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>(entry);
    if (!function || function.isDeclaration())
      return;
    markArgumentsReadOnly(function);
    if (function.getNumResults() == 0)
      return;
    for (Type type : function.getResultTypes()) {
      if (isa<RankedTensorType>(type))
        continue;
      function.emitError("result of type ")
          << type << "; expected ranked tensors, which can be given a buffer";
      return signalPassFailure();
    }
    if (!function.getBody().hasOneBlock()) {
      function.emitError(
          "body has several blocks; expected structured control flow");
      return signalPassFailure();
    }
    auto terminator =
        cast<func::ReturnOp>(function.getBody().front().getTerminator());
    OpBuilder builder(terminator);
    for (auto [number, operand] : llvm::enumerate(terminator.getOperands())) {
      Value result = operand;
      auto type = cast<RankedTensorType>(result.getType());
      auto buffer = MemRefType::get(type.getShape(), type.getElementType());
      (void)function.insertArgument(function.getNumArguments(), buffer, {},
                                    result.getLoc());
      if (overwritesResult(result, number))
        result = bufferization::AllocTensorOp::create(
            builder, terminator.getLoc(), type, ValueRange(), result);
      auto store = bufferization::MaterializeInDestinationOp::create(
          builder, terminator.getLoc(), result,
          function.getArgument(function.getNumArguments() - 1));
      store.setRestrict(true);
      store.setWritable(true);
    }
    terminator->setOperands({});
    function.setType(builder.getFunctionType(function.getArgumentTypes(), {}));
    function.removeResAttrsAttr();
  }
};
} // namespace
} // namespace shardc

//===- ResultsToArguments.cpp - Destination buffers for results -----------===//
//
// A caller that owns the output buffers saves a copy, and a function without
// results has nothing whose owner must be agreed on.
//
//===----------------------------------------------------------------------===//
#include "shardc/Buffers/Passes.h"
#include "shardc/Support/BoundaryAttributes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_RESULTSTOARGUMENTSPASS
#include "shardc/Buffers/Passes.h.inc"

static void markArgumentsReadOnly(func::FuncOp function) {
  Builder builder(function.getContext());
  BoundaryAttributes boundary(function);
  for (unsigned i : llvm::seq(function.getNumArguments()))
    if (isa<TensorType>(function.getArgument(i).getType()))
      boundary.ofArgument(i).set(
          bufferization::BufferizationDialect::kWritableAttrName,
          builder.getBoolAttr(false));
  boundary.write();
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
    unsigned first = function.getNumArguments(),
             count = terminator.getNumOperands();
    SmallVector<Type> buffers;
    SmallVector<Location> locations;
    for (Value result : terminator.getOperands()) {
      auto type = cast<RankedTensorType>(result.getType());
      buffers.push_back(
          MemRefType::get(type.getShape(), type.getElementType()));
      locations.push_back(result.getLoc());
    }
    (void)function.insertArguments(SmallVector<unsigned>(count, first), buffers,
                                   SmallVector<DictionaryAttr>(count),
                                   locations);
    for (auto [i, result] : llvm::enumerate(terminator.getOperands())) {
      auto store = bufferization::MaterializeInDestinationOp::create(
          builder, terminator.getLoc(), result,
          function.getArgument(first + i));
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

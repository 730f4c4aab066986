//===- SpmdViews.cpp - Global view or local view --------------------------===//
#include "shardc/Dialect/Spmd/IR/SpmdViews.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

LogicalResult spmd::verifyLocalView(FunctionOpInterface function) {
  if (contract::LocalView::has(function) || function.isExternal())
    return success();
  auto refuse = [&](const Twine &what) {
    return function.emitError() << "function is in the global view: it lacks '"
                                << contract::LocalView::name() << "', and "
                                << what << "; run --spmd-partition first";
  };
  auto cuts = [](ShardingAttr sharding) {
    return sharding && !sharding.isFullyReplicated();
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (cuts(contract::Sharding::ofArgument(function, i)))
      return refuse("argument " + Twine(i) + " has a sharding");
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (cuts(contract::Sharding::ofResult(function, i)))
      return refuse("result " + Twine(i) + " has a sharding");
  Operation *left = nullptr;
  function->walk([&](Operation *op) {
    if (!isa<SpmdDialect>(op->getDialect()))
      return WalkResult::advance();
    left = op;
    return WalkResult::interrupt();
  });
  return left ? refuse("has '" + left->getName().getStringRef() + "'")
              : success();
}

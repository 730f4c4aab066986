//===- Origins.cpp - Which annotation a sharding came from ----------------===//

#include "shardc/Analysis/Origins.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"

using namespace mlir;
using namespace shardc;

ArrayAttr shardc::getOrigins(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast_or_null<FunctionOpInterface>(parent))
      return spmd::contract::Origins::ofArgument(function,
                                                 argument.getArgNumber());
    // The arguments of a loop's regions are its results.
    if (parent && argument.getArgNumber() < parent->getNumResults())
      return getOrigins(parent->getResult(argument.getArgNumber()));
    return {};
  }
  auto result = cast<OpResult>(value);
  ArrayAttr all = spmd::contract::Origins::get(result.getOwner());
  if (!all || result.getResultNumber() >= all.size())
    return {};
  return dyn_cast<ArrayAttr>(all[result.getResultNumber()]);
}

void shardc::setOrigins(Value value, ArrayAttr origins) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto function =
            dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      spmd::contract::Origins::setOfArgument(function, argument.getArgNumber(),
                                             origins);
    return;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  SmallVector<Attribute> all;
  if (ArrayAttr known = spmd::contract::Origins::get(op))
    all.assign(known.begin(), known.end());
  all.resize(op->getNumResults(), ArrayAttr::get(op->getContext(), {}));
  all[result.getResultNumber()] = origins;
  spmd::contract::Origins::set(op, ArrayAttr::get(op->getContext(), all));
}

StringAttr shardc::getOriginOfAxis(Value value, StringAttr axis) {
  if (ArrayAttr origins = getOrigins(value))
    for (auto dim : origins.getAsRange<DictionaryAttr>())
      if (auto origin = dim.getAs<StringAttr>(axis))
        return origin;
  return {};
}

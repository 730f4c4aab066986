//===- Origins.cpp - Which annotation a sharding came from ----------------===//

#include "shardc/Analysis/Origins.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace shardc;

ArrayAttr shardc::getOrigins(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast_or_null<FunctionOpInterface>(parent))
      return function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(),
                                                  kOriginsAttrName);
    // The arguments of a loop's regions are its results.
    if (parent && argument.getArgNumber() < parent->getNumResults())
      return getOrigins(parent->getResult(argument.getArgNumber()));
    return {};
  }
  auto result = cast<OpResult>(value);
  auto all = result.getOwner()->getAttrOfType<ArrayAttr>(kOriginsAttrName);
  if (!all || result.getResultNumber() >= all.size())
    return {};
  return dyn_cast<ArrayAttr>(all[result.getResultNumber()]);
}

void shardc::setOrigins(Value value, ArrayAttr origins) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto function =
            dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      function.setArgAttr(argument.getArgNumber(), kOriginsAttrName, origins);
    return;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  SmallVector<Attribute> all;
  if (auto known = op->getAttrOfType<ArrayAttr>(kOriginsAttrName))
    all.assign(known.begin(), known.end());
  all.resize(op->getNumResults(), ArrayAttr::get(op->getContext(), {}));
  all[result.getResultNumber()] = origins;
  op->setAttr(kOriginsAttrName, ArrayAttr::get(op->getContext(), all));
}

StringAttr shardc::getOriginOfAxis(Value value, StringAttr axis) {
  if (ArrayAttr origins = getOrigins(value))
    for (auto dim : origins.getAsRange<DictionaryAttr>())
      if (auto origin = dim.getAs<StringAttr>(axis))
        return origin;
  return {};
}

//===- ContractRows.cpp - Verifies what stages leave --------------------===//
#include "shardc/Dialect/Spmd/IR/ContractRows.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

ContractRows::ContractRows(std::vector<ContractRow> given, StringRef declaredIn)
    : rows(std::move(given)), declaredIn(declaredIn) {
  for (auto [i, row] : llvm::enumerate(rows))
    byName[row.name] = i;
}

LogicalResult ContractRows::verifyAt(Operation *op, NamedAttribute attr,
                                     unsigned place, const Twine &on) const {
  StringRef name = attr.getName();
  auto found = byName.find(name);
  if (found == byName.end())
    return op->emitOpError()
           << on << "'" << name << "' is unknown; " << declaredIn
           << " declares all attributes of " << name.split('.').first;
  const ContractRow &row = rows[found->second];
  bool isAllowed = row.places & place;
  if (isAllowed && place == OnOps && !row.ops.empty())
    isAllowed = llvm::any_of(row.ops, [&](StringRef prefix) {
      return op->getName().getStringRef().starts_with(prefix);
    });
  if (!isAllowed)
    return op->emitOpError()
           << on << "'" << name << "' is an attribute of " << row.where;
  if (!row.isValue(attr.getValue()) ||
      (row.fits && !row.fits(op, attr.getValue())))
    return op->emitOpError() << on << "'" << name << "' is " << attr.getValue()
                             << ", expected " << row.expected;
  return success();
}

LogicalResult ContractRows::verify(Operation *op, NamedAttribute attr) const {
  if (isa<ModuleOp>(op))
    return verifyAt(op, attr, OnModules);
  auto found = byName.find(attr.getName());
  bool isOfFunctions =
      found != byName.end() && (rows[found->second].places & OnFunctions);
  return verifyAt(op, attr,
                  isOfFunctions && isa<FunctionOpInterface>(op) ? OnFunctions
                                                                : OnOps);
}

LogicalResult ContractRows::verifyArgument(Operation *op, unsigned argument,
                                           NamedAttribute attr) const {
  return verifyAt(op, attr, OnArguments, "argument " + Twine(argument) + ": ");
}

LogicalResult ContractRows::verifyResult(Operation *op, unsigned result,
                                         NamedAttribute attr) const {
  return verifyAt(op, attr, OnResults, "result " + Twine(result) + ": ");
}

//===- VhloDialect.cpp - Replaces VHLO by StableHLO -----------------------===//
#include "shardc/Dialect/Vhlo/IR/Vhlo.h"

#include "VhloBytecode.h"
#include "VhloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/ForeignProgram.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::vhlo;

/// The op that `op` is.
static OperationName meaningOf(Operation *op) {
  StringRef name = op->getName().stripDialect();
  MLIRContext *context = op->getContext();
  if (name == "return_v1" && isa_and_present<func::FuncOp>(op->getParentOp()))
    return OperationName(func::ReturnOp::getOperationName(), context);
  if (StringRef meaning = findOp(name)->meaning; !meaning.empty())
    return OperationName(meaning, context);
  return OperationName(("stablehlo." + name.take_front(name.rfind("_v"))).str(),
                       context);
}

/// Puts the op that `op` is in its place; its regions stay as they are.
static LogicalResult replace(Operation *op) {
  OperationName name = meaningOf(op);
  Operation *meant = Operation::create(
      op->getLoc(), name, op->getResultTypes(), op->getOperands(),
      NamedAttrList(), nullptr, op->getSuccessors(), op->getNumRegions());
  OpBuilder(op).insert(meant);
  for (auto [to, from] : llvm::zip_equal(meant->getRegions(), op->getRegions()))
    to.takeBody(from);
  op->replaceAllUsesWith(meant);
  NamedAttrList inherent, discardable;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (llvm::is_contained(name.getAttributeNames(), attribute.getName()))
      inherent.append(attribute);
    else
      discardable.append(attribute);
  StringRef old = op->getName().getStringRef();
  meant->setDiscardableAttrs(discardable.getDictionary(op->getContext()));
  op->erase();
  if (inherent.empty() || meant->getPropertiesStorageSize() == 0)
    return success();
  return meant->setPropertiesFromAttribute(
      inherent.getDictionary(meant->getContext()),
      [&] { return meant->emitError() << "'" << old << "': "; });
}

namespace {
struct ReplaceVhlo final : ForeignDialectInterface {
  using ForeignDialectInterface::ForeignDialectInterface;

  LogicalResult replaceOps(ModuleOp module) const override {
    // Parents first: what a return is depends on them.
    SmallVector<Operation *> ops;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa_and_present<VhloDialect>(op->getDialect()) ||
          isa<UnrealizedConversionCastOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (!isa<UnrealizedConversionCastOp>(op)) {
        if (!findOp(op->getName().stripDialect()))
          return op->emitError() << "unknown op '" << op->getName()
                                 << "': no version of StableHLO that is known "
                                    "has it";
        if (failed(replace(op)))
          return failure();
        continue;
      }
      // Between types of VHLO and the same of sdy's ops, which are one here.
      if (op->getOperandTypes() == op->getResultTypes()) {
        op->replaceAllUsesWith(op->getOperands());
        op->erase();
      }
    }
    return success();
  }
};
} // namespace

VhloDialect::VhloDialect(MLIRContext *context)
    : ExtensibleDialect(getDialectNamespace(), context,
                        TypeID::get<VhloDialect>()) {
  context->loadDialect<func::FuncDialect, stablehlo::StablehloDialect>();
  for (const OpVersion &op : allOps()) {
    auto verify = [](Operation *) { return success(); };
    registerDynamicOp(DynamicOpDefinition::get(op.name, this, verify, verify));
  }
  addBytecode(this);
  addInterfaces<ReplaceVhlo>();
}

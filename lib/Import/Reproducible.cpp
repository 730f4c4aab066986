//===- Reproducible.cpp - What no order of combination changes ------------===//
#include "Reproducible.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Support/ElementwiseTrait.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::import::reproducible;
using namespace shardc::stablehlo;

LogicalResult reproducible::refuse(Operation *op, const Twine &why) {
  return emitUnsupported(op->getLoc())
         << "'" << op->getName().getStringRef() << "' at "
         << userLocation(op->getLoc()) << " under --reproducible: " << why;
}

bool reproducible::isRounded(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType, ComplexType>(element);
}

bool reproducible::isFloat(Value value) {
  return isa<FloatType>(Ops::typeOf(value).getElementType());
}

bool reproducible::isComplex(Value value) {
  return isa<ComplexType>(Ops::typeOf(value).getElementType());
}

void reproducible::replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
}

SmallVector<int64_t> reproducible::sizesOf(Value value,
                                           ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sizes;
  for (int64_t dim : dims)
    sizes.push_back(Ops::typeOf(value).getDimSize(dim));
  return sizes;
}

bool reproducible::isOne(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes, [](int64_t size) { return size == 1; });
}

spmd::MeshAttr reproducible::meshOf(Operation *op) {
  auto meshes = op->getParentOfType<ModuleOp>().getOps<spmd::MeshOp>();
  return meshes.empty() ? spmd::MeshAttr() : (*meshes.begin()).getMesh();
}

LogicalResult reproducible::needKnown(Operation *op, ArrayRef<int64_t> sizes) {
  spmd::MeshAttr mesh = meshOf(op);
  if (mesh &&
      llvm::any_of(sizes, [&](int64_t size) { return mesh.isOpen(size); }))
    return refuse(op, "it combines elements in a tree, whose levels follow "
                      "from an extent that is left open; give shapes of the "
                      "arguments (--shapes)");
  return success();
}

Operation *reproducible::combinerOf(Region &body, unsigned i, unsigned count) {
  Block &block = body.front();
  Operation *op = block.getTerminator()->getOperand(i).getDefiningOp();
  if (!op || op->getNumOperands() != 2 || op->getBlock() != &block)
    return nullptr;
  Value accumulator = block.getArgument(i),
        element = block.getArgument(i + count);
  bool ofBoth =
      (op->getOperand(0) == accumulator && op->getOperand(1) == element) ||
      (op->getOperand(1) == accumulator && op->getOperand(0) == element);
  return ofBoth ? op : nullptr;
}

bool reproducible::isOrderFree(Region &body, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    Operation *op = combinerOf(body, i, count);
    if (!op)
      return false;
    bool chooses = isa<MaxOp, MinOp>(op) &&
                   !isa<ComplexType>(getElementTypeOrSelf(op->getResult(0)));
    bool isExact = isa<AddOp, MulOp, AndOp, OrOp, XorOp>(op) &&
                   !isRounded(op->getResult(0).getType());
    if (!chooses && !isExact)
      return false;
  }
  return true;
}

bool reproducible::addsUp(Region &body, unsigned count) {
  return count == 1 && isa_and_nonnull<AddOp>(combinerOf(body, 0, 1));
}

bool reproducible::overwrites(Region &body, unsigned count) {
  Block &block = body.front();
  for (unsigned i = 0; i < count; ++i)
    if (block.getTerminator()->getOperand(i) != block.getArgument(i + count))
      return false;
  return true;
}

FailureOr<SmallVector<Value>> reproducible::combine(Ops &ops, Operation *op,
                                                    Region &body,
                                                    ValueRange operands) {
  ArrayRef<int64_t> shape = Ops::typeOf(operands.front()).getShape();
  Block &block = body.front();
  IRMapping mapping;
  mapping.map(block.getArguments(), operands);
  // Constants may be in front of the op by now.
  auto known = [&](Value value) {
    auto constant = value.getDefiningOp<ConstantOp>();
    if (!mapping.contains(value) && constant &&
        Ops::typeOf(value).getRank() == 0) {
      Value copy = ops.b.clone(*constant)->getResult(0);
      mapping.map(value, ops.broadcast(copy, shape, {}));
    }
    return mapping.contains(value);
  };
  for (Operation &inner : block.without_terminator()) {
    if (isa<ConstantOp>(inner))
      continue;
    if (!inner.hasTrait<ElementwiseTrait>() || inner.getNumResults() != 1 ||
        !llvm::all_of(inner.getOperands(), known))
      return refuse(op, "it combines by more than elementwise ops on its "
                        "arguments and constants");
    Operation *copy = ops.b.clone(inner, mapping);
    copy->getResult(0).setType(Ops::typeOf(inner.getResult(0)).clone(shape));
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands()) {
    if (!known(value))
      return refuse(op, "it combines by more than elementwise ops on its "
                        "arguments and constants");
    results.push_back(mapping.lookup(value));
  }
  return results;
}

Value reproducible::sliceOf(Ops &ops, Value value, int64_t dim, int64_t begin,
                            int64_t end, int64_t stride) {
  RankedTensorType type = Ops::typeOf(value);
  SmallVector<int64_t> begins(type.getRank(), 0), ends(type.getShape()),
      strides(type.getRank(), 1);
  begins[dim] = begin, ends[dim] = end, strides[dim] = stride;
  return SliceOp::create(ops.b, value, begins, ends, strides);
}

void reproducible::addSumBody(OperationState &state, Type element) {
  auto scalar = RankedTensorType::get({}, element);
  Block &body = state.addRegion()->emplaceBlock();
  Value x = body.addArgument(scalar, state.location),
        y = body.addArgument(scalar, state.location);
  OpBuilder inside(element.getContext());
  inside.setInsertionPointToEnd(&body);
  Value sum = AddOp::create(inside, state.location, scalar, x, y);
  ReturnOp::create(inside, state.location, sum);
}

//===- LoopAccesses.cpp - What a nest of loops touches --------------------===//
#include "../Nests/Nest.h"
#include "CutLoops.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "shardc/Analysis/ShardSizes.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/Strides.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu::loops;
using cpu::Quantity;
using cpu::rootOf;

/// Finds the offsets of `access`'s view in its root.
static void locate(Value memref, Access &access) {
  access.root = rootOf(memref);
  if (memref == access.root) {
    auto type = cast<MemRefType>(memref.getType());
    OpBuilder b(memref.getContext());
    for (int64_t size : type.getShape()) {
      access.offsets.push_back(b.getIndexAttr(0));
      access.sizes.push_back(ShapedType::isDynamic(size)
                                 ? OpFoldResult(memref)
                                 : b.getIndexAttr(size));
    }
    access.dropped.resize(type.getRank());
    return;
  }
  auto view = memref.getDefiningOp<memref::SubViewOp>();
  if (!view || view.getSource() != access.root ||
      !llvm::all_of(view.getMixedStrides(), [](OpFoldResult stride) {
        return isConstantIntValue(stride, 1);
      }))
    return;
  access.offsets = view.getMixedOffsets();
  access.sizes = view.getMixedSizes();
  access.dropped = view.getDroppedDims();
}

std::optional<int64_t> cpu::loops::mostBytes(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  int64_t bytes = elementBytes(type.getElementType());
  for (OpFoldResult size : alloc.getMixedSizes()) {
    std::optional<int64_t> most = getConstantIntValue(size);
    if (!most)
      most = factsOf(cast<Value>(size)).most;
    if (!most || *most < 0 || llvm::MulOverflow(bytes, *most, bytes))
      return std::nullopt;
  }
  return type.getLayout().isIdentity()
             ? std::optional<int64_t>(llvm::alignTo(bytes, 64))
             : std::nullopt;
}

std::optional<SmallVector<Access>>
cpu::loops::accessesIn(scf::ForOp nest,
                       SmallVectorImpl<memref::AllocOp> &buffers) {
  SmallVector<Access> found;
  auto element = [&](Operation *op, Value memref, ValueRange at, bool writes) {
    Access access;
    access.op = op;
    access.writes = writes;
    access.root = rootOf(memref);
    if (memref == access.root) {
      llvm::append_range(access.offsets, at);
      access.sizes.assign(at.size(), OpBuilder(op).getIndexAttr(1));
      access.dropped.resize(at.size());
    }
    found.push_back(access);
  };
  auto visit = [&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      element(op, load.getMemRef(), load.getIndices(), false);
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      element(op, store.getMemRef(), store.getIndices(), true);
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isa<MemRefType>(operand.get().getType()))
          continue;
        Access access;
        access.op = op;
        access.operand = &operand;
        access.writes = generic.isDpsInit(&operand);
        locate(operand.get(), access);
        found.push_back(access);
      }
    } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      if (!mostBytes(alloc))
        return WalkResult::interrupt();
      buffers.push_back(alloc);
    } else if (!isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op) &&
               !isMemoryEffectFree(op)) {
      return WalkResult::interrupt();
    }
    // A buffer under another name in each iteration is not followed.
    bool hasBuffers =
        isa<scf::ForOp, scf::IfOp>(op) &&
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<MemRefType>);
    return hasBuffers ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (nest.walk([&](Operation *op) { return visit(op); }).wasInterrupted())
    return std::nullopt;
  return found;
}

int64_t cpu::loops::strideBytes(Value root, unsigned dim) {
  auto type = cast<MemRefType>(root.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(getStridesAndOffset(type, strides, offset)) ||
      ShapedType::isDynamic(strides[dim]))
    return 0;
  return strides[dim] * elementBytes(type.getElementType());
}

bool cpu::loops::isFixedIn(Value value, scf::ForOp nest) {
  Operation *op = value.getDefiningOp();
  return getConstantIntValue(value) ||
         !nest->isAncestor(op ? op : value.getParentBlock()->getParentOp());
}

double cpu::loops::tripsOf(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
  int64_t to = Quantity::of(loop.getUpperBound()).guess();
  return std::max<int64_t>(to - from.value_or(0), 0);
}

//===- Effects.cpp - What ops touch, and whether their order matters ------===//
#include "Effects.h"
#include "Launch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

static Place placeOf(Value memref) {
  Value root = rootOfView(memref);
  return {memref, root, isOwnMemory(root)};
}

static bool mayOverlap(const Place &a, const Place &b) {
  if (a.root == b.root)
    return !areDisjoint(a.memref, b.memref);
  return !a.isOwn || !b.isOwn || areOneInPlace(a.root, b.root);
}

static bool overlap(ArrayRef<Place> some, ArrayRef<Place> others) {
  return llvm::any_of(some, [&](const Place &a) {
    return llvm::any_of(others,
                        [&](const Place &b) { return mayOverlap(a, b); });
  });
}

bool gpukernels::conflict(const Touched &a, const Touched &b) {
  if (a.isNone() || b.isNone())
    return false;
  return a.all || b.all || overlap(a.writes, b.writes) ||
         overlap(a.writes, b.reads) || overlap(a.reads, b.writes);
}

/// Adds what `op` touches, what is in it too.
static void note(Operation *op, Touched &touched, bool inKernel) {
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      note(&inner, touched, inKernel || isa<gpu::LaunchOp>(op));
  auto isBuffer = [](Value value) {
    return isa<BaseMemRefType>(value.getType());
  };
  auto add = [](SmallVectorImpl<Place> &places, Value memref) {
    // Shared memory is a block's own.
    auto argument = dyn_cast<BlockArgument>(rootOfView(memref));
    if (argument && isa<gpu::LaunchOp>(argument.getOwner()->getParentOp()))
      return;
    if (llvm::none_of(
            places, [&](const Place &place) { return place.memref == memref; }))
      places.push_back(placeOf(memref));
  };
  auto both = [&](Value memref) {
    add(touched.reads, memref);
    add(touched.writes, memref);
  };
  // Where an address goes nobody says.
  if (isa<memref::ExtractAlignedPointerAsIndexOp, UnrealizedConversionCastOp>(
          op)) {
    for (Value operand : op->getOperands())
      if (isBuffer(operand))
        both(operand);
    return;
  }
  if (isa<memref::AllocOp>(op) || isMemoryEffectFree(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return;
  if (isa<memref::LoadOp, memref::StoreOp, memref::CopyOp, vector::LoadOp,
          vector::StoreOp>(op)) {
    for (Value operand : op->getOperands())
      if (isBuffer(operand)) {
        bool isWritten = isa<memref::StoreOp, vector::StoreOp>(op) ||
                         (isa<memref::CopyOp>(op) &&
                          operand == cast<memref::CopyOp>(op).getTarget());
        add(isWritten ? touched.writes : touched.reads, operand);
      }
    return;
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    for (OpOperand &operand : generic->getOpOperands()) {
      if (!isBuffer(operand.get()))
        continue;
      bool isInit = generic.isDpsInit(&operand);
      if (!isInit || !generic.getMatchingBlockArgument(&operand).use_empty())
        add(touched.reads, operand.get());
      if (isInit)
        add(touched.writes, operand.get());
    }
    return;
  }
  // Sites touch what they are given; their order among themselves stays. In
  // kernels nothing is touched but what somebody names.
  if (inKernel || spmd::isSite(op) ||
      op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
      isa<gpu::LaunchOp>(op)) {
    for (Value operand : op->getOperands())
      if (isBuffer(operand))
        both(operand);
    return;
  }
  touched.all = true;
}

Touched gpukernels::touchedBy(Operation *op) {
  Touched touched;
  note(op, touched, /*inKernel=*/false);
  return touched;
}

//===- ExpandUnknownShapes.cpp - Several unknown sizes made of one --------===//
//
// MLIR 22 takes the metadata of a memref.expand_shape apart only where one size
// a group is unknown, and reads a null attribute where there are more.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_EXPANDUNKNOWNSHAPESPASS
#include "shardc/KernelGen/Passes.h.inc"

/// Does some dim of the source become dims of which more than one has no known
/// size?
static bool isAmbiguous(memref::ExpandShapeOp op) {
  MemRefType type = op.getResultType();
  return llvm::any_of(op.getReassociationIndices(),
                      [&](const ReassociationIndices &group) {
                        return llvm::count_if(group, [&](int64_t dim) {
                                 return type.isDynamicDim(dim);
                               }) > 1;
                      });
}

/// The same memory with the sizes that `op` is given; within a group the
/// innermost dim has the stride of the source's.
static void reinterpret(memref::ExpandShapeOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  MemRefType type = op.getResultType();
  auto [knownStrides, knownOffset] = type.getStridesAndOffset();
  auto known = [&](int64_t number, Value otherwise) -> OpFoldResult {
    return ShapedType::isDynamic(number) ? OpFoldResult(otherwise)
                                         : builder.getIndexAttr(number);
  };
  auto source =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getSrc());
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape(),
                            strides(type.getRank());
  for (auto [from, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value stride = source.getStrides()[from];
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = known(knownStrides[dim], stride);
      if (dim != group.front())
        stride = arith::MulIOp::create(
            builder, loc, stride,
            getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]));
    }
  }
  auto expanded = memref::ReinterpretCastOp::create(
      builder, loc, type, source.getBaseBuffer(),
      known(knownOffset, source.getOffset()), sizes, strides);
  op.replaceAllUsesWith(expanded.getResult());
  op.erase();
}

namespace {
struct ExpandUnknownShapesPass final
    : shardc::impl::ExpandUnknownShapesPassBase<ExpandUnknownShapesPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> ambiguous;
    getOperation()->walk([&](memref::ExpandShapeOp op) {
      if (isAmbiguous(op))
        ambiguous.push_back(op);
    });
    for (memref::ExpandShapeOp op : ambiguous)
      reinterpret(op);
  }
};
} // namespace
} // namespace shardc

//===- TensorMemoryBuilder.cpp - What kernels of sm_100a are written with -===//

#include "TensorMemory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// The address space of tensor memory. [format]
static constexpr unsigned kTensorSpace = 6;

Value TensorMemoryBuilder::pointerTo(Value address) {
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kTensorSpace),
      address);
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

void TensorMemoryBuilder::allocate(Value slot, int64_t columns) {
  NVVM::Tcgen05AllocOp::create(b, loc, slot, w.number(columns), group());
  NVVM::Tcgen05RelinquishAllocPermitOp::create(b, loc, group());
}

void TensorMemoryBuilder::release(Value address, int64_t columns) {
  NVVM::Tcgen05DeallocOp::create(b, loc, pointerTo(address), w.number(columns),
                                 group());
}

Value TensorMemoryBuilder::load(Value address, int64_t columns) {
  return NVVM::Tcgen05LdOp::create(
      b, loc, VectorType::get({columns}, b.getI32Type()), /*pack=*/false,
      NVVM::Tcgen05LdStShape::SHAPE_32X32B, pointerTo(address),
      /*offset=*/Value());
}

void TensorMemoryBuilder::waitForLoads() {
  NVVM::Tcgen05WaitOp::create(b, loc, NVVM::Tcgen05WaitKind::LOAD);
}

void TensorMemoryBuilder::store(Value address, ArrayRef<Value> words) {
  auto type =
      VectorType::get({static_cast<int64_t>(words.size())}, b.getI32Type());
  Value all = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, value] : llvm::enumerate(words)) {
    Value word = LLVM::BitcastOp::create(b, loc, b.getI32Type(), value);
    all = LLVM::InsertElementOp::create(b, loc, all, word,
                                        w.number(static_cast<int64_t>(i)));
  }
  NVVM::Tcgen05StOp::create(b, loc, /*unpack=*/false,
                            NVVM::Tcgen05LdStShape::SHAPE_32X32B,
                            pointerTo(address), all, /*offset=*/Value());
}

void TensorMemoryBuilder::waitForStores() {
  NVVM::Tcgen05WaitOp::create(b, loc, NVVM::Tcgen05WaitKind::STORE);
}

Value TensorMemoryBuilder::element(Value loaded, int64_t index) {
  Value word = LLVM::ExtractElementOp::create(b, loc, loaded, w.number(index));
  return LLVM::BitcastOp::create(b, loc, b.getF32Type(), word);
}

void TensorMemoryBuilder::fenceBefore() {
  NVVM::Tcgen05FenceOp::create(b, loc,
                               NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
}

void TensorMemoryBuilder::fenceAfter() {
  NVVM::Tcgen05FenceOp::create(b, loc,
                               NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
}

Value TensorMemoryBuilder::elect() {
  return NVVM::ElectSyncOp::create(b, loc, b.getI1Type(),
                                   /*membermask=*/Value());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value TensorMemoryBuilder::describe(Value tile, int64_t panelBytes) {
  // As for warpgroups, but for a bit that says which generation's it is.
  Value bits = w.describe(tile, panelBytes);
  Value version =
      arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(int64_t(1) << 46));
  return arith::OrIOp::create(b, loc, bits, version);
}

/// PTX, "Instruction descriptor": types, directions, columns and rows of a
/// product.
static int64_t instructionOf(Type element, int64_t rows, int64_t columns,
                             bool leftLines, bool rightLines) {
  constexpr int64_t sumsOfF32 = 1; // [format]
  int64_t kind = element.isF32() ? 2 : element.isBF16() ? 1 : 0;
  return sumsOfF32 << 4 | kind << 7 | kind << 10 | int64_t(leftLines) << 15 |
         int64_t(rightLines) << 16 | columns / 8 << 17 | rows / 16 << 24;
}

void TensorMemoryBuilder::multiply(Value address, Value left, Value right,
                                   Value adds, Type element, int64_t columns,
                                   bool leftLines, bool rightLines) {
  assert(!(element.isF32() && (leftLines || rightLines)) &&
         "matrices of tf32 stand along the depth");
  if (left.getType().isInteger(32))
    left = pointerTo(left);
  int64_t rows = (inPair ? 2 : 1) * kTensorRows;
  NVVM::Tcgen05MMAOp::create(
      b, loc,
      element.isF32() ? NVVM::Tcgen05MMAKind::TF32 : NVVM::Tcgen05MMAKind::F16,
      group(), NVVM::Tcgen05MMACollectorOp::DISCARD,
      /*aShift=*/false, pointerTo(address), left, right,
      w.number(instructionOf(element, rows, columns, leftLines, rightLines)),
      adds,
      /*scaleInputD=*/Value(), /*disableOutputLane=*/Value());
}

void TensorMemoryBuilder::commit(Value done) {
  Value both;
  if (inPair)
    both = arith::ConstantIntOp::create(b, loc, 3, 16);
  NVVM::Tcgen05CommitOp::create(b, loc, done, both, group());
}

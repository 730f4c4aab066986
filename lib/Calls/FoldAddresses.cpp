//===- FoldAddresses.cpp - Addresses from where they come -----------------===//
//
// The step of a long program is a line of calls that take addresses of parts of
// the arena and of the caller's arrays. Descriptors of all these buffers, which
// conversion to LLVM would make and the last passes split again, were half of
// the ops on the way.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "shardc/Calls/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_FOLDADDRESSESPASS
#include "shardc/Calls/Passes.h.inc"
} // namespace shardc

using namespace mlir;

/// The address that the descriptor `made` was given; null if that is not seen.
static Value alignedPointer(Value made) {
  // Descriptors: allocated pointer, aligned pointer, offset, sizes, strides.
  constexpr int64_t kAligned = 1;
  while (auto insert = made.getDefiningOp<LLVM::InsertValueOp>()) {
    if (insert.getPosition() == ArrayRef(kAligned))
      return insert.getValue();
    made = insert.getContainer();
  }
  return {};
}

namespace {
/// Knows each buffer's address once, where the buffer begins to be.
class Addresses {
public:
  explicit Addresses(MLIRContext *context)
      : builder(context), pointer(LLVM::LLVMPointerType::get(context)) {}

  /// Gives readers of `extract` the address.
  void fold(memref::ExtractAlignedPointerAsIndexOp extract) {
    Value from = pointerOf(extract.getSource());
    if (!from)
      return;
    for (Operation *user : llvm::make_early_inc_range(extract->getUsers())) {
      auto cast = dyn_cast<arith::IndexCastOp>(user);
      if (!cast || !cast.getType().isInteger(64))
        continue;
      for (Operation *reader : llvm::make_early_inc_range(cast->getUsers()))
        if (auto made = dyn_cast<LLVM::IntToPtrOp>(reader);
            made && made.getType() == pointer) {
          made.replaceAllUsesWith(from);
          made.erase();
        }
      if (cast.use_empty())
        cast.erase();
    }
    if (!extract.use_empty())
      extract.replaceAllUsesWith(numberOf(from));
    extract.erase();
  }

private:
  /// Null where `buffer` itself has to say it.
  Value pointerOf(Value buffer) {
    auto [it, isNew] = pointers.try_emplace(buffer);
    if (!isNew)
      return it->second;
    Value found;
    Operation *op = buffer.getDefiningOp();
    // All but a view have the address of what they show part of; where in it
    // they begin is the descriptor's offset.
    if (isa_and_nonnull<memref::CastOp, memref::SubViewOp,
                        memref::ExpandShapeOp, memref::CollapseShapeOp,
                        memref::ReinterpretCastOp>(op))
      found = pointerOf(op->getOperand(0));
    else if (auto view = dyn_cast_or_null<memref::ViewOp>(op))
      found = pointerIn(view);
    else if (auto cast = dyn_cast_or_null<UnrealizedConversionCastOp>(op);
             cast && cast->getNumOperands() == 1)
      found = alignedPointer(cast.getOperand(0));
    if (found && found.getType() != pointer)
      found = {};
    return pointers[buffer] = found;
  }

  Value pointerIn(memref::ViewOp view) {
    Value base = pointerOf(view.getSource());
    if (!base)
      return {};
    builder.setInsertionPoint(view);
    Location loc = view.getLoc();
    Value bytes = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                             view.getByteShift());
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{bytes});
  }

  Value numberOf(Value from) {
    Value &number = numbers[from];
    if (number)
      return number;
    builder.setInsertionPointAfterValue(from);
    Value bits = LLVM::PtrToIntOp::create(builder, from.getLoc(),
                                          builder.getI64Type(), from);
    return number = arith::IndexCastOp::create(builder, from.getLoc(),
                                               builder.getIndexType(), bits);
  }

  OpBuilder builder;
  LLVM::LLVMPointerType pointer;
  DenseMap<Value, Value> pointers, numbers;
};

struct FoldAddressesPass final
    : shardc::impl::FoldAddressesPassBase<FoldAddressesPass> {
  using Base::Base;
  void runOnOperation() override {
    Addresses addresses(&getContext());
    SmallVector<memref::ExtractAlignedPointerAsIndexOp> extracts;
    getOperation().walk([&](memref::ExtractAlignedPointerAsIndexOp op) {
      extracts.push_back(op);
    });
    for (auto extract : extracts)
      addresses.fold(extract);
    // Buffers that were there for their addresses alone.
    for (Block &block : getOperation().getBody())
      for (Operation &op :
           llvm::make_early_inc_range(llvm::reverse(block.getOperations())))
        if (isOpTriviallyDead(&op))
          op.erase();
  }
};
} // namespace

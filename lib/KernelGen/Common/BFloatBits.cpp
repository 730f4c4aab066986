//===- BFloatBits.cpp - bf16 as words of 16 bits --------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_BFLOATBITSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

/// `type`, with words for elements of bf16.
static Type asBits(Type type) {
  Type word = IntegerType::get(type.getContext(), 16);
  if (type.isBF16())
    return word;
  if (auto vector = dyn_cast<VectorType>(type);
      vector && vector.getElementType().isBF16())
    return vector.clone(word);
  return type;
}

/// True if `op` treats values as bits, whatever their types.
static bool movesBits(Operation &op) {
  return isa<LLVM::BitcastOp, LLVM::BrOp, LLVM::CondBrOp,
             LLVM::ExtractElementOp, LLVM::FreezeOp, LLVM::InsertElementOp,
             LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::MaskedStoreOp,
             LLVM::PoisonOp, LLVM::SelectOp, LLVM::ShuffleVectorOp,
             LLVM::StoreOp, LLVM::SwitchOp, LLVM::UndefOp, LLVM::ZeroOp,
             LLVM::masked_compressstore, LLVM::masked_expandload,
             LLVM::masked_gather, LLVM::masked_scatter, LLVM::vector_extract,
             LLVM::vector_insert>(op);
}

/// Makes a constant of bf16 one of words. False if it is of another form.
static bool makeWords(LLVM::ConstantOp constant) {
  Attribute value = constant.getValue();
  Type word = IntegerType::get(constant.getContext(), 16);
  if (auto number = dyn_cast<FloatAttr>(value))
    constant.setValueAttr(
        IntegerAttr::get(word, number.getValue().bitcastToAPInt()));
  else if (auto numbers = dyn_cast<DenseElementsAttr>(value))
    constant.setValueAttr(numbers.bitcast(word));
  else
    return false;
  return true;
}

/// `value` of bf16 as f32, which has all of its numbers: its bits, moved up.
static Value widen(OpBuilder &b, Location loc, Value value) {
  auto shaped = [&](Type element) -> Type {
    auto vector = dyn_cast<VectorType>(value.getType());
    return vector ? vector.clone(element) : element;
  };
  Type word = shaped(b.getI32Type());
  Value bits = LLVM::BitcastOp::create(b, loc, asBits(value.getType()), value);
  Attribute sixteen = b.getI32IntegerAttr(16);
  if (auto vector = dyn_cast<VectorType>(word))
    sixteen = DenseElementsAttr::get(vector, sixteen);
  bits = LLVM::ZExtOp::create(b, loc, word, bits);
  bits = LLVM::ShlOp::create(
      b, loc, bits,
      LLVM::ConstantOp::create(b, loc, word, cast<TypedAttr>(sixteen)));
  return LLVM::BitcastOp::create(b, loc, shaped(b.getF32Type()), bits);
}

/// Lets what only reads numbers of bf16 read f32.
static void widenReads(LLVM::LLVMFuncOp function) {
  SmallVector<Operation *> reads;
  function.walk([&](Operation *op) {
    if (isa<LLVM::FCmpOp, LLVM::FPExtOp, LLVM::FPToSIOp, LLVM::FPToUIOp>(op) &&
        asBits(op->getOperand(0).getType()) != op->getOperand(0).getType())
      reads.push_back(op);
  });
  for (Operation *op : reads) {
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(widen(b, op->getLoc(), operand.get()));
    if (isa<LLVM::FPExtOp>(op) &&
        op->getOperand(0).getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  }
}

/// Makes words of what moves bf16 in `function`.
static void moveWords(LLVM::LLVMFuncOp function) {
  widenReads(function);
  // What computes with numbers of bf16 keeps its types.
  SmallVector<std::pair<OpOperand *, Type>> numbers;
  SmallVector<Value> given, moved;
  SmallVector<Operation *> casts;
  function.walk([&](Operation *op) {
    if (op == function)
      return;
    bool isBits = movesBits(*op);
    for (OpOperand &operand : op->getOpOperands())
      if (Type type = operand.get().getType(); !isBits && asBits(type) != type)
        numbers.push_back({&operand, type});
    auto constant = dyn_cast<LLVM::ConstantOp>(op);
    for (OpResult result : op->getResults())
      if (asBits(result.getType()) != result.getType())
        (isBits || (constant && makeWords(constant)) ? moved : given)
            .push_back(result);
    if (isa<LLVM::BitcastOp>(op))
      casts.push_back(op);
  });
  for (Value value : moved)
    value.setType(asBits(value.getType()));
  for (Block &block : function.getBody())
    for (BlockArgument argument : block.getArguments())
      if (Type bits = asBits(argument.getType()); !block.isEntryBlock())
        argument.setType(bits);
      else if (bits != argument.getType())
        given.push_back(argument);
  for (Value value : given) {
    OpBuilder b(value.getContext());
    b.setInsertionPointAfterValue(value);
    Value bits = LLVM::BitcastOp::create(b, value.getLoc(),
                                         asBits(value.getType()), value);
    value.replaceAllUsesExcept(bits, bits.getDefiningOp());
  }
  for (auto [operand, type] : numbers) {
    OpBuilder b(operand->getOwner());
    operand->set(LLVM::BitcastOp::create(b, operand->getOwner()->getLoc(), type,
                                         operand->get()));
  }
  for (Operation *cast : casts)
    if (cast->getOperand(0).getType() == cast->getResult(0).getType()) {
      cast->getResult(0).replaceAllUsesWith(cast->getOperand(0));
      cast->erase();
    }
}

namespace {
struct BFloatBitsPass final : shardc::impl::BFloatBitsPassBase<BFloatBitsPass> {
  using Base::Base;
  void runOnOperation() override {
    getOperation()->walk([](LLVM::LLVMFuncOp function) {
      moveWords(function);
      return WalkResult::skip();
    });
  }
};
} // namespace

//===- CallLibraries.cpp - kernel.library_call to a runtime call
//------------===//
#include "CallLibraries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "shardc/Analysis/SiteTables.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Support/UserLocation.h"
#include "shardrt/LibraryCall.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// The words of one operand, whose dims are grouped as `groups` say.
static LogicalResult appendOperand(OpBuilder &builder, LibraryCallOp op,
                                   Value operand,
                                   ArrayRef<SmallVector<int64_t>> groups,
                                   SmallVectorImpl<Value> &words) {
  Location loc = op.getLoc();
  Type i64 = builder.getI64Type();
  auto word = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(builder, loc, number, 64);
  };
  auto type = dyn_cast<MemRefType>(operand.getType());
  std::optional<shardrt::ElementType> element =
      type ? elementTypeOf(type.getElementType()) : std::nullopt;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!element || failed(type.getStridesAndOffset(strides, offset)))
    return op.emitOpError()
           << "has an operand of type " << operand.getType()
           << ", expected a strided buffer of elements that the runtime knows";
  memref::ExtractStridedMetadataOp metadata;
  auto piece = [&](int64_t known, auto computed) -> Value {
    if (ShapedType::isStatic(known))
      return word(known);
    if (!metadata)
      metadata =
          memref::ExtractStridedMetadataOp::create(builder, loc, operand);
    return arith::IndexCastOp::create(builder, loc, i64, computed());
  };
  words.push_back(LLVM::PtrToIntOp::create(builder, loc, i64,
                                           pointerTo(builder, loc, operand)));
  words.push_back(word(static_cast<int64_t>(*element)));
  words.push_back(word(groups.size()));
  SmallVector<Value> sizes, steps;
  for (ArrayRef<int64_t> group : groups) {
    Value size = word(1);
    for (int64_t dim : group) {
      Value extent =
          piece(type.getDimSize(dim), [&] { return metadata.getSizes()[dim]; });
      size = arith::MulIOp::create(builder, loc, size, extent);
    }
    sizes.push_back(size);
    steps.push_back(group.empty() ? word(1) : piece(strides[group.back()], [&] {
      return metadata.getStrides()[group.back()];
    }));
  }
  sizes.resize(SHARDRT_CALL_DIMS, word(1));
  steps.resize(SHARDRT_CALL_DIMS, word(1));
  words.append(sizes);
  words.append(steps);
  words.push_back(word(0));
  return success();
}

static LogicalResult lowerLibraryCall(LibraryCallOp op, Value context,
                                      EntryPoints &entries) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type i64 = builder.getI64Type();
  auto word = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(builder, loc, number, 64);
  };
  SmallVector<Value> operands = op.getShapedOperands();
  int64_t wish = op.getRequired()  ? SHARDRT_CALL_REQUIRED
                 : op.getTcgen05() ? SHARDRT_CALL_ON_TCGEN05
                                   : SHARDRT_CALL_IF_THERE;
  int64_t epilogue =
      op.getEpilogueCode() | (op.getTf32() ? SHARDRT_CALL_TF32 : 0);
  SmallVector<Value> words{word(wish), word(op.getKindCode()), word(epilogue),
                           word(operands.size())};
  for (int64_t number : op.getNumbers())
    words.push_back(word(number));
  for (Value number : op.getAt())
    words.push_back(arith::IndexCastOp::create(builder, loc, i64, number));
  words.resize(SHARDRT_CALL_HEAD, word(0));
  for (auto [number, operand] : llvm::enumerate(operands))
    if (failed(
            appendOperand(builder, op, operand, op.getGroups(number), words)))
      return failure();
  Value area = storeWords(builder, op, words);
  Value location = textConstant(builder, loc, op->getParentOfType<ModuleOp>(),
                                userLocation(loc));
  entries.call(builder, loc, "shardrt_call_library", {context, area, location});
  Value done = LLVM::LoadOp::create(builder, loc, i64, area);
  op.getDone().replaceAllUsesWith(arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ne, done, word(0)));
  op.erase();
  return success();
}

LogicalResult shardc::lowerLibraryCalls(func::FuncOp step, Value context,
                                        EntryPoints &entries) {
  SmallVector<LibraryCallOp> calls;
  step.walk([&](LibraryCallOp op) { calls.push_back(op); });
  for (LibraryCallOp op : calls)
    if (failed(lowerLibraryCall(op, context, entries)))
      return failure();
  return success();
}

//===- EmulateAsync.cpp - What tensor cores and TMA do, on the host -------===//
//
// Ops that go on while the threads that began them do something else: copies by
// TMA and the mbarriers that count them, products of warpgroups, and tensor
// memory.
//
//===----------------------------------------------------------------------===//
#include "EmulateNvvm.h"
#include "Warpgroups.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "shardrt/Emulated.h"
#include "shardrt/TensorMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;

bool shardc::isFragmentProduct(Operation *op) {
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  return assembly &&
         assembly.getAsmString().starts_with(gpukernels::kFragmentProductName);
}

void Emulation::findSums(LLVM::LLVMFuncOp kernel) {
  sumTypes.clear();
  sumOps.clear();
  loadedWords.clear();
  kernel.walk([&](Operation *op) {
    if (isa<NVVM::WgmmaMmaAsyncOp>(op) || isFragmentProduct(op))
      sumTypes.insert(op->getResult(0).getType());
  });
  if (sumTypes.empty())
    return;
  kernel.walk([&](Operation *op) {
    if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
      if (sumTypes.contains(extract.getContainer().getType()))
        sumOps.insert(op);
    } else if (op->getNumResults() == 1 &&
               sumTypes.contains(op->getResult(0).getType())) {
      sumOps.insert(op);
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (sumTypes.contains(argument.getType()))
            argument.setType(i64);
  });
}

/// Threads of the kernel have to run in an order that these ops make.
static void flagOrdered(Emulation::Traits &traits) {
  traits.flags |= SHARDRT_EMULATED_BARRIERS | SHARDRT_EMULATED_ORDERED;
}

LogicalResult Emulation::callOrdered(Rewrite &at, StringRef name, Type result,
                                     ValueRange arguments) {
  flagOrdered(at.traits);
  LLVM::CallOp made = callHost(at.b, at.loc, name, result, arguments);
  if (at.op->getNumResults() == 1 && result)
    at.op->getResult(0).replaceAllUsesWith(made.getResult());
  if (!at.op->use_empty())
    return at.op->emitOpError()
           << "has a result that the emulator does not know";
  return erase(at);
}

std::optional<LogicalResult> Emulation::rewriteBulkCopy(Rewrite &at) {
  auto &[op, b, loc, traits] = at;
  if (auto init = dyn_cast<NVVM::MBarrierInitOp>(op)) {
    if (init.getPredicate())
      return unknown(at, "no predicate");
    return callOrdered(
        at, "shardrt_emulated_mbarrier_init", {},
        {thread, init.getAddr(), init.getCount(), where(b, loc)});
  }
  if (auto arrive = dyn_cast<NVVM::MBarrierArriveOp>(op)) {
    if (arrive.getCount() || arrive.getRelaxed())
      return unknown(at, "one arrival, that is not relaxed");
    return callOrdered(
        at, "shardrt_emulated_mbarrier_arrive", {},
        {thread, arrive.getAddr(), constant(b, loc, i32, 0), where(b, loc)});
  }
  if (auto arrive = dyn_cast<NVVM::MBarrierArriveExpectTxOp>(op)) {
    if (arrive.getPredicate() || arrive.getRelaxed())
      return unknown(at, "no predicate, and not relaxed");
    return callOrdered(
        at, "shardrt_emulated_mbarrier_arrive", {},
        {thread, arrive.getAddr(), arrive.getTxcount(), where(b, loc)});
  }
  if (auto wait = dyn_cast<NVVM::MBarrierTryWaitOp>(op)) {
    if (wait.getStateOrPhase().getType() != i32 || wait.getRelaxed())
      return unknown(at, "a parity, and not relaxed");
    flagOrdered(traits);
    Value done = callHost(b, loc, "shardrt_emulated_mbarrier_wait", i32,
                          {thread, wait.getAddr(), wait.getStateOrPhase(),
                           where(b, loc)})
                     .getResult();
    return replace(at, LLVM::TruncOp::create(b, loc, b.getI1Type(), done));
  }
  if (isa<NVVM::FenceMbarrierInitOp, NVVM::FenceProxyOp>(op))
    return callOrdered(at, "shardrt_emulated_async_fence", {}, thread);
  if (auto copy =
          dyn_cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op)) {
    std::optional<NVVM::CTAGroupKind> group = copy.getGroup();
    bool inPair = group == NVVM::CTAGroupKind::CTA_2;
    bool isOfWindows = copy.getMode() == NVVM::TMALoadMode::IM2COL;
    APInt blocks(16, 0);
    if (copy.getPredicate() ||
        (copy.getMulticastMask() &&
         !matchPattern(copy.getMulticastMask(), m_ConstantInt(&blocks))) ||
        (copy.getMode() != NVVM::TMALoadMode::TILE && !isOfWindows))
      return unknown(
          at, "a box or windows, for blocks that are known, without predicate");
    for (auto [i, index] : llvm::enumerate(copy.getCoordinates()))
      LLVM::StoreOp::create(b, loc, index, scratchAt(b, loc, i));
    int64_t rank = copy.getCoordinates().size();
    for (auto [i, offset] : llvm::enumerate(copy.getIm2colOffsets()))
      LLVM::StoreOp::create(b, loc, LLVM::ZExtOp::create(b, loc, i32, offset),
                            scratchAt(b, loc, rank + i));
    return callOrdered(at, "shardrt_emulated_tma_copy", {},
                       {thread, copy.getDstMem(), copy.getTmaDescriptor(),
                        copy.getMbar(), scratch, constant(b, loc, i32, rank),
                        constant(b, loc, i32,
                                 (check ? SHARDRT_TMA_CHECK : 0) |
                                     (inPair ? SHARDRT_TMA_PAIR : 0) |
                                     (isOfWindows ? SHARDRT_TMA_WINDOWS : 0) |
                                     SHARDRT_TMA_BLOCKS(blocks.getZExtValue())),
                        where(b, loc)});
  }
  return std::nullopt;
}

std::optional<LogicalResult> Emulation::rewriteWarpgroup(Rewrite &at) {
  auto &[op, b, loc, traits] = at;
  if (auto product = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op)) {
    NVVM::MMAShapeAttr shape = product.getShape();
    bool isBF16 = product.getTypeA() == NVVM::WGMMATypes::bf16;
    bool isTF32 = product.getTypeA() == NVVM::WGMMATypes::tf32;
    auto isE5M2 = [](NVVM::WGMMATypes type) {
      return type == NVVM::WGMMATypes::e5m2;
    };
    auto hasEightBits = [&](NVVM::WGMMATypes type) {
      return type == NVVM::WGMMATypes::e4m3 || isE5M2(type);
    };
    bool isNarrow = hasEightBits(product.getTypeA());
    bool begins = product.getScaleD() == NVVM::WGMMAScaleOut::zero;
    if ((!isBF16 && !isTF32 && !isNarrow &&
         product.getTypeA() != NVVM::WGMMATypes::f16) ||
        (isNarrow ? !hasEightBits(product.getTypeB())
                  : product.getTypeA() != product.getTypeB()) ||
        product.getTypeD() != NVVM::WGMMATypes::f32 || shape.getM() != 64 ||
        shape.getK() != (isTF32     ? 8
                         : isNarrow ? 32
                                    : 16) ||
        product.getScaleA() != NVVM::WGMMAScaleIn::one ||
        product.getScaleB() != NVVM::WGMMAScaleIn::one)
      return unknown(at,
                     "m64nNk16 of f16 or bf16, m64nNk8 of tf32, or m64nNk32 of "
                     "e4m3 and e5m2, added to f32 sums");
    int64_t config =
        shape.getN() | (isBF16 ? SHARDRT_PRODUCT_BF16 : 0) |
        (isTF32 ? SHARDRT_PRODUCT_TF32 : 0) |
        (isNarrow ? SHARDRT_PRODUCT_F8 : 0) |
        (isE5M2(product.getTypeA()) ? SHARDRT_PRODUCT_LEFT_E5M2 : 0) |
        (isE5M2(product.getTypeB()) ? SHARDRT_PRODUCT_RIGHT_E5M2 : 0) |
        (check ? SHARDRT_PRODUCT_CHECK : 0);
    if (product.getLayoutA() == NVVM::MMALayout::col)
      config |= SHARDRT_PRODUCT_LEFT_LINES;
    if (product.getLayoutB() == NVVM::MMALayout::row)
      config |= SHARDRT_PRODUCT_RIGHT_LINES;
    return callOrdered(
        at, "shardrt_emulated_product", i64,
        {thread, product.getDescriptorA(), product.getDescriptorB(),
         begins ? constant(b, loc, i64, 0) : product.getInouts(),
         constant(b, loc, i32, config), place(at), where(b, loc)});
  }
  if (isFragmentProduct(op)) {
    StringRef name = cast<LLVM::InlineAsmOp>(op).getAsmString();
    name.consume_front(gpukernels::kFragmentProductName);
    int64_t columns = 0;
    bool isBF16 = name.ends_with(".bf16.bf16");
    if (name.consumeInteger(10, columns) ||
        name != (isBF16 ? "k16.f32.bf16.bf16" : "k16.f32.f16.f16") ||
        op->getNumOperands() != 6)
      return unknown(at, "m64nNk16 of f16 or bf16 added to f32 sums");
    for (int64_t word = 0; word < 4; ++word)
      LLVM::StoreOp::create(b, loc, op->getOperand(1 + word),
                            scratchAt(b, loc, 4 + word));
    int64_t config = columns | SHARDRT_PRODUCT_RIGHT_LINES |
                     (isBF16 ? SHARDRT_PRODUCT_BF16 : 0) |
                     (check ? SHARDRT_PRODUCT_CHECK : 0);
    return callOrdered(at, "shardrt_emulated_product_of_registers", i64,
                       {thread, scratchAt(b, loc, 4), op->getOperand(5),
                        op->getOperand(0), constant(b, loc, i32, config),
                        place(at), where(b, loc)});
  }
  if (isa<NVVM::WgmmaFenceAlignedOp>(op))
    return callOrdered(at, "shardrt_emulated_product_fence", {}, thread);
  if (isa<NVVM::WgmmaGroupSyncAlignedOp>(op))
    return callOrdered(at, "shardrt_emulated_product_commit", {}, thread);
  if (auto wait = dyn_cast<NVVM::WgmmaWaitGroupSyncOp>(op))
    return callOrdered(at, "shardrt_emulated_product_wait", {},
                       {thread, constant(b, loc, i64, wait.getGroup())});
  if (isa<NVVM::SetMaxRegisterOp>(op))
    return erase(at);
  return std::nullopt;
}

std::optional<LogicalResult> Emulation::rewriteSums(Rewrite &at) {
  auto &[op, b, loc, traits] = at;
  if (!sumOps.contains(op))
    return std::nullopt;
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op))
    return callOrdered(at, "shardrt_emulated_sum", op->getResult(0).getType(),
                       {thread, extract.getContainer(),
                        constant(b, loc, i32, extract.getPosition().front()),
                        where(b, loc)});
  if (auto insert = dyn_cast<LLVM::InsertValueOp>(op)) {
    // Done in place: nobody else may have the sums before.
    Operation *before = insert.getContainer().getDefiningOp();
    bool isFirst = before && matchPattern(before, m_Constant());
    if (!isFirst && !insert.getContainer().hasOneUse())
      return unknown(at, "sums that are put together in one place");
    int64_t count =
        cast<LLVM::LLVMStructType>(op->getResult(0).getType()).getBody().size();
    return callOrdered(at, "shardrt_emulated_set_sum", i64,
                       {thread, insert.getContainer(),
                        constant(b, loc, i32, insert.getPosition().front()),
                        constant(b, loc, i32, count), insert.getValue(),
                        where(b, loc)});
  }
  if (isa<LLVM::ZeroOp, LLVM::PoisonOp>(op))
    return replace(at, constant(b, loc, i64, 0));
  return unknown(at, "sums that come of zeros, numbers and products alone");
}

std::optional<LogicalResult> Emulation::rewriteTensor(Rewrite &at) {
  auto &[op, b, loc, traits] = at;
  auto number = [&](int64_t value) {
    return constant(at.b, at.loc, i32, value);
  };
  auto isPair = [](NVVM::CTAGroupKind group) {
    return group == NVVM::CTAGroupKind::CTA_2;
  };
  if (auto alloc = dyn_cast<NVVM::Tcgen05AllocOp>(op))
    return callOrdered(at, "shardrt_emulated_tensor_alloc", {},
                       {thread, alloc.getAddr(), alloc.getNCols(),
                        number(isPair(alloc.getGroup())), place(at),
                        where(b, loc)});
  if (auto dealloc = dyn_cast<NVVM::Tcgen05DeallocOp>(op))
    return callOrdered(at, "shardrt_emulated_tensor_dealloc", {},
                       {thread, dealloc.getTaddr(), dealloc.getNCols(),
                        number(isPair(dealloc.getGroup())), place(at),
                        where(b, loc)});
  if (isa<NVVM::Tcgen05RelinquishAllocPermitOp>(op))
    return callOrdered(at, "shardrt_emulated_tensor_relinquish", {},
                       {thread, place(at), where(b, loc)});
  if (auto fence = dyn_cast<NVVM::Tcgen05FenceOp>(op))
    return callOrdered(
        at, "shardrt_emulated_tensor_fence", {},
        {thread,
         number(fence.getKind() == NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC)});
  if (auto wait = dyn_cast<NVVM::Tcgen05WaitOp>(op))
    return callOrdered(at, "shardrt_emulated_tensor_wait", {},
                       {thread,
                        number(wait.getKind() == NVVM::Tcgen05WaitKind::STORE),
                        place(at), where(b, loc)});
  if (auto commit = dyn_cast<NVVM::Tcgen05CommitOp>(op)) {
    Value blocks = commit.getMulticastMask();
    if (isPair(commit.getGroup()) != static_cast<bool>(blocks))
      return unknown(at, "an mbarrier of this block, or those of a pair");
    blocks = blocks ? LLVM::ZExtOp::create(b, loc, i32, blocks).getResult()
                    : number(0);
    return callOrdered(at, "shardrt_emulated_tensor_commit", {},
                       {thread, commit.getAddr(), blocks, where(b, loc)});
  }
  if (auto product = dyn_cast<NVVM::Tcgen05MMAOp>(op)) {
    bool isTF32 = product.getKind() == NVVM::Tcgen05MMAKind::TF32;
    if ((!isTF32 && product.getKind() != NVVM::Tcgen05MMAKind::F16) ||
        product.getScaleInputD() || product.getDisableOutputLane() ||
        product.getAShift())
      return unknown(at, "kind::f16 or kind::tf32 of two matrices");
    Value left = product.getMatrixA();
    bool leftIsHere = left.getType() != i64;
    if (leftIsHere)
      left = LLVM::PtrToIntOp::create(b, loc, i64, left);
    Value adds = LLVM::ZExtOp::create(b, loc, i32, product.getEnableInputD());
    return callOrdered(
        at, "shardrt_emulated_tensor_product", {},
        {thread, product.getMatrixD(), left, product.getMatrixB(),
         product.getIdesc(), adds,
         number((leftIsHere ? SHARDRT_TENSOR_LEFT : 0) |
                (isTF32 ? SHARDRT_TENSOR_TF32 : 0) |
                (isPair(product.getCtaGroup()) ? SHARDRT_TENSOR_PAIR : 0) |
                (check ? SHARDRT_TENSOR_CHECK : 0)),
         where(b, loc)});
  }
  if (auto load = dyn_cast<NVVM::Tcgen05LdOp>(op)) {
    auto words = dyn_cast<VectorType>(load.getType());
    if (load.getShape() != NVVM::Tcgen05LdStShape::SHAPE_32X32B || !words ||
        load.getPack())
      return unknown(at, "several words of 32x32b");
    for (Operation *user : load->getUsers()) {
      auto read = dyn_cast<LLVM::ExtractElementOp>(user);
      if (!read)
        return unknown(at, "words that are read one by one");
      loadedWords.insert(read);
    }
    flagOrdered(traits);
    Value handle =
        callHost(b, loc, "shardrt_emulated_tensor_load", i64,
                 {thread, load.getTmemAddr(), number(words.getNumElements()),
                  place(at), where(b, loc)})
            .getResult();
    return replace(at, handle);
  }
  if (auto store = dyn_cast<NVVM::Tcgen05StOp>(op)) {
    auto words = dyn_cast<VectorType>(store.getVal().getType());
    if (store.getShape() != NVVM::Tcgen05LdStShape::SHAPE_32X32B || !words ||
        store.getUnpack())
      return unknown(at, "several words of 32x32b");
    LLVM::StoreOp::create(b, loc, store.getVal(), scratch, /*alignment=*/4);
    return callOrdered(at, "shardrt_emulated_tensor_store", {},
                       {thread, store.getTmemAddr(), scratch,
                        number(words.getNumElements()), place(at),
                        where(b, loc)});
  }
  if (!loadedWords.contains(op))
    return std::nullopt;
  Value word =
      callHost(b, loc, "shardrt_emulated_tensor_word", i32,
               {thread, op->getOperand(0), op->getOperand(1), where(b, loc)})
          .getResult();
  return replace(at, word);
}

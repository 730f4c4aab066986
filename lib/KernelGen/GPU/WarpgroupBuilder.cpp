//===- WarpgroupBuilder.cpp - What kernels of sm_90a are written with -----===//

#include "Warpgroups.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/KernelGen/GPU.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// The address space of a cluster's shared memory. [format]
static constexpr unsigned kClusterSpace = 7;

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

void WarpgroupBuilder::init(Value barrier, int64_t arrivals) {
  NVVM::MBarrierInitOp::create(b, loc, barrier, number(arrivals), Value());
}

void WarpgroupBuilder::fenceInit() {
  NVVM::FenceMbarrierInitOp::create(b, loc);
}

void WarpgroupBuilder::arrive(Value barrier) {
  NVVM::MBarrierArriveOp::create(b, loc, Type(), barrier, Value());
}

Value WarpgroupBuilder::inBlock(Value address, int64_t rank) {
  return NVVM::MapaOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kClusterSpace),
      address, number(rank));
}

void WarpgroupBuilder::arriveThere(Value barrier) {
  NVVM::MBarrierArriveOp::create(b, loc, Type(), barrier, Value(),
                                 NVVM::MemScopeKind::CLUSTER);
}

void WarpgroupBuilder::clusterBarrier() {
  NVVM::ClusterArriveOp::create(b, loc, b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, loc, b.getUnitAttr());
}

void WarpgroupBuilder::arriveExpecting(Value barrier, int64_t bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(b, loc, Type(), barrier, number(bytes),
                                         NVVM::MemScopeKind::CTA,
                                         /*relaxed=*/false,
                                         /*predicate=*/Value());
}

void WarpgroupBuilder::wait(Value barrier, Value parity) {
  // MLIR's own loop around this ends in bra.uni, which lanes need not take
  // together.
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value done = NVVM::MBarrierTryWaitOp::create(b, loc, b.getI1Type(), barrier,
                                               parity, Value());
  Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
  scf::ConditionOp::create(b, loc, arith::XOrIOp::create(b, loc, done, yes),
                           ValueRange());
  b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b, loc);
}

Value WarpgroupBuilder::describeTensor(Value memref,
                                       ArrayRef<SmallVector<int64_t>> dims,
                                       ArrayRef<int64_t> box) {
  SmallVector<Attribute> groups;
  for (ArrayRef<int64_t> group : dims)
    groups.push_back(b.getDenseI64ArrayAttr(group));
  auto cast = UnrealizedConversionCastOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), memref);
  spmd::contract::TensorMap::set(cast, b.getArrayAttr(groups));
  spmd::contract::TensorBox::set(cast, b.getDenseI64ArrayAttr(box));
  return cast.getResult(0);
}

Value WarpgroupBuilder::describeWindows(Value memref, int64_t channels,
                                        int64_t pixels,
                                        ArrayRef<WindowRange> ranges) {
  SmallVector<SmallVector<int64_t>> dims;
  for (int64_t i = cast<MemRefType>(memref.getType()).getRank(); i-- > 0;)
    dims.push_back({i});
  SmallVector<int64_t> box = {channels, pixels};
  for (const WindowRange &range : ranges)
    box.append({range.low, range.high, range.step});
  return describeTensor(memref, dims, box);
}

void WarpgroupBuilder::loadBox(Value to, Value map, ArrayRef<Value> begin,
                               Value full, bool inPair, ArrayRef<Value> offsets,
                               int64_t blocks) {
  SmallVector<Value> words;
  for (Value index : begin)
    words.push_back(
        arith::IndexCastOp::create(b, loc, b.getI32Type(), index).getResult());
  // A block's own memory is part of its cluster's, at the same address.
  auto inSpace = [&](Value pointer, unsigned space) -> Value {
    Value address = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), pointer);
    return LLVM::IntToPtrOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), space), address);
  };
  to = inSpace(to, kClusterSpace);
  SmallVector<Value> moves;
  for (Value offset : offsets)
    moves.push_back(
        arith::IndexCastOp::create(b, loc, b.getI16Type(), offset).getResult());
  NVVM::CTAGroupKindAttr group;
  if (inPair) {
    // The instruction takes either; the op, a pointer to the block's own.
    full = inSpace(full, /*space=*/3);
    group =
        NVVM::CTAGroupKindAttr::get(b.getContext(), NVVM::CTAGroupKind::CTA_2);
  }
  Value mask;
  if (blocks)
    mask = arith::ConstantIntOp::create(b, loc, blocks, 16);
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      b, loc, to, map, words, full, moves, mask,
      /*l2CacheHint=*/Value(),
      moves.empty() ? NVVM::TMALoadMode::TILE : NVVM::TMALoadMode::IM2COL,
      /*isCTAOnly=*/false, group,
      /*predicate=*/Value());
}

void WarpgroupBuilder::fenceStores() {
  NVVM::FenceProxyOp::create(
      b, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

std::pair<Value, Value> WarpgroupBuilder::advance(Value stage, Value parity,
                                                  int64_t stages) {
  Value next = add(stage, index(1));
  Value wraps = equal(next, index(stages));
  Value flipped = bitXor(parity, number(1));
  return {choose(wraps, index(0), next), choose(wraps, flipped, parity)};
}

Value WarpgroupBuilder::sameInWarp(Value value) {
  Value word = arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
  Value first =
      gpu::ShuffleOp::create(b, loc, word, 0, kWarp, gpu::ShuffleMode::IDX)
          .getShuffleResult();
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), first);
}

void WarpgroupBuilder::setRegisters(int64_t count, bool more) {
  NVVM::SetMaxRegisterOp::create(b, loc, count,
                                 more ? NVVM::SetMaxRegisterAction::increase
                                      : NVVM::SetMaxRegisterAction::decrease);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

Value WarpgroupBuilder::placeInPanels(Value row, Value byte, int64_t rows) {
  Value inRow = rem(byte, kRow);
  Value piece = bitXor(div(inRow, 16), rem(row, 8));
  Value begin = add(mul(div(byte, kRow), rows * kRow), mul(row, kRow));
  return add(begin, add(mul(piece, 16), rem(inRow, 16)));
}

Value WarpgroupBuilder::describe(Value tile, int64_t panelBytes) {
  // Eight rows are 1024 bytes. Where the depth runs, the first distance is not
  // looked at.
  int64_t leading = panelBytes ? panelBytes : 16;
  uint64_t bits = uint64_t(1) << 62 | uint64_t(kBlockBytes / 16) << 32 |
                  uint64_t(leading / 16) << 16;
  auto constant = [&](uint64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(static_cast<int64_t>(value)));
  };
  Value address = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), tile);
  address = arith::AndIOp::create(b, loc, address, constant(0x3ffff));
  address = arith::ShRUIOp::create(b, loc, address, constant(4));
  return arith::OrIOp::create(b, loc, address, constant(bits));
}

Value WarpgroupBuilder::moved(Value descriptor, int64_t bytes) {
  Value by = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(bytes / 16));
  return arith::AddIOp::create(b, loc, descriptor, by);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Type WarpgroupBuilder::sumType(int64_t columns) {
  return LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(columns / 2, b.getF32Type()));
}

Value WarpgroupBuilder::zeros(int64_t columns) {
  return LLVM::ZeroOp::create(b, loc, sumType(columns));
}

Value WarpgroupBuilder::sumsOf(ArrayRef<Value> values) {
  Value sums = LLVM::PoisonOp::create(b, loc, sumType(2 * values.size()));
  for (auto [i, value] : llvm::enumerate(values))
    sums =
        LLVM::InsertValueOp::create(b, loc, sums, value, ArrayRef<int64_t>(i));
  return sums;
}

SmallVector<Value> WarpgroupBuilder::valuesOf(Value sums) {
  SmallVector<Value> values;
  size_t count = cast<LLVM::LLVMStructType>(sums.getType()).getBody().size();
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
    values.push_back(
        LLVM::ExtractValueOp::create(b, loc, sums, ArrayRef<int64_t>(i)));
  return values;
}

void WarpgroupBuilder::fence() { NVVM::WgmmaFenceAlignedOp::create(b, loc); }

static NVVM::WGMMATypes kindOf(Type element) {
  if (element.isF32())
    return NVVM::WGMMATypes::tf32;
  if (isa<Float8E4M3FNType>(element))
    return NVVM::WGMMATypes::e4m3;
  if (isa<Float8E5M2Type>(element))
    return NVVM::WGMMATypes::e5m2;
  return element.isBF16() ? NVVM::WGMMATypes::bf16 : NVVM::WGMMATypes::f16;
}

Value WarpgroupBuilder::multiply(Value sums, Value left, Value right,
                                 Type leftElement, Type rightElement,
                                 int64_t columns, bool leftLines,
                                 bool rightLines) {
  int64_t bits = leftElement.getIntOrFloatBitWidth();
  assert((bits == 16 || !(leftLines || rightLines)) &&
         "matrices stand along the depth but for those of 16 bits");
  bool begins = !sums;
  if (begins)
    sums = LLVM::PoisonOp::create(b, loc, sumType(columns));
  return NVVM::WgmmaMmaAsyncOp::create(
      b, loc, sums.getType(), sums, left, right,
      NVVM::MMAShapeAttr::get(b.getContext(), kGroupRows, columns, 256 / bits),
      kindOf(leftElement), kindOf(rightElement), NVVM::WGMMATypes::f32,
      begins ? NVVM::WGMMAScaleOut::zero : NVVM::WGMMAScaleOut::one,
      NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
      leftLines ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      rightLines ? NVVM::MMALayout::row : NVVM::MMALayout::col,
      NVVM::MMAIntOverflowAttr());
}

Value WarpgroupBuilder::multiplyFragments(Value sums, ArrayRef<Value> left,
                                          Value right, Type element,
                                          int64_t columns) {
  // NVVM has no op for it. What it is in PTX is said by expandFragmentProducts;
  // the emulator reads its name.
  std::string name = (kFragmentProductName + Twine(columns) + "k16.f32." +
                      (element.isBF16() ? "bf16.bf16" : "f16.f16"))
                         .str();
  SmallVector<Value> operands = {sums};
  llvm::append_range(operands, left);
  operands.push_back(right);
  return LLVM::InlineAsmOp::create(
             b, loc, sums.getType(), operands, name, /*constraints=*/"",
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::tailcallkind::TailCallKind::None,
             /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getResult(0);
}

void WarpgroupBuilder::commit() {
  NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
}

void WarpgroupBuilder::waitForProducts(int64_t left) {
  NVVM::WgmmaWaitGroupSyncOp::create(b, loc, left);
}

//===----------------------------------------------------------------------===//
// Products of fragments, in PTX
//===----------------------------------------------------------------------===//

static void expand(LLVM::InlineAsmOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type type = op.getType(0);
  int64_t count = cast<LLVM::LLVMStructType>(type).getBody().size();
  // Sums are outputs and, in the same registers, inputs.
  SmallVector<Value> operands;
  std::string constraints, sums;
  llvm::raw_string_ostream constraint(constraints), sum(sums);
  for (int64_t i = 0; i < count; ++i) {
    constraint << (i ? "," : "") << "=f";
    sum << (i ? ", $" : "$") << i;
    operands.push_back(LLVM::ExtractValueOp::create(b, loc, op.getOperand(0),
                                                    ArrayRef<int64_t>(i)));
  }
  for (int64_t i = 0; i < count; ++i)
    constraint << "," << i;
  llvm::append_range(operands, op.getOperands().drop_front());
  constraint << ",r,r,r,r,l";
  std::string left;
  llvm::raw_string_ostream word(left);
  for (int64_t i = 0; i < 4; ++i)
    word << (i ? ", $" : "$") << 2 * count + i;
  std::string text;
  llvm::raw_string_ostream(text)
      << "{ .reg .pred p; setp.ne.b32 p, 1, 0; " << op.getAsmString() << " {"
      << sums << "}, {" << left << "}, $" << 2 * count + 4 << ", p, 1, 1, 1; }";
  auto made = LLVM::InlineAsmOp::create(
      b, loc, type, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
  op.replaceAllUsesWith(made);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Loads of tensor memory
//===----------------------------------------------------------------------===//

/// Lets what `wait` waits for depend on it: an intrinsic's result could be used
/// at once. Registers pass through assembly without instructions, behind it.
static void tieLoads(NVVM::Tcgen05WaitOp wait) {
  if (wait.getKind() != NVVM::Tcgen05WaitKind::LOAD)
    return;
  OpBuilder b(wait->getContext());
  b.setInsertionPointAfter(wait);
  for (Operation *op = wait->getPrevNode(); op; op = op->getPrevNode()) {
    if (isa<NVVM::Tcgen05WaitOp>(op))
      break;
    auto load = dyn_cast<NVVM::Tcgen05LdOp>(op);
    if (!load)
      continue;
    auto type = dyn_cast<VectorType>(load.getType());
    if (!type)
      continue;
    Location loc = load.getLoc();
    SmallVector<LLVM::ExtractElementOp> reads;
    for (Operation *user : load->getUsers())
      if (auto read = dyn_cast<LLVM::ExtractElementOp>(user))
        reads.push_back(read);
    std::string constraints;
    llvm::raw_string_ostream out(constraints);
    SmallVector<Value> words;
    int64_t count = type.getNumElements();
    for (int64_t i = 0; i < count; ++i) {
      out << (i ? ",=r" : "=r");
      Value place = LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                             b.getI32IntegerAttr(i));
      words.push_back(LLVM::ExtractElementOp::create(b, loc, load, place));
    }
    for (int64_t i = 0; i < count; ++i)
      out << "," << i;
    Type all = LLVM::LLVMStructType::getLiteral(
        b.getContext(), SmallVector<Type>(count, b.getI32Type()));
    Value tied = LLVM::InlineAsmOp::create(
                     b, loc, all, words, /*asm_string=*/"", constraints,
                     /*has_side_effects=*/true, /*is_align_stack=*/false,
                     LLVM::tailcallkind::TailCallKind::None,
                     /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
                     .getResult(0);
    for (LLVM::ExtractElementOp read : reads) {
      APInt place;
      if (!matchPattern(read.getPosition(), m_ConstantInt(&place)))
        continue;
      OpBuilder at(read);
      read.replaceAllUsesWith(
          LLVM::ExtractValueOp::create(at, loc, tied,
                                       ArrayRef<int64_t>(place.getSExtValue()))
              .getResult());
      read.erase();
    }
  }
}

namespace shardc {
#define GEN_PASS_DEF_EXPANDFRAGMENTPRODUCTSPASS
#include "shardc/KernelGen/GpuPasses.h.inc"

namespace {
struct ExpandFragmentProductsPass final
    : shardc::impl::ExpandFragmentProductsPassBase<ExpandFragmentProductsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<LLVM::InlineAsmOp> products;
    getOperation().walk([&](LLVM::InlineAsmOp op) {
      if (op.getAsmString().starts_with(kFragmentProductName))
        products.push_back(op);
    });
    for (LLVM::InlineAsmOp op : products)
      expand(op);
    SmallVector<NVVM::Tcgen05WaitOp> waits;
    getOperation().walk([&](NVVM::Tcgen05WaitOp op) { waits.push_back(op); });
    llvm::for_each(waits, tieLoads);
  }
};
} // namespace
} // namespace shardc

//===- EmulateNvvm.cpp - Kernels in the NVVM dialect as host functions ----===//
//
// One call of such a function is one CUDA thread. The emulator of the runtime
// (shardrt/Emulated.h) calls it for all threads of a grid, on fibers where they
// meet.
//
//===----------------------------------------------------------------------===//
#include "EmulateNvvm.h"
#include "Effects.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "shardc/Support/UserLocation.h"
#include "shardrt/Emulated.h"
#include "shardrt/TensorMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_EMULATENVVMPASS
#include "shardc/KernelGen/GpuPasses.h.inc"

Value Emulation::where(OpBuilder &b, Location loc) {
  std::string text = userLocation(loc);
  if (text == "unknown")
    return LLVM::ZeroOp::create(b, loc, ptr);
  std::string &name = lines[text];
  if (name.empty()) {
    name = ("__shardc_line_" + Twine(lines.size())).str();
    OpBuilder top(module.getBodyRegion());
    std::string zeroEnded = text;
    zeroEnded.push_back('\0');
    LLVM::GlobalOp::create(
        top, loc, LLVM::LLVMArrayType::get(b.getI8Type(), zeroEnded.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        b.getStringAttr(zeroEnded));
  }
  return LLVM::AddressOfOp::create(b, loc, ptr, name);
}

LLVM::CallOp Emulation::callHost(OpBuilder &b, Location loc, StringRef name,
                                 Type result, ValueRange arguments) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder top = OpBuilder::atBlockEnd(module.getBody());
    SmallVector<Type> types(arguments.getTypes());
    for (Type &type : types)
      if (isa<LLVM::LLVMPointerType>(type))
        type = ptr;
    Type returned =
        result ? result : LLVM::LLVMVoidType::get(module.getContext());
    function =
        LLVM::LLVMFuncOp::create(top, module.getLoc(), name,
                                 LLVM::LLVMFunctionType::get(returned, types));
  }
  return LLVM::CallOp::create(b, loc, function, arguments);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Names of libdevice that libm has under the rest of the name.
static bool isInLibm(StringRef name) {
  static const llvm::StringSet<> both = {
      "acos",  "acosh", "asin", "asinh", "atan", "atan2",   "atanh",
      "cbrt",  "ceil",  "cos",  "cosh",  "erf",  "erfc",    "exp",
      "exp2",  "expm1", "fabs", "floor", "fmod", "log",     "log10",
      "log1p", "log2",  "pow",  "round", "rint", "sin",     "sinh",
      "sqrt",  "tan",   "tanh", "trunc", "fma",  "copysign"};
  if (both.contains(name))
    return true;
  return name.consume_back("f") && both.contains(name);
}

LogicalResult Emulation::rewriteCall(LLVM::CallOp call) {
  std::optional<StringRef> callee = call.getCallee();
  StringRef name = callee.value_or("");
  if (!name.consume_front("__nv_") || !isInLibm(name))
    return call.emitOpError()
           << "calls '" << callee.value_or("a pointer")
           << "', which the emulator does not know; expected a function of "
              "libdevice that libm has as well";
  OpBuilder b(call);
  auto host = callHost(b, call.getLoc(), name, call.getResult().getType(),
                       call.getArgOperands());
  call.replaceAllUsesWith(host);
  call.erase();
  return success();
}

static bool isLocal(Value address) {
  while (Operation *op = address.getDefiningOp()) {
    if (isa<LLVM::AllocaOp>(op))
      return true;
    if (auto gep = dyn_cast<LLVM::GEPOp>(op))
      address = gep.getBase();
    else
      return false;
  }
  return false;
}

LogicalResult Emulation::rewriteAccess(Operation *op, OpOperand &address,
                                       Type type, int64_t access) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  unsigned space =
      cast<LLVM::LLVMPointerType>(address.get().getType()).getAddressSpace();
  int64_t bytes = layout.getTypeSize(type).getFixedValue();
  if (space == 3) {
    if (check)
      callHost(b, loc, "shardrt_emulated_shared", {},
               {thread, address.get(), constant(b, loc, i64, bytes),
                constant(b, loc, i32, access != SHARDRT_EMULATED_READ),
                where(b, loc)});
    return success();
  }
  if (space > 1)
    return op->emitOpError() << "is on memory space " << space
                             << ", which the emulator does not know";
  if (isLocal(address.get()))
    return success();
  if (check) {
    address.set(callHost(b, loc, "shardrt_emulated_global", ptr,
                         {thread, address.get(), constant(b, loc, i64, bytes),
                          constant(b, loc, i32, access), where(b, loc)})
                    .getResult());
    return success();
  }
  Value bits = LLVM::PtrToIntOp::create(b, loc, i64, address.get());
  Value host = LLVM::XOrOp::create(b, loc, bits,
                                   constant(b, loc, i64, SHARDRT_EMULATED_TAG));
  address.set(LLVM::IntToPtrOp::create(b, loc, ptr, host));
  return success();
}

LogicalResult Emulation::rewriteFlag(Operation *op, OpOperand &flag, Type type,
                                     LLVM::AtomicOrdering ordering,
                                     Traits &traits) {
  bool isLoad = isa<LLVM::LoadOp>(op);
  unsigned space =
      cast<LLVM::LLVMPointerType>(flag.get().getType()).getAddressSpace();
  if (type != i32 || space > 1 ||
      (ordering != LLVM::AtomicOrdering::monotonic &&
       (isLoad || ordering != LLVM::AtomicOrdering::release)))
    return op->emitOpError()
           << "is not known to the emulator; expected a flag of 32 bits in "
              "device memory that is read relaxed, or set with release";
  OpBuilder b(op);
  Location loc = op->getLoc();
  traits.flags |= SHARDRT_EMULATED_BARRIERS | SHARDRT_EMULATED_FLAGS;
  if (isLoad)
    callHost(b, loc, "shardrt_emulated_poll", {},
             {thread, flag.get(), constant(b, loc, i32, check), where(b, loc)});
  else if (ordering == LLVM::AtomicOrdering::release)
    callHost(b, loc, "shardrt_emulated_publish", {}, {thread, flag.get()});
  return rewriteAccess(op, flag, type, SHARDRT_EMULATED_ATOMIC);
}

using Thread = shardrt_emulated_thread;

std::optional<LogicalResult> Emulation::rewriteIdentifier(Rewrite &at) {
  Operation *op = at.op;
  auto identifier = [&](size_t base, int64_t dim) {
    return replace(at, field(at.b, at.loc, base + 4 * dim, i32));
  };
  size_t tid = offsetof(Thread, thread), bid = offsetof(Thread, block);
  size_t ntid = offsetof(Thread, block_dim),
         nctaid = offsetof(Thread, grid_dim);
#define SHARDC_IDENTIFIER(OP, BASE, DIM)                                       \
  if (isa<NVVM::OP>(op))                                                       \
    return identifier(BASE, DIM);
  SHARDC_IDENTIFIER(ThreadIdXOp, tid, 0)
  SHARDC_IDENTIFIER(ThreadIdYOp, tid, 1)
  SHARDC_IDENTIFIER(ThreadIdZOp, tid, 2)
  SHARDC_IDENTIFIER(BlockIdXOp, bid, 0)
  SHARDC_IDENTIFIER(BlockIdYOp, bid, 1)
  SHARDC_IDENTIFIER(BlockIdZOp, bid, 2)
  SHARDC_IDENTIFIER(BlockDimXOp, ntid, 0)
  SHARDC_IDENTIFIER(BlockDimYOp, ntid, 1)
  SHARDC_IDENTIFIER(BlockDimZOp, ntid, 2)
  SHARDC_IDENTIFIER(GridDimXOp, nctaid, 0)
  SHARDC_IDENTIFIER(GridDimYOp, nctaid, 1)
  SHARDC_IDENTIFIER(GridDimZOp, nctaid, 2)
#undef SHARDC_IDENTIFIER
  return std::nullopt;
}

std::optional<LogicalResult> Emulation::rewriteBarrier(Rewrite &at) {
  auto &[op, b, loc, traits] = at;
  if (auto barrier = dyn_cast<NVVM::BarrierOp>(op);
      isa<NVVM::Barrier0Op>(op) ||
      (barrier && !barrier->getNumOperands() && !barrier->getNumResults())) {
    traits.flags |= SHARDRT_EMULATED_BARRIERS;
    callHost(b, loc, "shardrt_emulated_barrier", {},
             {thread, place(at), where(b, loc)});
    return erase(at);
  }
  // Both halves, side by side.
  if (isa<NVVM::ClusterArriveOp>(op) &&
      isa_and_present<NVVM::ClusterWaitOp>(op->getNextNode()))
    return erase(at);
  if (isa<NVVM::ClusterWaitOp>(op)) {
    traits.flags |= SHARDRT_EMULATED_BARRIERS;
    callHost(b, loc, "shardrt_emulated_cluster_barrier", {},
             {thread, place(at), where(b, loc)});
    return erase(at);
  }
  if (auto sync = dyn_cast<NVVM::SyncWarpOp>(op)) {
    traits.flags |= SHARDRT_EMULATED_BARRIERS;
    callHost(b, loc, "shardrt_emulated_warp_barrier", {},
             {thread, sync.getMask(), place(at), where(b, loc)});
    return erase(at);
  }
  return std::nullopt;
}

std::optional<LogicalResult> Emulation::rewriteLanes(Rewrite &at) {
  auto &[op, b, loc, traits] = at;
  if (auto map = dyn_cast<NVVM::MapaOp>(op)) {
    Value there = callHost(b, loc, "shardrt_emulated_map_shared", ptr,
                           {thread, map.getA(), map.getB(), where(b, loc)})
                      .getResult();
    return replace(at, there);
  }
  if (auto shuffle = dyn_cast<NVVM::ShflOp>(op)) {
    traits.flags |= SHARDRT_EMULATED_BARRIERS;
    Type type = shuffle.getVal().getType();
    Value value = shuffle.getVal();
    if (type != i32)
      value = LLVM::BitcastOp::create(b, loc, i32, value);
    int64_t kind =
        shuffle.getKind() == NVVM::ShflKind::idx    ? SHARDRT_SHUFFLE_IDX
        : shuffle.getKind() == NVVM::ShflKind::up   ? SHARDRT_SHUFFLE_UP
        : shuffle.getKind() == NVVM::ShflKind::down ? SHARDRT_SHUFFLE_DOWN
                                                    : SHARDRT_SHUFFLE_BFLY;
    Value both =
        callHost(b, loc, "shardrt_emulated_shuffle", i64,
                 {thread, shuffle.getThreadMask(), value, shuffle.getOffset(),
                  shuffle.getMaskAndClamp(), constant(b, loc, i32, kind),
                  place(at), where(b, loc)})
            .getResult();
    Value got = LLVM::TruncOp::create(b, loc, i32, both);
    if (type != i32)
      got = LLVM::BitcastOp::create(b, loc, type, got);
    auto both32 = dyn_cast<LLVM::LLVMStructType>(op->getResult(0).getType());
    if (!both32)
      return replace(at, got);
    Value high = LLVM::LShrOp::create(b, loc, both, constant(b, loc, i64, 32));
    Value valid = LLVM::TruncOp::create(b, loc, b.getI1Type(), high);
    Value pair = LLVM::PoisonOp::create(b, loc, both32);
    pair = LLVM::InsertValueOp::create(b, loc, pair, got, ArrayRef<int64_t>{0});
    return replace(at, LLVM::InsertValueOp::create(b, loc, pair, valid,
                                                   ArrayRef<int64_t>{1}));
  }
  if (auto elect = dyn_cast<NVVM::ElectSyncOp>(op)) {
    traits.flags |= SHARDRT_EMULATED_BARRIERS;
    if (elect.getMembermask())
      return unknown(at, "all lanes of a warp");
    Value elected = callHost(b, loc, "shardrt_emulated_elect", i32,
                             {thread, place(at), where(b, loc)})
                        .getResult();
    return replace(at, LLVM::TruncOp::create(b, loc, b.getI1Type(), elected));
  }
  if (auto vote = dyn_cast<NVVM::VoteSyncOp>(op)) {
    traits.flags |= SHARDRT_EMULATED_BARRIERS;
    int64_t kind =
        vote.getKind() == NVVM::VoteSyncKind::any   ? SHARDRT_VOTE_ANY
        : vote.getKind() == NVVM::VoteSyncKind::all ? SHARDRT_VOTE_ALL
        : vote.getKind() == NVVM::VoteSyncKind::uni ? SHARDRT_VOTE_UNI
                                                    : SHARDRT_VOTE_BALLOT;
    Value value = LLVM::ZExtOp::create(b, loc, i32, vote.getPred());
    Value result =
        callHost(b, loc, "shardrt_emulated_vote", i32,
                 {thread, vote.getMask(), value, constant(b, loc, i32, kind),
                  place(at), where(b, loc)})
            .getResult();
    if (Type type = vote.getType(); type != i32)
      result = LLVM::TruncOp::create(b, loc, type, result);
    return replace(at, result);
  }
  return std::nullopt;
}

std::optional<LogicalResult> Emulation::rewriteFragments(Rewrite &at) {
  auto &[op, b, loc, traits] = at;
  if (auto load = dyn_cast<NVVM::LdMatrixOp>(op)) {
    traits.flags |= SHARDRT_EMULATED_BARRIERS;
    if (load.getEltType() != NVVM::LdStMatrixEltType::B16)
      return op->emitOpError() << "loads elements that the emulator does not "
                                  "know; expected b16";
    int64_t count = load.getNum();
    callHost(b, loc, "shardrt_emulated_ldmatrix", {},
             {thread, load.getPtr(), constant(b, loc, i32, count),
              constant(b, loc, i32, load.getLayout() == NVVM::MMALayout::col),
              scratch, place(at), where(b, loc)});
    if (count == 1)
      return replace(at, LLVM::LoadOp::create(b, loc, i32, scratch));
    return replace(at, readWords(b, loc, op->getResult(0).getType(), count));
  }
  if (auto product = dyn_cast<NVVM::MmaOp>(op)) {
    traits.flags |= SHARDRT_EMULATED_BARRIERS;
    std::optional<NVVM::MMATypes> type = product.getMultiplicandAPtxType();
    NVVM::MMAShapeAttr shape = product.getShape();
    bool isF16 = type == NVVM::MMATypes::f16;
    bool isTF32 = type == NVVM::MMATypes::tf32;
    bool isF64 = type == NVVM::MMATypes::f64;
    std::array<size_t, 3> numbers{product.getOperandA().size(),
                                  product.getOperandB().size(),
                                  product.getOperandC().size()};
    std::array<int, 3> sizes{shape.getM(), shape.getN(), shape.getK()};
    bool isKnown = isF64 ? sizes == std::array{8, 8, 4} &&
                               numbers == std::array<size_t, 3>{1, 1, 2}
                         : (isF16 || isTF32 || type == NVVM::MMATypes::bf16) &&
                               sizes == std::array{16, 8, isTF32 ? 8 : 16} &&
                               numbers == std::array<size_t, 3>{4, 2, 4} &&
                               product.getOperandC()[0].getType().isF32();
    if (!isKnown)
      return unknown(at, "m16n8k16 of f16 or bf16, or m16n8k8 of tf32, with "
                         "f32 sums, or m8n8k4 of f64");
    auto store = [&](ValueRange all, int64_t word) {
      for (auto [i, value] : llvm::enumerate(all))
        LLVM::StoreOp::create(b, loc, value,
                              scratchAt(b, loc, word + (isF64 ? 2 : 1) * i), 4);
    };
    store(product.getOperandA(), 4);
    store(product.getOperandB(), 8);
    store(product.getOperandC(), 10);
    callHost(b, loc, "shardrt_emulated_mma", {},
             {thread,
              constant(b, loc, i32,
                       isF16    ? SHARDRT_MMA_F16
                       : isTF32 ? SHARDRT_MMA_TF32
                       : isF64  ? SHARDRT_MMA_F64
                                : SHARDRT_MMA_BF16),
              scratchAt(b, loc, 4), scratch, place(at), where(b, loc)});
    return replace(at, readWords(b, loc, op->getResult(0).getType(),
                                 product.getOperandC().size()));
  }
  if (auto round = dyn_cast<NVVM::ConvertFloatToTF32Op>(op)) {
    if (round.getRnd() != NVVM::FPRoundingMode::RNA ||
        round.getSat() != NVVM::SaturationMode::NONE || round.getRelu())
      return unknown(at, "rounding to nearest, ties away from zero");
    return replace(
        at, callHost(b, loc, "shardrt_emulated_tf32", i32, round.getSrc())
                .getResult());
  }
  return std::nullopt;
}

std::optional<LogicalResult> Emulation::rewriteCopy(Rewrite &at) {
  auto &[op, b, loc, traits] = at;
  if (auto copy = dyn_cast<NVVM::CpAsyncOp>(op)) {
    Value size = constant(b, loc, i32, copy.getSize());
    callHost(b, loc, "shardrt_emulated_copy", {},
             {thread, copy.getDst(), copy.getSrc(), size,
              copy.getCpSize() ? copy.getCpSize() : size,
              constant(b, loc, i32, check), where(b, loc)});
    return erase(at);
  }
  if (isa<NVVM::CpAsyncCommitGroupOp>(op)) {
    callHost(b, loc, "shardrt_emulated_copy_commit", {}, thread);
    return erase(at);
  }
  if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op)) {
    callHost(b, loc, "shardrt_emulated_copy_wait", {},
             {thread, constant(b, loc, i32, wait.getN())});
    return erase(at);
  }
  return std::nullopt;
}

std::optional<LogicalResult> Emulation::rewriteMemory(Rewrite &at) {
  auto &[op, b, loc, traits] = at;
  constexpr auto none = LLVM::AtomicOrdering::not_atomic;
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    if (load.getOrdering() != none)
      return rewriteFlag(op, load.getAddrMutable(), load.getType(),
                         load.getOrdering(), traits);
    return rewriteAccess(op, load.getAddrMutable(), load.getType(),
                         SHARDRT_EMULATED_READ);
  }
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    Type type = store.getValue().getType();
    if (store.getOrdering() != none)
      return rewriteFlag(op, store.getAddrMutable(), type, store.getOrdering(),
                         traits);
    return rewriteAccess(op, store.getAddrMutable(), type,
                         SHARDRT_EMULATED_WRITE);
  }
  if (isa<LLVM::FenceOp>(op)) {
    traits.flags |= SHARDRT_EMULATED_BARRIERS | SHARDRT_EMULATED_FLAGS;
    callHost(b, loc, "shardrt_emulated_acquire", {}, thread);
    return erase(at);
  }
  if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op))
    return rewriteAccess(op, atomic.getPtrMutable(), atomic.getVal().getType(),
                         SHARDRT_EMULATED_ATOMIC);
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
    auto found = shared.find(address.getGlobalName());
    assert(found != shared.end() && "placed before");
    traits.flags |= SHARDRT_EMULATED_BARRIERS;
    traits.sharedBytes = sharedBytes;
    Value base = field(b, loc, offsetof(Thread, shared), ptr);
    return replace(
        at, LLVM::GEPOp::create(
                b, loc, ptr, b.getI8Type(), base,
                ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(found->second)}));
  }
  return std::nullopt;
}

LogicalResult Emulation::rewrite(Operation *op, Traits &traits) {
  using Family = std::optional<LogicalResult> (Emulation::*)(Rewrite &);
  static constexpr Family families[] = {
      &Emulation::rewriteIdentifier, &Emulation::rewriteBarrier,
      &Emulation::rewriteLanes,      &Emulation::rewriteFragments,
      &Emulation::rewriteCopy,       &Emulation::rewriteTensor,
      &Emulation::rewriteBulkCopy,   &Emulation::rewriteWarpgroup,
      &Emulation::rewriteSums,       &Emulation::rewriteMemory};
  Rewrite at{op, OpBuilder(op), op->getLoc(), traits};
  for (Family family : families)
    if (std::optional<LogicalResult> done = (this->*family)(at))
      return *done;
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    return rewriteCall(call);
  // Nothing in it: it is there for LLVM alone.
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
      assembly &&
      assembly.getAsmString().starts_with(gpukernels::kEmptyAssembly))
    return erase(at);
  if (isa<LLVM::AddrSpaceCastOp, LLVM::AtomicCmpXchgOp, LLVM::MemcpyOp,
          LLVM::MemsetOp, LLVM::InlineAsmOp>(op) ||
      isa<NVVM::NVVMDialect>(op->getDialect()))
    return op->emitOpError() << "is not known to the emulator";
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult Emulation::emulate(LLVM::LLVMFuncOp kernel, LLVM::LLVMFuncOp copy,
                                 Traits &traits) {
  // An access that is refused stops its thread there.
  if (check)
    traits.flags |= SHARDRT_EMULATED_BARRIERS | SHARDRT_EMULATED_CHECKED;
  if (spmd::contract::Paired::has(kernel))
    traits.flags |= SHARDRT_EMULATED_PAIRS;
  MLIRContext *ctx = module.getContext();
  copy.setSymName(("__shardc_kernel_" + kernel.getName()).str());
  SmallVector<StringAttr> foreign;
  for (NamedAttribute attr : copy->getDiscardableAttrs())
    foreign.push_back(attr.getName());
  for (StringAttr name : foreign)
    copy->removeDiscardableAttr(name);
  copy.setLinkage(LLVM::Linkage::Internal);
  copy.setCConv(LLVM::CConv::C);

  Block &entry = copy.getBody().front();
  Location loc = copy.getLoc();
  unsigned count = entry.getNumArguments();
  thread = entry.insertArgument(0u, ptr, loc);
  Value packed = entry.insertArgument(1u, ptr, loc);
  OpBuilder b(&entry, entry.begin());
  // Maps of tensors come first; the kernel is given their addresses.
  int64_t maps = 0;
  if (IntegerAttr number = spmd::contract::TensorMaps::get(kernel))
    maps = number.getInt();
  for (unsigned i = 0; i < count; ++i) {
    int64_t word =
        i < maps ? i * SHARDRT_MAP_WORDS : i + maps * (SHARDRT_MAP_WORDS - 1);
    Value slot =
        LLVM::GEPOp::create(b, loc, ptr, i64, packed,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(word)});
    BlockArgument argument = entry.getArgument(2 + i);
    if (i < maps) {
      argument.replaceAllUsesWith(slot);
      continue;
    }
    // Found again below: these loads are the host's own.
    auto load = LLVM::LoadOp::create(b, loc, argument.getType(), slot);
    argument.replaceAllUsesWith(load);
  }
  int64_t scratchWords = 14;
  copy.walk([&](NVVM::Tcgen05StOp store) {
    int64_t bytes = layout.getTypeSize(store.getVal().getType());
    scratchWords = std::max(scratchWords, bytes / 4);
  });
  scratch = LLVM::AllocaOp::create(b, loc, ptr, i32,
                                   constant(b, loc, i64, scratchWords));
  Operation *firstOwn = &*b.getInsertionPoint();
  entry.eraseArguments(2, count);
  copy.setFunctionType(
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(ctx), {ptr, ptr}));
  copy.removeArgAttrsAttr();

  findSums(copy);
  if (failed(placeShared(copy)))
    return failure();
  SmallVector<Operation *> ops;
  bool own = false;
  copy.walk<WalkOrder::PreOrder>([&](Operation *op) {
    own |= op == firstOwn;
    if (own && op != copy)
      ops.push_back(op);
  });
  // Fragments of matrices make long functions, whose time goes into the
  // emulator's calls: not worth the host's optimiser.
  if (llvm::any_of(ops, [](Operation *op) {
        return isa<NVVM::MmaOp, NVVM::WgmmaMmaAsyncOp, NVVM::Tcgen05LdOp>(op) ||
               isFragmentProduct(op);
      })) {
    copy.setOptimizeNone(true);
    copy.setNoInline(true);
  }
  for (Operation *op : ops)
    if (failed(rewrite(op, traits)))
      return failure();

  // One memory on the host.
  AttrTypeReplacer spaces;
  spaces.addReplacement(
      [&](LLVM::LLVMPointerType type) -> std::optional<Type> { return ptr; });
  spaces.recursivelyReplaceElementsIn(copy, /*replaceAttrs=*/true,
                                      /*replaceLocs=*/false,
                                      /*replaceTypes=*/true);
  return success();
}

/// Gives each variable of the blocks' memory that `kernel` names an offset.
LogicalResult Emulation::placeShared(LLVM::LLVMFuncOp kernel) {
  shared.clear();
  sharedBytes = 0;
  WalkResult done = kernel.walk([&](LLVM::AddressOfOp address) {
    auto global = kernels.lookupSymbol<LLVM::GlobalOp>(address.getGlobalName());
    if (!global) {
      address.emitOpError() << "names memory that is not a block's own; the "
                               "emulator knows no other globals";
      return WalkResult::interrupt();
    }
    auto [place, isNew] = shared.try_emplace(address.getGlobalName(), 0);
    if (!isNew)
      return WalkResult::advance();
    int64_t alignment =
        std::max<uint64_t>(global.getAlignment().value_or(16),
                           layout.getTypeABIAlignment(global.getGlobalType()));
    sharedBytes = llvm::alignTo(sharedBytes, alignment);
    place->second = sharedBytes;
    sharedBytes += layout.getTypeSize(global.getGlobalType()).getFixedValue();
    return WalkResult::advance();
  });
  return failure(done.wasInterrupted());
}

void Emulation::writeTables(ArrayRef<LLVM::LLVMFuncOp> functions,
                            ArrayRef<Traits> traits) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  SmallVector<int64_t> words;
  for (const Traits &trait : traits)
    words.append({trait.sharedBytes, trait.flags});
  if (words.empty())
    words.push_back(0);
  int64_t count = words.size();
  LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(i64, count), /*isConstant=*/true,
      LLVM::Linkage::External, "shardc_kernel_traits",
      DenseElementsAttr::get(RankedTensorType::get({count}, i64),
                             ArrayRef<int64_t>(words)));
  auto type =
      LLVM::LLVMArrayType::get(ptr, std::max<size_t>(functions.size(), 1));
  auto table = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                                      LLVM::Linkage::External,
                                      "shardc_kernel_functions", Attribute());
  b.createBlock(&table.getInitializerRegion());
  Value list = LLVM::ZeroOp::create(b, loc, type);
  for (auto [i, function] : llvm::enumerate(functions)) {
    Value address;
    if (function)
      address = LLVM::AddressOfOp::create(b, loc, function);
    else
      address = LLVM::ZeroOp::create(b, loc, ptr);
    list = LLVM::InsertValueOp::create(b, loc, list, address, i);
  }
  LLVM::ReturnOp::create(b, loc, list);
}

LogicalResult Emulation::run() {
  for (auto global : kernels.getOps<LLVM::GlobalOp>())
    if (global.getAddrSpace() != 3)
      return global.emitOpError()
             << "is in memory space " << global.getAddrSpace()
             << "; the emulator knows shared variables alone";
  SmallVector<LLVM::LLVMFuncOp> functions;
  SmallVector<Traits> traits;
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>()) {
    if (kernel.isExternal())
      continue;
    spmd::KernelGpuAttr of = spmd::contract::Gpu::get(kernel);
    if (of && stringifyKernelGpu(of.getValue()) != gpu) {
      functions.push_back({});
      traits.emplace_back();
      continue;
    }
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto copy = cast<LLVM::LLVMFuncOp>(b.clone(*kernel));
    if (failed(emulate(kernel, copy, traits.emplace_back())))
      return failure();
    functions.push_back(copy);
  }
  writeTables(functions, traits);
  kernels.erase();
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  return success();
}

namespace {
struct EmulateNvvmPass final
    : shardc::impl::EmulateNvvmPassBase<EmulateNvvmPass> {
  using Base::Base;
  void runOnOperation() override {
    auto kernels =
        getOperation().lookupSymbol<gpu::GPUModuleOp>(kKernelModuleName);
    if (!kernels)
      return;
    if (failed(Emulation(getOperation(), kernels, check, gpu).run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace shardc

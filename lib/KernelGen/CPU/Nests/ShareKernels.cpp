//===- ShareKernels.cpp - One function for kernels that are alike ---------===//
//
// Layers of a network are alike, and a nest is a hundred times as long as the
// op that it is made of. So kernels that differ in nothing but their buffers
// are generated once, as a function of addresses.
//
//===----------------------------------------------------------------------===//
#include "ShareKernels.h"
#include "Nest.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/OutlinedFunction.h"
#include "shardc/Support/Strides.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using cpu::KernelOps;
using cpu::KernelsAlike;

/// Bytes of `memref`, if its shape, strides and offset are numbers.
static std::optional<int64_t> fixedBytes(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || !type.hasStaticShape() ||
      failed(getStridesAndOffset(type, strides, offset)) ||
      ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  return type.getNumElements() * elementBytes(type.getElementType());
}

/// Collects what `kernel` is given: buffers, without `own`, which is made and
/// read by it alone, and numbers. False where something cannot be given to a
/// function, or would be seen otherwise there: its arguments do not overlap,
/// and are not so large that results pass the caches by.
static bool collectGiven(KernelOps &kernel, Value own) {
  SetVector<Value> given, written;
  double cache =
      Cost(machineOf(kernel.ops.front())).getMachine().sharedCacheBytes;
  for (linalg::GenericOp op : kernel.ops) {
    SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    written.insert(op.getDpsInits().begin(), op.getDpsInits().end());
    for (Value value : used) {
      if (value == own || matchPattern(value, m_Constant()))
        continue;
      bool isNumber = value.getType().isIntOrIndexOrFloat();
      if (!isNumber && (!fixedBytes(value) ||
                        value.getDefiningOp<UnrealizedConversionCastOp>()))
        return false;
      given.insert(value);
    }
  }
  for (Value output : written) {
    std::optional<int64_t> bytes = fixedBytes(cpu::rootOf(output));
    if (!bytes || *bytes >= 2 * cache)
      return false;
    for (Value other : given)
      if (output != own && other != output &&
          isa<MemRefType>(other.getType()) && cpu::mayAlias(output, other))
        return false;
  }
  kernel.given = given.takeVector();
  return true;
}

/// A function of what `kernel` is given. Offsets of buffers are its caller's.
static func::FuncOp makeFunction(OpBuilder &b, const KernelOps &kernel,
                                 Value own) {
  SmallVector<Type> types;
  for (Value value : kernel.given) {
    types.push_back(value.getType());
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type)
      continue;
    // Types that say the same are one.
    MemRefLayoutAttrInterface layout;
    if (SmallVector<int64_t> strides = stridesAndOffset(type).first;
        strides != computeStrides(type.getShape()))
      layout = StridedLayoutAttr::get(b.getContext(), 0, strides);
    types.back() = MemRefType::get(type.getShape(), type.getElementType(),
                                   layout, type.getMemorySpace());
  }
  linalg::GenericOp last = kernel.ops.back();
  Location loc = last.getLoc();
  func::FuncOp function = createOutlined(b, loc, "__shardc_kernel", types);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(function.addEntryBlock());
  IRMapping map;
  map.map(kernel.given, function.getArguments());
  if (own)
    b.clone(*own.getDefiningOp(), map);
  for (linalg::GenericOp op : kernel.ops) {
    SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used)
      if (!map.contains(value))
        b.clone(*value.getDefiningOp(), map);
    b.clone(*op, map);
  }
  func::ReturnOp::create(b, loc);
  return function;
}

static llvm::hash_code hashOf(func::FuncOp function) {
  llvm::hash_code hash = hash_value(function.getFunctionType());
  function.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName(), op->getAttrDictionary(),
                              op->hashProperties());
  });
  return hash;
}

SmallVector<KernelsAlike> cpu::findKernelsAlike(func::FuncOp function,
                                                int64_t leastOps) {
  SmallVector<linalg::GenericOp> all(
      function.getBody().front().getOps<linalg::GenericOp>());
  if (static_cast<int64_t>(all.size()) < leastOps)
    return {};
  OpBuilder b(function);
  SmallVector<KernelsAlike> kinds;
  llvm::DenseMap<size_t, SmallVector<size_t>> known;
  DenseSet<Operation *> taken;
  auto add = [&](KernelOps kernel, Value own) {
    for (linalg::GenericOp op : kernel.ops)
      taken.insert(op);
    if (!collectGiven(kernel, own))
      return;
    func::FuncOp made = makeFunction(b, kernel, own);
    SmallVector<size_t> &alike = known[hashOf(made)];
    auto same = llvm::find_if(alike, [&](size_t kind) {
      return areAlike(kinds[kind].function, made);
    });
    if (same != alike.end()) {
      made.erase();
      kinds[*same].places.push_back(std::move(kernel));
      return;
    }
    alike.push_back(kinds.size());
    kinds.push_back({made, {std::move(kernel)}});
  };
  // As GenerateKernels does: reductions first, which take others with them.
  for (linalg::GenericOp op : all) {
    if (op.getNumReductionLoops() == 0 || taken.contains(op))
      continue;
    KernelOps kernel;
    for (unsigned i : llvm::seq<unsigned>(op.getNumDpsInits()))
      if (linalg::GenericOp fill = cpu::findFill(op, i))
        kernel.ops.push_back(fill);
    linalg::GenericOp epilogue = cpu::findEpilogue(op);
    bool isFinished = epilogue && !kernel.ops.empty();
    Value own = isFinished ? op.getDpsInits()[0] : Value();
    kernel.ops.push_back(op);
    if (isFinished)
      kernel.ops.push_back(epilogue);
    bool isFree = llvm::none_of(
        kernel.ops, [&](Operation *each) { return taken.contains(each); });
    if (isFree && (!own || own.getDefiningOp<memref::AllocOp>()))
      add(std::move(kernel), own);
    else
      taken.insert(kernel.ops.begin(), kernel.ops.end());
  }
  // Fills and what is in a box of a buffer are looked at together.
  for (linalg::GenericOp op : all)
    if (op.getNumReductionLoops() == 0 && !taken.contains(op) &&
        !cpu::filledWith(op) &&
        llvm::none_of(op.getDpsInits(), [](Value output) {
          return output.getDefiningOp<memref::SubViewOp>();
        }))
      add({{op}, {}}, {});
  llvm::erase_if(kinds, [](KernelsAlike &kind) {
    bool isAlone = kind.places.size() < 2;
    if (isAlone)
      kind.function.erase();
    return isAlone;
  });
  for (auto [number, kind] : llvm::enumerate(kinds))
    kind.function.setName(("__shardc_kernel_" + Twine(number)).str());
  return kinds;
}

/// True for numbers, and buffers of which all that is asked is where they are.
static bool isAddress(Value value) {
  return !isa<MemRefType>(value.getType()) ||
         llvm::all_of(value.getUsers(),
                      llvm::IsaPred<memref::ExtractAlignedPointerAsIndexOp>);
}

/// Scratch of `function`, which its callers have to bring.
static SmallVector<memref::AllocOp> scratchOf(func::FuncOp function) {
  return llvm::to_vector(function.getBody().front().getOps<memref::AllocOp>());
}

/// True if `function` is code of addresses, and of scratch of a fixed size.
static bool isCallable(func::FuncOp function) {
  bool isCode =
      !function
           .walk([&](Operation *op) {
             auto alloc = dyn_cast<memref::AllocOp>(op);
             bool isScratch = alloc && alloc->getParentOp() == function &&
                              alloc.getType().hasStaticShape() &&
                              isAddress(alloc);
             bool stays = (alloc && !isScratch) ||
                          isa<memref::DeallocOp, linalg::LinalgOp>(op) ||
                          spmd::contract::Parts::has(op);
             return stays ? WalkResult::interrupt() : WalkResult::advance();
           })
           .wasInterrupted();
  return isCode && llvm::all_of(function.getArguments(), isAddress);
}

/// Lets `function` be given addresses for its buffers, then for its scratch.
static void takeAddresses(func::FuncOp function) {
  Block &block = function.getBody().front();
  Type index = IndexType::get(function.getContext());
  auto takeAddress = [](Value buffer, Value address) {
    for (Operation *user : llvm::make_early_inc_range(buffer.getUsers())) {
      user->getResult(0).replaceAllUsesWith(address);
      user->erase();
    }
  };
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<MemRefType>(argument.getType()))
      continue;
    takeAddress(argument, argument);
    argument.setType(index);
  }
  for (memref::AllocOp alloc : scratchOf(function)) {
    takeAddress(alloc, block.addArgument(index, alloc.getLoc()));
    alloc.erase();
  }
  function.setType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(), {}));
}

void cpu::callKernels(MutableArrayRef<KernelsAlike> kinds) {
  for (KernelsAlike &kind : kinds) {
    if (!isCallable(kind.function)) {
      kind.function.erase();
      continue;
    }
    SmallVector<MemRefType> scratch;
    for (memref::AllocOp alloc : scratchOf(kind.function))
      scratch.push_back(alloc.getType());
    takeAddresses(kind.function);
    for (KernelOps &place : kind.places) {
      OpBuilder b(place.ops.back());
      Location loc = place.ops.back().getLoc();
      SmallVector<Value> operands;
      auto addressOf = [&](Value buffer) -> Value {
        return memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
      };
      for (Value value : place.given) {
        auto type = dyn_cast<MemRefType>(value.getType());
        if (!type) {
          operands.push_back(value);
          continue;
        }
        Value address = addressOf(value);
        if (int64_t offset = stridesAndOffset(type).second) {
          Value bytes = arith::ConstantIndexOp::create(
              b, loc, offset * elementBytes(type.getElementType()));
          address = arith::AddIOp::create(b, loc, address, bytes);
        }
        operands.push_back(address);
      }
      for (MemRefType type : scratch) {
        Value room = memref::AllocOp::create(b, loc, type, ValueRange(),
                                             b.getI64IntegerAttr(64));
        operands.push_back(addressOf(room));
      }
      func::CallOp::create(b, loc, kind.function, operands);
      for (linalg::GenericOp op : llvm::reverse(place.ops)) {
        SmallVector<Value> outputs(op.getDpsInits());
        op.erase();
        for (Value output : outputs)
          if (auto alloc = output.getDefiningOp<memref::AllocOp>();
              alloc && alloc->use_empty())
            alloc.erase();
      }
    }
  }
}

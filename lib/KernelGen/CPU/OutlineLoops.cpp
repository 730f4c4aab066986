//===- OutlineLoops.cpp - Functions for the loops of long programs --------===//
//
// LLVM looks from each loop back along all that stands before it (guards of its
// bounds, dominators), which takes quadratic time in the length of a function.
// A function of its own for each outermost loop nest makes that linear, and
// layers that are alike share their code.
//
//===----------------------------------------------------------------------===//
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardc/KernelGen/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_OUTLINELOOPSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

using namespace shardc;

/// True if all that `loop` does is arithmetic and accesses to memory, so that
/// it is the same wherever it stands: no calls, no ranks, no buffers of its
/// own.
static bool isPlain(Operation *loop) {
  return !loop->walk([](Operation *op) {
                StringRef dialect = op->getName().getDialectNamespace();
                bool known =
                    llvm::is_contained({"affine", "arith", "complex", "llvm",
                                        "math", "memref", "scf", "vector"},
                                       dialect);
                if (!known ||
                    isa<LLVM::CallOp, memref::AllocOp, memref::DeallocOp>(op))
                  return WalkResult::interrupt();
                return WalkResult::advance();
              })
              .wasInterrupted();
}

static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

static llvm::SetVector<Value> valuesFromOutside(Operation *loop) {
  llvm::SetVector<Value> values(loop->operand_begin(), loop->operand_end());
  getUsedValuesDefinedAbove(loop->getRegions(), values);
  return values;
}

/// True if what goes into `loop` and comes out of it may cross a call: numbers
/// and addresses in, numbers out. Vectors may not: a tile of accumulators
/// belongs in registers.
static bool mayCross(Operation *loop) {
  auto isNumber = [](Type type) { return type.isIntOrIndexOrFloat(); };
  return llvm::all_of(loop->getResultTypes(), isNumber) &&
         llvm::all_of(valuesFromOutside(loop), [&](Value value) {
           return isConstant(value) || isNumber(value.getType()) ||
                  isa<MemRefType, LLVM::LLVMPointerType>(value.getType());
         });
}

/// The outermost plain loops of `region`, in order.
static void findLoops(Region &region, SmallVectorImpl<Operation *> &loops) {
  for (Block &block : region)
    for (Operation &op : block) {
      if (isa<scf::ForOp, scf::ParallelOp>(op) && isPlain(&op)) {
        if (mayCross(&op))
          loops.push_back(&op);
        continue;
      }
      for (Region &inner : op.getRegions())
        findLoops(inner, loops);
    }
}

/// What of `loop` must agree for another to have the same function; equal for
/// loops that are.
static llvm::hash_code hashOf(Operation *loop) {
  llvm::hash_code hash(0);
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName(), op->getNumOperands(),
                              op->getAttrDictionary(), op->hashProperties());
    for (Type type : op->getResultTypes())
      hash = llvm::hash_combine(hash, type);
  });
  return hash;
}

/// A function of `inputs` and the constants that `loop` reads, which does what
/// `loop` does.
static func::FuncOp makeFunction(OpBuilder &builder, Operation *loop,
                                 ValueRange inputs, ValueRange constants,
                                 StringRef name) {
  Location loc = loop->getLoc();
  auto function = func::FuncOp::create(
      builder, loc, name,
      builder.getFunctionType(inputs.getTypes(), loop->getResultTypes()));
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping map;
  map.map(inputs, function.getArguments());
  for (Value constant : constants)
    map.map(constant, builder.clone(*constant.getDefiningOp())->getResult(0));
  Operation *copy = builder.clone(*loop, map);
  func::ReturnOp::create(builder, loc, copy->getResults());
  return function;
}

namespace {
struct OutlineLoopsPass final
    : shardc::impl::OutlineLoopsPassBase<OutlineLoopsPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>(entry);
    if (!main || main.isExternal())
      return;
    int64_t length = 0;
    main.walk([&](Operation *) { ++length; });
    if (length < leastOps)
      return;
    SmallVector<Operation *> loops;
    findLoops(main.getBody(), loops);

    OpBuilder builder(main);
    // Functions by the hash of the loop that they were made of.
    llvm::DenseMap<size_t, SmallVector<func::FuncOp>> known;
    int64_t count = 0;
    for (Operation *loop : loops) {
      size_t hash = hashOf(loop);
      SmallVector<Value> inputs, constants;
      for (Value value : valuesFromOutside(loop))
        (isConstant(value) ? constants : inputs).push_back(value);
      builder.setInsertionPoint(main);
      func::FuncOp function =
          makeFunction(builder, loop, inputs, constants,
                       ("__shardc_loop_" + Twine(count)).str());
      SmallVector<func::FuncOp> &alike = known[hash];
      auto same = llvm::find_if(alike, [&](func::FuncOp other) {
        return other.getFunctionType() == function.getFunctionType() &&
               OperationEquivalence::isRegionEquivalentTo(
                   &other.getBody(), &function.getBody(),
                   OperationEquivalence::IgnoreLocations);
      });
      if (same != alike.end()) {
        function.erase();
        function = *same;
      } else {
        alike.push_back(function);
        ++count;
      }
      builder.setInsertionPoint(loop);
      auto call =
          func::CallOp::create(builder, loop->getLoc(), function, inputs);
      loop->replaceAllUsesWith(call.getResults());
      loop->erase();
    }
  }
};
} // namespace

//===- OutlineLoops.cpp - Functions for the loops of long programs --------===//
//
// LLVM looks from each loop back along all that is before it (guards of its
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
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Support/OutlinedFunction.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_OUTLINELOOPSPASS
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

using namespace shardc;

/// True if all that `loop` does is arithmetic and accesses to memory, so that
/// it is the same wherever it is placed: no calls, no ranks, no buffers of its
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

/// Ops that are one behind the other in a block.
using Run = SmallVector<Operation *>;

static llvm::SetVector<Value> valuesFromOutside(ArrayRef<Operation *> run) {
  llvm::SetVector<Value> used;
  llvm::SmallDenseSet<Value> made;
  for (Operation *op : run) {
    used.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    made.insert(op->result_begin(), op->result_end());
  }
  used.remove_if([&](Value value) { return made.contains(value); });
  return used;
}

/// What ops outside of `run` use of its results.
static SmallVector<Value> valuesForOutside(ArrayRef<Operation *> run) {
  Block *block = run.front()->getBlock();
  SmallVector<Value> values;
  for (Operation *op : run)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            Operation *next = block->findAncestorOpInBlock(*user);
            return next->isBeforeInBlock(run.front()) ||
                   run.back()->isBeforeInBlock(next);
          }))
        values.push_back(result);
  return values;
}

static bool isNumber(Type type) { return type.isIntOrIndexOrFloat(); }

/// Whether `value` may go into a call: numbers and addresses. Vectors may not:
/// a tile of accumulators belongs in registers.
static bool mayGoIn(Value value) {
  return matchPattern(value, m_Constant()) || isNumber(value.getType()) ||
         isa<MemRefType, LLVM::LLVMPointerType>(value.getType());
}

/// The ops around `loop` that make or use what may not cross a call, such as
/// the stores of the accumulators that it ends with, and all that is
/// between; empty where something among them must stay.
static Run runAround(Operation *loop) {
  constexpr size_t kMostOps = 256;
  Block *block = loop->getBlock();
  Operation *first = loop, *last = loop;
  while (true) {
    Run run;
    for (Operation *op = first;; op = op->getNextNode()) {
      if (!isPlain(op) || op->hasTrait<OpTrait::IsTerminator>() ||
          run.size() == kMostOps)
        return {};
      run.push_back(op);
      if (op == last)
        break;
    }
    Operation *newFirst = first, *newLast = last;
    for (Value value : valuesFromOutside(run)) {
      if (mayGoIn(value))
        continue;
      Operation *maker = value.getDefiningOp();
      if (!maker || maker->getBlock() != block)
        return {};
      if (maker->isBeforeInBlock(newFirst))
        newFirst = maker;
    }
    for (Value value : valuesForOutside(run)) {
      if (isNumber(value.getType()))
        continue;
      for (Operation *user : value.getUsers()) {
        Operation *next = block->findAncestorOpInBlock(*user);
        if (newLast->isBeforeInBlock(next))
          newLast = next;
      }
    }
    if (newFirst == first && newLast == last)
      return run;
    first = newFirst;
    last = newLast;
  }
}

/// Whether `loop` runs many kernels, one behind the other: a loop of the
/// program, such as a network that is applied again and again, and no kernel.
static bool isLineOfKernels(Operation *loop) {
  constexpr int64_t kMostLoopsOfKernel = 16; // tiles, and what is left over
  int64_t loops = 0;
  for (Region &region : loop->getRegions())
    for (Block &block : region)
      loops +=
          llvm::count_if(block, llvm::IsaPred<scf::ForOp, scf::ParallelOp>);
  return loops > kMostLoopsOfKernel;
}

/// The outermost plain loops of `region`, in order, with what belongs to them.
static void findLoops(Region &region, SmallVectorImpl<Run> &runs) {
  for (Block &block : region) {
    Operation *done = nullptr; // the last op of the last run
    for (Operation &op : block) {
      if (done && !done->isBeforeInBlock(&op))
        continue;
      if (isa<scf::ForOp, scf::ParallelOp>(op) && !isLineOfKernels(&op) &&
          isPlain(&op)) {
        Run run = runAround(&op);
        if (run.empty() || (done && !done->isBeforeInBlock(run.front())))
          continue;
        done = run.back();
        runs.push_back(std::move(run));
        continue;
      }
      for (Region &inner : op.getRegions())
        findLoops(inner, runs);
    }
  }
}

/// What of `run` must agree for another to have the same function; equal for
/// runs that are.
static llvm::hash_code hashOf(ArrayRef<Operation *> run) {
  llvm::hash_code hash(0);
  for (Operation *outermost : run)
    outermost->walk<WalkOrder::PreOrder>([&](Operation *op) {
      hash = llvm::hash_combine(hash, op->getName(), op->getNumOperands(),
                                op->getAttrDictionary(), op->hashProperties());
      for (Type type : op->getResultTypes())
        hash = llvm::hash_combine(hash, type);
    });
  return hash;
}

/// A function of `inputs` and the constants that `run` reads, which does what
/// `run` does and returns `outputs`.
static func::FuncOp makeFunction(OpBuilder &builder, ArrayRef<Operation *> run,
                                 ValueRange inputs, ValueRange constants,
                                 ValueRange outputs, StringRef name) {
  Location loc = run.front()->getLoc();
  func::FuncOp function =
      createOutlined(builder, loc, name, inputs.getTypes(), outputs.getTypes());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping map;
  map.map(inputs, function.getArguments());
  for (Value constant : constants)
    map.map(constant, builder.clone(*constant.getDefiningOp())->getResult(0));
  for (Operation *op : run)
    builder.clone(*op, map);
  func::ReturnOp::create(builder, loc,
                         llvm::map_to_vector(outputs, [&](Value value) {
                           return map.lookup(value);
                         }));
  return function;
}

/// The ops of `function`, with those of functions that it calls: of kernels
/// that are functions already, as if they were not.
static int64_t lengthOf(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  llvm::StringMap<int64_t> lengths;
  for (auto other : module.getOps<func::FuncOp>())
    if (other != function)
      other.walk([&](Operation *) { ++lengths[other.getName()]; });
  int64_t length = 0;
  function.walk([&](Operation *op) {
    ++length;
    if (auto call = dyn_cast<func::CallOp>(op))
      length += lengths.lookup(call.getCallee());
  });
  return length;
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
    if (lengthOf(main) < leastOps)
      return;
    SmallVector<Run> runs;
    findLoops(main.getBody(), runs);

    OpBuilder builder(main);
    // Functions by the hash of the loop that they were made of.
    llvm::DenseMap<size_t, SmallVector<func::FuncOp>> known;
    int64_t count = 0;
    for (Run &run : runs) {
      size_t hash = hashOf(run);
      SmallVector<Value> inputs, constants, outputs = valuesForOutside(run);
      for (Value value : valuesFromOutside(run))
        (matchPattern(value, m_Constant()) ? constants : inputs)
            .push_back(value);
      builder.setInsertionPoint(main);
      func::FuncOp function =
          makeFunction(builder, run, inputs, constants, outputs,
                       ("__shardc_loop_" + Twine(count)).str());
      SmallVector<func::FuncOp> &alike = known[hash];
      auto same = llvm::find_if(
          alike, [&](func::FuncOp other) { return areAlike(other, function); });
      if (same != alike.end()) {
        function.erase();
        function = *same;
      } else {
        alike.push_back(function);
        ++count;
      }
      builder.setInsertionPoint(run.front());
      auto call = func::CallOp::create(builder, run.front()->getLoc(), function,
                                       inputs);
      for (auto [output, result] : llvm::zip_equal(outputs, call.getResults()))
        output.replaceAllUsesWith(result);
      for (Operation *op : llvm::reverse(run))
        op->erase();
    }
  }
};
} // namespace

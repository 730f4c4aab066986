//===- FormKernels.cpp - Which work is a kernel, and how it is cut --------===//
//
// A structured op is a kernel with a thread for each point of its parallel
// dims. Loops of single loads and stores are algorithms that nothing structured
// says: each is a kernel as a whole. All else stays on the host.
//
//===----------------------------------------------------------------------===//
#include "shardc/KernelGen/Common.h"
#include "shardc/KernelGen/GPU.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_FORMGPUKERNELSPASS
#include "shardc/KernelGen/GpuPasses.h.inc"

static constexpr int64_t kBlock = 256;
static constexpr int64_t kWarp = 32;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// A launch of `blocks` x `threads` whose body is empty but for its end; the
/// builder stands in it.
static gpu::LaunchOp beginLaunch(OpBuilder &b, Location loc, Value blocks,
                                 int64_t threads) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value block = arith::ConstantIndexOp::create(b, loc, threads);
  auto launch =
      gpu::LaunchOp::create(b, loc, blocks, one, one, block, one, one);
  Block &body = launch.getBody().front();
  b.setInsertionPointToEnd(&body);
  gpu::TerminatorOp::create(b, loc);
  b.setInsertionPointToStart(&body);
  return launch;
}

/// Moves `op` into a launch of one thread.
static void launchAlone(Operation *op) {
  OpBuilder b(op);
  Value one = arith::ConstantIndexOp::create(b, op->getLoc(), 1);
  gpu::LaunchOp launch = beginLaunch(b, op->getLoc(), one, 1);
  op->moveBefore(launch.getBody().front().getTerminator());
}

/// Ops inside `op` that depend on the rank alone are computed outside.
static void hoistRankValues(Operation *op) {
  SmallVector<Operation *> found;
  op->walk([&](Operation *inner) {
    if (inner != op && inner->getNumOperands() == 0 &&
        inner->getDialect()->getNamespace() == "spmd")
      found.push_back(inner);
  });
  for (Operation *inner : found)
    inner->moveBefore(op);
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

/// True if each element of `op`'s outputs belongs to one point of its parallel
/// dims: then these points are independent.
static bool isParallel(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (OpOperand &output : op.getDpsInitsMutable()) {
    SmallVector<bool> covered(kinds.size());
    for (AffineExpr expr : op.getMatchingIndexingMap(&output).getResults()) {
      if (auto number = dyn_cast<AffineConstantExpr>(expr))
        continue;
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || kinds[dim.getPosition()] == utils::IteratorType::reduction)
        return false;
      covered[dim.getPosition()] = true;
    }
    for (auto [i, kind] : llvm::enumerate(kinds))
      if (!covered[i] && kind == utils::IteratorType::parallel && sizes[i] != 1)
        return false;
  }
  return true;
}

namespace {
/// Emits one generic's work at one point of its parallel dims.
class PointEmitter {
public:
  PointEmitter(OpBuilder &b, linalg::GenericOp op)
      : b(b), op(op), loc(op.getLoc()), point(op.getNumLoops()) {}

  /// Where the op stands along each of its dims.
  MutableArrayRef<Value> at() { return point; }

  Value loadOutput(OpOperand &output) {
    return memref::LoadOp::create(b, loc, output.get(), subscripts(output));
  }
  void storeOutput(OpOperand &output, Value value) {
    memref::StoreOp::create(b, loc, value, output.get(), subscripts(output));
  }
  /// The body's results for outputs that hold `current` (null where unused).
  SmallVector<Value> body(ArrayRef<Value> current) {
    IRMapping map;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (argument.use_empty())
        continue;
      if (!isa<MemRefType>(input->get().getType()))
        map.map(argument, input->get());
      else
        map.map(argument, memref::LoadOp::create(b, loc, input->get(),
                                                 subscripts(*input))
                              .getResult());
    }
    for (auto [argument, value] :
         llvm::zip_equal(op.getRegionOutputArgs(), current))
      if (value)
        map.map(argument, value);
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        map.map(index.getResult(), point[index.getDim()]);
      else
        b.clone(inner, map);
    }
    // `linalg.index` also stands in nested regions.
    return llvm::map_to_vector(
        op.getBody()->getTerminator()->getOperands(),
        [&](Value value) { return map.lookupOrDefault(value); });
  }

private:
  SmallVector<Value> subscripts(OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto values = affine::expandAffineMap(b, loc, map, point);
    assert(values && "indexing maps divide by constants alone");
    return SmallVector<Value>(values->begin(), values->end());
  }

  OpBuilder &b;
  linalg::GenericOp op;
  Location loc;
  SmallVector<Value> point;
};
} // namespace

/// Replaces `linalg.index` in regions inside the body by the dims' values: the
/// emitter sees those of the body itself alone.
static void flattenIndices(linalg::GenericOp op) {
  SmallVector<linalg::IndexOp> nested;
  op->walk([&](linalg::IndexOp index) {
    if (index->getBlock() != op.getBody())
      nested.push_back(index);
  });
  OpBuilder b(op.getBody(), op.getBody()->begin());
  for (linalg::IndexOp index : nested) {
    Value outer = linalg::IndexOp::create(b, op.getLoc(), index.getDim());
    index.replaceAllUsesWith(outer);
    index.erase();
  }
}

static Value product(OpBuilder &b, Location loc, ArrayRef<Value> values) {
  Value result = arith::ConstantIndexOp::create(b, loc, 1);
  for (Value value : values)
    result = arith::MulIOp::create(b, loc, result, value);
  return result;
}

/// Loops over the reduction dims `dims`, with `current` carried along.
static SmallVector<Value> reduceInThread(OpBuilder &b, Location loc,
                                         PointEmitter &emitter,
                                         ArrayRef<unsigned> dims,
                                         ArrayRef<Value> sizes,
                                         SmallVector<Value> current) {
  if (dims.empty())
    return emitter.body(current);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, zero, sizes[dims.front()], one,
                                 current);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  emitter.at()[dims.front()] = loop.getInductionVar();
  SmallVector<Value> next = reduceInThread(
      b, loc, emitter, dims.drop_front(), sizes,
      llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
  scf::YieldOp::create(b, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

static int64_t threadsFor(int64_t points) {
  if (ShapedType::isDynamic(points) || points >= kBlock)
    return kBlock;
  return llvm::alignTo(std::max<int64_t>(points, 1), kWarp);
}

/// A launch with a thread for each point of the parallel dims.
static void launchPoints(linalg::GenericOp op) {
  Location loc = op.getLoc();
  OpBuilder b(op);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> known = op.getStaticLoopRanges();
  SmallVector<Value> sizes;
  for (Range range : cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, loc))
    sizes.push_back(getValueOrCreateConstantIndexOp(b, loc, range.size));
  SmallVector<unsigned> parallel, reductions;
  int64_t points = 1;
  for (auto [i, kind] : llvm::enumerate(kinds)) {
    if (kind == utils::IteratorType::reduction) {
      reductions.push_back(i);
      continue;
    }
    parallel.push_back(i);
    if (ShapedType::isDynamic(known[i]) || ShapedType::isDynamic(points))
      points = ShapedType::kDynamic;
    else
      points *= known[i];
  }
  if (points == 0)
    return;
  SmallVector<Value> extents;
  for (unsigned dim : parallel)
    extents.push_back(sizes[dim]);
  Value total = product(b, loc, extents);
  int64_t threads = threadsFor(points);
  Value perBlock = arith::ConstantIndexOp::create(b, loc, threads);
  Value blocks = arith::CeilDivUIOp::create(b, loc, total, perBlock);

  gpu::LaunchOp launch = beginLaunch(b, loc, blocks, threads);
  Value first =
      arith::MulIOp::create(b, loc, launch.getBlockIds().x, perBlock);
  Value index =
      arith::AddIOp::create(b, loc, first, launch.getThreadIds().x);
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                       index, total);
  auto guard = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
  b.setInsertionPointToStart(guard.thenBlock());

  PointEmitter emitter(b, op);
  // Row-major: neighbours in a warp read neighbours in memory.
  for (unsigned i = parallel.size(); i-- > 0;) {
    unsigned dim = parallel[i];
    if (i == 0) {
      emitter.at()[dim] = index;
      break;
    }
    emitter.at()[dim] = arith::RemUIOp::create(b, loc, index, sizes[dim]);
    index = arith::DivUIOp::create(b, loc, index, sizes[dim]);
  }
  SmallVector<Value> current;
  for (auto [output, argument] :
       llvm::zip_equal(op.getDpsInitsMutable(), op.getRegionOutputArgs())) {
    bool needed = !reductions.empty() || !argument.use_empty();
    current.push_back(needed ? emitter.loadOutput(output) : Value());
  }
  SmallVector<Value> results =
      reduceInThread(b, loc, emitter, reductions, sizes, current);
  for (auto [output, value] :
       llvm::zip_equal(op.getDpsInitsMutable(), results))
    emitter.storeOutput(output, value);
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

/// A generic that only moves elements, or that is on buffers of indices, which
/// no value of the program is.
static bool isBookkeeping(linalg::GenericOp op) {
  if (llvm::any_of(op->getOperandTypes(), [](Type type) {
        return getElementTypeOrSelf(type).isIndex();
      }))
    return true;
  return llvm::hasSingleElement(*op.getBody());
}

/// True if a kernel can hold `op` and all that is in it.
static bool fitsInKernel(Operation *op) {
  bool fits = true;
  op->walk([&](Operation *inner) {
    if (auto alloc = dyn_cast<memref::AllocOp>(inner)) {
      // Memory is had on the host, once.
      fits &= llvm::none_of(alloc->getUsers(), [](Operation *user) {
        return user->hasTrait<OpTrait::IsTerminator>();
      });
      fits &= llvm::all_of(alloc.getDynamicSizes(), [&](Value size) {
        return !op->isAncestor(size.getParentRegion()->getParentOp());
      });
      return;
    }
    StringRef dialect = inner->getDialect()->getNamespace();
    if (dialect == "spmd")
      fits &= inner->getNumOperands() == 0 && inner->getNumRegions() == 0;
    else
      fits &= !isa<func::CallOp, memref::DeallocOp, gpu::LaunchOp,
                   memref::AllocaOp>(inner);
  });
  return fits;
}

/// True for a loop or branch of single loads and stores, which is a kernel as a
/// whole.
static bool isAlgorithm(Operation *op) {
  if (!isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
    return false;
  if (llvm::any_of(op->getResults(),
                   [](Value result) { return !result.use_empty(); }))
    return false;
  bool stores = false, structured = false;
  op->walk([&](Operation *inner) {
    if (inner->getParentOfType<linalg::GenericOp>())
      return;
    stores |= isa<memref::StoreOp>(inner);
    if (auto generic = dyn_cast<linalg::GenericOp>(inner))
      structured |= !isBookkeeping(generic);
  });
  return stores && !structured && fitsInKernel(op);
}

static void launchAlgorithm(Operation *op) {
  hoistRankValues(op);
  SmallVector<memref::AllocOp> allocs;
  op->walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  for (memref::AllocOp alloc : allocs)
    alloc->moveBefore(op);
  launchAlone(op);
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

static void formKernels(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      hoistRankValues(generic);
      if (isParallel(generic)) {
        flattenIndices(generic);
        launchPoints(generic);
        generic.erase();
      } else {
        launchAlone(generic);
      }
    } else if (isa<memref::StoreOp>(op)) {
      launchAlone(&op);
    } else if (isAlgorithm(&op)) {
      launchAlgorithm(&op);
    } else {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          formKernels(inner);
    }
  }
}

namespace {
struct FormGpuKernelsPass final
    : shardc::impl::FormGpuKernelsPassBase<FormGpuKernelsPass> {
  using Base::Base;
  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      formKernels(block);
  }
};
} // namespace
} // namespace shardc

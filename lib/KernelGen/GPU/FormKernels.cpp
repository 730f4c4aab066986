//===- FormKernels.cpp - Which work is a kernel, and how it is cut --------===//
//
// A structured op is a kernel with a thread for each point of its parallel
// dims. Loops of single loads and stores are algorithms that nothing structured
// says: each is a kernel as a whole. All else stays on the host.
//
//===----------------------------------------------------------------------===//
#include "Fills.h"
#include "Libraries/Libraries.h"
#include "Lines/Lines.h"
#include "Pairs/Pairs.h"
#include "Points/Points.h"
#include "Products/Product.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/KernelGen/GPU.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc::gpukernels;

namespace shardc {
#define GEN_PASS_DEF_FORMGPUKERNELSPASS
#include "shardc/KernelGen/GpuPasses.h.inc"

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Moves `op` into a launch of one thread.
static void launchAlone(Operation *op) {
  OpBuilder b(op);
  Value one = arith::ConstantIndexOp::create(b, op->getLoc(), 1);
  gpu::LaunchOp launch = beginLaunch(b, op->getLoc(), one, 1);
  op->moveBefore(launch.getBody().front().getTerminator());
}

void gpukernels::hoistRankValues(Operation *op) {
  SmallVector<Operation *> found;
  op->walk([&](Operation *inner) {
    if (inner != op && inner->getNumOperands() == 0 && spmd::isOfLevel(inner))
      found.push_back(inner);
  });
  for (Operation *inner : found)
    inner->moveBefore(op);
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

bool gpukernels::isParallel(linalg::GenericOp op) {
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

void gpukernels::flattenIndices(linalg::GenericOp op) {
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
  auto loop =
      scf::ForOp::create(b, loc, zero, sizes[dims.front()], one, current);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  emitter.at()[dims.front()] = loop.getInductionVar();
  SmallVector<Value> next =
      reduceInThread(b, loc, emitter, dims.drop_front(), sizes,
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
  Dims dims(b, op);
  ArrayRef<unsigned> reductions = dims.reductions;
  int64_t points = dims.points;
  if (points == 0)
    return;
  Value total = dims.count(b, loc, dims.parallel);
  Value index = beginLaunchOf(b, loc, total, threadsFor(points));

  PointEmitter emitter(b, op);
  dims.place(b, loc, emitter, dims.parallel, index);
  SmallVector<Value> current;
  for (auto [output, argument] :
       llvm::zip_equal(op.getDpsInitsMutable(), op.getRegionOutputArgs())) {
    bool needed = !reductions.empty() || !argument.use_empty();
    current.push_back(needed ? emitter.loadOutput(output) : Value());
  }
  SmallVector<Value> results =
      reduceInThread(b, loc, emitter, reductions, dims.sizes, current);
  for (auto [output, value] : llvm::zip_equal(op.getDpsInitsMutable(), results))
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
    if (spmd::isOfLevel(inner))
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

/// The loops that are nested in `op` with nothing beside them, itself among
/// them, as far as they count by ones between bounds from outside.
static SmallVector<scf::ForOp> perfectNest(Operation *op) {
  SmallVector<scf::ForOp> nest;
  auto isOutside = [&](Value value) {
    return !op->isAncestor(value.getParentRegion()->getParentOp());
  };
  for (auto loop = dyn_cast<scf::ForOp>(op); loop;) {
    if (loop->getNumResults() || getConstantIntValue(loop.getStep()) != 1 ||
        !loop.getInductionVar().getType().isIndex() ||
        !isOutside(loop.getLowerBound()) || !isOutside(loop.getUpperBound()))
      break;
    nest.push_back(loop);
    Block *body = loop.getBody();
    loop = body->getOperations().size() == 2
               ? dyn_cast<scf::ForOp>(body->front())
               : nullptr;
  }
  return nest;
}

/// The loops of `nest` whose iterations have nothing to do with one another: in
/// each buffer that is stored to, all accesses are at a place that one of its
/// dims takes from the loop's index.
static SmallVector<scf::ForOp> independentLoops(ArrayRef<scf::ForOp> nest) {
  if (nest.empty())
    return {};
  struct Access {
    Value memref;
    SmallVector<Value> at;
  };
  DenseMap<Value, SmallVector<Access>> accesses; // by root
  DenseSet<Value> stored;
  bool known = true;
  scf::ForOp outer = nest.front();
  outer->walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      accesses[rootOfView(load.getMemRef())].push_back(
          {load.getMemRef(), llvm::to_vector_of<Value>(load.getIndices())});
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      accesses[rootOfView(store.getMemRef())].push_back(
          {store.getMemRef(), llvm::to_vector_of<Value>(store.getIndices())});
      stored.insert(rootOfView(store.getMemRef()));
    } else {
      known &=
          llvm::none_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>) &&
          llvm::none_of(op->getResultTypes(), llvm::IsaPred<MemRefType>);
    }
  });
  // What is passed around may be the same buffer under another name.
  for (Value root : stored)
    if (auto argument = dyn_cast<BlockArgument>(root))
      known &= isa<func::FuncOp>(argument.getOwner()->getParentOp());
    else
      known &= root.getDefiningOp<memref::AllocOp>() != nullptr;
  if (!known)
    return {};
  SmallVector<scf::ForOp> found;
  for (scf::ForOp loop : nest) {
    bool independent = llvm::all_of(stored, [&](Value root) {
      ArrayRef<Access> all = accesses[root];
      if (!llvm::all_of(all, [&](const Access &access) {
            return access.memref == all.front().memref;
          }))
        return false;
      return llvm::any_of(llvm::seq<size_t>(0, all.front().at.size()),
                          [&](size_t dim) {
                            return llvm::all_of(all, [&](const Access &access) {
                              return access.at[dim] == loop.getInductionVar();
                            });
                          });
    });
    if (independent)
      found.push_back(loop);
  }
  return found;
}

static void launchAlgorithm(Operation *op) {
  hoistRankValues(op);
  SmallVector<memref::AllocOp> allocs;
  op->walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  for (memref::AllocOp alloc : allocs)
    alloc->moveBefore(op);
  SmallVector<scf::ForOp> loops = independentLoops(perfectNest(op));
  if (loops.empty())
    return launchAlone(op);

  // A thread for each iteration of these; the others stay in order within it.
  Location loc = op->getLoc();
  OpBuilder b(op);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  SmallVector<Value> trips;
  for (scf::ForOp loop : loops) {
    Value trip = arith::SubIOp::create(b, loc, loop.getUpperBound(),
                                       loop.getLowerBound());
    trips.push_back(arith::MaxSIOp::create(b, loc, trip, zero));
  }
  Value total = product(b, loc, trips);
  Value index = beginLaunchOf(b, loc, total, kBlock);
  SmallVector<Value> at(loops.size());
  for (size_t i = loops.size(); i-- > 0;) {
    Value place = index;
    if (i > 0) {
      place = arith::RemUIOp::create(b, loc, index, trips[i]);
      index = arith::DivUIOp::create(b, loc, index, trips[i]);
    }
    at[i] = arith::AddIOp::create(b, loc, loops[i].getLowerBound(), place);
  }
  op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  for (auto [loop, value] : llvm::zip_equal(loops, at)) {
    loop.getInductionVar().replaceAllUsesWith(value);
    Block *body = loop.getBody();
    body->getTerminator()->erase();
    loop->getBlock()->getOperations().splice(loop->getIterator(),
                                             body->getOperations());
    loop.erase();
  }
}

namespace {
/// What kernels may be made of.
struct Ways {
  OwnKernels own;
  bool tf32 = false; ///< for products of f32 that do not ask for more
  LibraryUse libraries = LibraryUse::Generated;
};

/// What a block's kernels are made with.
struct Plan {
  Ways ways;
  /// Ops that are matrix products, large enough to be kernels as such.
  llvm::DenseMap<Operation *, Product> products;
  /// Ops that these kernels do as well.
  llvm::DenseSet<Operation *> taken;
  /// Ops that only kernels of all GPUs want: they are launched with these.
  llvm::DenseSet<Operation *> later;
};
} // namespace

/// Finds the products of `block`, and what their kernels do beside them.
static void planProducts(Block &block, Plan &plan) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    // One that was moved is visited again.
    if (!generic || plan.products.contains(generic) || !isParallel(generic))
      continue;
    std::optional<Product> product = matchProduct(generic, plan.ways.tf32);
    if (!product || !hasKernel(*product) || mayStartFromNegativeZero(generic))
      continue;
    product->fusion = fuseAround(generic, plan.taken);
    if (plan.ways.libraries == LibraryUse::Generated) {
      takePaddings(generic, *product, plan.ways.own, plan.taken);
      for (const Factor *factor : {&product->left, &product->right})
        if (factor->padding)
          plan.later.insert_range(factor->padding->made);
    }
    plan.products.try_emplace(generic, std::move(*product));
  }
}

/// Kernels for `op`, parallel work that is no product.
static void launchParallel(linalg::GenericOp op) {
  if (!launchReductions(op) && !launchTransposed(op) && !launchVectors(op))
    launchPoints(op);
  op.erase();
}

/// Kernels for what makes `padding`: where GPUs have their own kernel of the
/// product behind it, they need none of these.
static void launchPadding(const ImagePadding &padding) {
  for (linalg::GenericOp made : padding.made) {
    Operation *behind = made->getNextNode(), *last = made->getPrevNode();
    Operation *next = behind;
    while (!isa<gpu::LaunchOp>(next))
      next = next->getNextNode();
    bool isOtherwise = spmd::contract::Otherwise::has(next);
    hoistRankValues(made);
    flattenIndices(made);
    launchParallel(made);
    for (Operation *op = last->getNextNode(); isOtherwise && op != behind;
         op = op->getNextNode())
      if (isa<gpu::LaunchOp>(op))
        spmd::contract::Otherwise::set(op);
  }
}

/// A kernel for `op` as a matrix product, if it is planned as one.
static bool launchProduct(linalg::GenericOp op, const Plan &plan) {
  auto found = plan.products.find(op);
  if (found == plan.products.end())
    return false;
  const Product &product = found->second;
  if (product.fusion.behind)
    hoistRankValues(product.fusion.behind);
  bool launched = launchOnTensorCores(op, product, plan.ways.own) ||
                  launchInRegisterTiles(op, product);
  assert(launched && "planned as a product");
  // From the last on: what is behind a kernel says what it is for.
  for (const Factor *factor : {&product.right, &product.left})
    if (factor->padding)
      launchPadding(*factor->padding);
  return launched;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

static void formKernels(Block &block, const Ways &ways);

/// Lets a library do `op`, planned as a product, and a kernel where it does
/// not. Returns false where none can.
static bool launchByLibrary(linalg::GenericOp op, const Plan &plan) {
  auto found = plan.products.find(op);
  if (plan.ways.libraries == LibraryUse::Generated ||
      found == plan.products.end())
    return false;
  linalg::GenericOp behind = found->second.fusion.behind;
  if (behind)
    hoistRankValues(behind);
  std::optional<LibraryPlan> chosen =
      callLibrary(op, found->second, plan.ways.libraries);
  if (!chosen)
    return false;
  OpBuilder b(op);
  auto branch = scf::IfOp::create(b, op.getLoc(), chosen->call.getDone(),
                                  /*withElseRegion=*/true);
  // The library has done the product, and that work has no kernel yet.
  if (behind && !chosen->takesBehind) {
    b.setInsertionPoint(branch.thenYield());
    b.clone(*behind);
    Ways own = plan.ways;
    own.libraries = LibraryUse::Generated;
    formKernels(*branch.thenBlock(), own);
  }
  op->moveBefore(branch.elseYield());
  launchProduct(op, plan);
  op.erase();
  return true;
}

static void formKernels(Block &block, const Ways &ways) {
  Plan plan;
  plan.ways = ways;
  planProducts(block, plan);
  auto isProduct = [&](Operation *op) {
    return plan.taken.contains(op) || plan.later.contains(op) ||
           plan.products.contains(op);
  };
  joinSiblingSums(block, isProduct);
  for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>()))
    if (!isProduct(op) && isParallel(op))
      foldFills(op);
  launchRowGroups(block, isProduct);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (plan.taken.contains(&op) || plan.later.contains(&op))
      continue;
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      hoistRankValues(generic);
      if (isParallel(generic)) {
        flattenIndices(generic);
        if (launchByLibrary(generic, plan))
          continue;
        if (launchProduct(generic, plan))
          generic.erase();
        else
          launchParallel(generic);
      } else {
        launchAlone(generic);
      }
    } else if (isa<memref::StoreOp>(op)) {
      launchAlone(&op);
    } else if (auto loop = dyn_cast<scf::ForOp>(op);
               loop && fitsInKernel(loop) && launchScatter(loop)) {
      continue;
    } else if (isAlgorithm(&op)) {
      launchAlgorithm(&op);
    } else if (!isa<gpu::LaunchOp>(op)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          formKernels(inner, ways);
    }
  }
  for (Operation *op : plan.taken)
    op->erase();
}

namespace {
struct FormGpuKernelsPass final
    : shardc::impl::FormGpuKernelsPassBase<FormGpuKernelsPass> {
  using Base::Base;
  void runOnOperation() override {
    std::optional<LibraryUse> use =
        llvm::StringSwitch<std::optional<LibraryUse>>(libraries)
            .Case("generated", LibraryUse::Generated)
            .Case("tcgen05", LibraryUse::OnTcgen05)
            .Case("auto", LibraryUse::Auto)
            .Case("library", LibraryUse::Library)
            .Default(std::nullopt);
    if (!use) {
      getOperation().emitError()
          << "libraries are \"" << libraries
          << "\", expected \"generated\", \"tcgen05\", \"auto\" or "
             "\"library\"";
      return signalPassFailure();
    }
    SmallVector<spmd::PairStepOp> steps;
    getOperation().walk([&](spmd::PairStepOp op) { steps.push_back(op); });
    for (spmd::PairStepOp step : steps) {
      if (*use != LibraryUse::Generated)
        callLibrary(step, *use, /*shortWeights=*/tf32);
      // What is before a library's call is not before its other branch.
      foldFills(step);
      if (failed(launchPairStep(step, {warpgroups, tensorMemory},
                                /*shortWeights=*/tf32)))
        return signalPassFailure();
    }
    SmallVector<spmd::LinesOp> lines;
    getOperation().walk([&](spmd::LinesOp op) { lines.push_back(op); });
    for (spmd::LinesOp op : lines)
      if (failed(launchLines(op)))
        return signalPassFailure();
    for (Block &block : getOperation().getBody())
      formKernels(block, {{warpgroups, tensorMemory}, tf32, *use});
  }
};
} // namespace
} // namespace shardc

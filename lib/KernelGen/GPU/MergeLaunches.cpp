//===- MergeLaunches.cpp - Launches that can be one -----------------------===//
//
// A step of training has hundreds of short kernels that do not depend on one
// another: an optimiser's updates, fills, casts, packing. A launch costs a
// microsecond, whatever is in it. Launches of which none touches what another
// one writes are one: the first blocks do the first one's work, the next ones
// the second's.
//
// A launch goes to the place of an earlier one, if nothing in between touches
// what it touches. Buffers that it is the first to write then live longer, so
// that large ones keep it near.
//
// Launches of one block that follow one another are one as well, whatever they
// touch: with a barrier between them.
//
// Barriers and shared memory cost the other launches registers and
// blocks: so such launches are one with others only where all of them together
// leave multiprocessors idle.
//
//===----------------------------------------------------------------------===//
#include "Effects.h"
#include "Launch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/KernelGen/GPU.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

namespace shardc {
#define GEN_PASS_DEF_MERGELAUNCHESPASS
#include "shardc/KernelGen/GpuPasses.h.inc"
} // namespace shardc

/// Ops of a block that are looked back at, and what one kernel may hold: words
/// of arguments (drivers take 512), launches, ops, declared shared memory.
/// [limit]
static constexpr size_t kMostSteps = 512, kMostWords = 480, kMostMembers = 128,
                        kMostOps = 8192;
static constexpr int64_t kMostShared = 32 << 10;
/// Threads of a block that does what several launches did. [shape]
static constexpr int64_t kChained = 256;
/// Bytes of buffers that may live longer for a launch's sake. [limit]
static constexpr int64_t kHeldBytes = 1 << 20;

namespace {
/// What a kernel takes.
struct Weight {
  size_t words = 0, ops = 0;
  int64_t threads = 0, shared = 0;
  std::optional<int64_t> blocks = 0; ///< nothing: not known
  /// Threads of a block, of launches with barriers; 0: there are none.
  int64_t barrierThreads = 0;

  Weight operator+(const Weight &other) const {
    Weight sum = *this;
    sum.words += other.words;
    sum.ops += other.ops;
    sum.threads = std::max(threads, other.threads);
    sum.shared += other.shared;
    sum.blocks = blocks && other.blocks
                     ? std::optional<int64_t>(*blocks + *other.blocks)
                     : std::nullopt;
    sum.barrierThreads = std::max(barrierThreads, other.barrierThreads);
    return sum;
  }
};

/// An op that touches buffers, in its block's order; a launch that goes to an
/// earlier one is of that one's group.
struct Step {
  Operation *op;
  Touched touched;           ///< by the group, of its first launch
  int64_t joined = -1;       ///< the step that it has gone to
  bool isPlain = false;      ///< a launch that may be one with others
  SmallVector<size_t> group; ///< steps, itself first
  Weight weight;             ///< of the group
};
} // namespace

/// True for a launch of one dim, of no particular GPU, that says all about
/// itself.
static bool isPlain(gpu::LaunchOp launch) {
  for (Value size : {launch.getGridSizeY(), launch.getGridSizeZ(),
                     launch.getBlockSizeY(), launch.getBlockSizeZ()})
    if (getConstantIntValue(size) != 1)
      return false;
  if (!getConstantIntValue(launch.getBlockSizeX()) ||
      !launch.getPrivateAttributions().empty() ||
      !launch.getBody().hasOneBlock() || launch->getNumResults() != 0 ||
      spmd::contract::Gpu::has(launch) ||
      spmd::contract::Otherwise::has(launch) ||
      spmd::contract::Persistent::has(launch))
    return false;
  WalkResult walked = launch.getBody().walk([](Operation *op) {
    bool isKnown =
        llvm::is_contained({"arith", "math", "memref", "vector", "scf",
                            "complex", "affine", "gpu", "nvvm", "llvm"},
                           op->getDialect()->getNamespace());
    return isKnown && !isa<memref::AllocaOp>(op) ? WalkResult::advance()
                                                 : WalkResult::interrupt();
  });
  return !walked.wasInterrupted();
}

/// Words of arguments that `launch` takes.
static size_t wordsOf(gpu::LaunchOp launch) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  size_t words = 2; // where its blocks begin, and how many there are
  for (size_t i = 0; i < captured.size(); ++i) {
    Operation *op = captured[i].getDefiningOp();
    if (op && op->hasTrait<OpTrait::ConstantLike>())
      continue;
    // Views are made in the kernel.
    if (op && isa<ViewLikeOpInterface>(op)) {
      captured.insert(op->operand_begin(), op->operand_end());
      continue;
    }
    ++words;
    auto type = dyn_cast<MemRefType>(captured[i].getType());
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (type && succeeded(type.getStridesAndOffset(strides, offset)))
      words += ShapedType::isDynamic(offset) +
               llvm::count_if(strides, ShapedType::isDynamic) +
               llvm::count_if(type.getShape(), ShapedType::isDynamic);
  }
  return words;
}

static Weight weightOf(gpu::LaunchOp launch) {
  Weight weight;
  weight.words = wordsOf(launch);
  weight.threads = *getConstantIntValue(launch.getBlockSizeX());
  weight.blocks = getConstantIntValue(launch.getGridSizeX());
  for (BlockArgument area : launch.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(area.getType());
    weight.shared += llvm::alignTo(
        type.getNumElements() * elementBytes(type.getElementType()), 128);
  }
  bool hasBarriers = weight.shared != 0;
  launch.getBody().walk([&](Operation *op) {
    ++weight.ops;
    hasBarriers |= llvm::is_contained({"gpu", "nvvm", "llvm"},
                                      op->getDialect()->getNamespace()) &&
                   !isa<gpu::TerminatorOp>(op);
  });
  weight.barrierThreads = hasBarriers ? weight.threads : 0;
  return weight;
}

/// True if one kernel may be of this weight.
static bool fits(const Weight &weight, int64_t multiprocessors) {
  if (weight.words > kMostWords || weight.ops > kMostOps)
    return false;
  return weight.barrierThreads == 0 ||
         (weight.barrierThreads == weight.threads &&
          weight.shared <= kMostShared && weight.blocks &&
          *weight.blocks <= multiprocessors);
}

//===----------------------------------------------------------------------===//
// Which
//===----------------------------------------------------------------------===//

namespace {
class Merger {
public:
  explicit Merger(Block &block) : block(block) {}
  void run();

private:
  /// Ops before `launch`, in its block, that its operands come from; those that
  /// may not be moved bound from below how early it may be.
  bool findSources(gpu::LaunchOp launch, Operation *&floor,
                   SmallVectorImpl<Operation *> &sources);
  /// Bytes that `step` is the first to write; nothing where not known.
  std::optional<int64_t> freshBytes(const Step &step);
  void place(size_t number);
  void emit(const Step &first);
  /// Makes one launch of those of one block that follow one another.
  void chain();
  bool follow(gpu::LaunchOp first, gpu::LaunchOp second, gpu::LaunchOp &made);

  Block &block;
  SmallVector<Step, 0> steps;
  llvm::DenseSet<Value> written;
};
} // namespace

bool Merger::findSources(gpu::LaunchOp launch, Operation *&floor,
                         SmallVectorImpl<Operation *> &sources) {
  floor = nullptr;
  llvm::SmallSetVector<Operation *, 16> found;
  auto add = [&](Value value) {
    if (Operation *op = value.getDefiningOp(); op && op->getBlock() == &block)
      found.insert(op);
  };
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  llvm::for_each(captured, add);
  llvm::for_each(launch->getOperands(), add);
  for (size_t i = 0; i < found.size(); ++i) {
    Operation *op = found[i];
    if (op->getNumRegions() == 0 &&
        (isMemoryEffectFree(op) || isa<memref::AllocOp>(op)))
      llvm::for_each(op->getOperands(), add);
    else if (!floor || floor->isBeforeInBlock(op))
      floor = op;
    if (found.size() > kMostSteps)
      return false;
  }
  for (Operation *op : found)
    if (op->getNumRegions() == 0 &&
        (isMemoryEffectFree(op) || isa<memref::AllocOp>(op)))
      sources.push_back(op);
  llvm::sort(sources,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return true;
}

std::optional<int64_t> Merger::freshBytes(const Step &step) {
  int64_t bytes = 0;
  llvm::SmallDenseSet<Value, 4> seen;
  for (const Place &place : step.touched.writes) {
    Value root = place.root;
    if (!seen.insert(root).second || !root.getDefiningOp<memref::AllocOp>() ||
        written.contains(root))
      continue;
    auto type = cast<MemRefType>(root.getType());
    if (!type.hasStaticShape())
      return std::nullopt;
    bytes += type.getNumElements() * elementBytes(type.getElementType());
  }
  return bytes;
}

/// Finds the earliest launch that this one can be one with.
void Merger::place(size_t number) {
  Step &step = steps[number];
  auto launch = cast<gpu::LaunchOp>(step.op);
  step.group = {number};
  step.weight = weightOf(launch);
  int64_t multiprocessors = blocksOfGpu(launch);
  Operation *floor = nullptr;
  SmallVector<Operation *> sources;
  if (!findSources(launch, floor, sources))
    return;
  std::optional<int64_t> fresh = freshBytes(step);
  bool isNear = !fresh || *fresh > kHeldBytes;
  int64_t best = -1;
  for (size_t i = number; i-- > 0 && number - i <= kMostSteps;) {
    Step &other = steps[i];
    if (other.joined >= 0)
      continue;
    if ((floor && !floor->isBeforeInBlock(other.op)) ||
        conflict(step.touched, other.touched))
      break;
    bool sameBarrier =
        step.weight.barrierThreads == 0 || other.weight.barrierThreads == 0 ||
        step.weight.barrierThreads == other.weight.barrierThreads;
    if (other.isPlain && other.group.size() < kMostMembers && sameBarrier &&
        fits(other.weight + step.weight, multiprocessors))
      best = static_cast<int64_t>(i);
    else if (isNear)
      break;
  }
  if (best < 0)
    return;
  Step &first = steps[best];
  for (Operation *source : sources)
    if (first.op->isBeforeInBlock(source))
      source->moveBefore(first.op);
  step.joined = best;
  first.group.push_back(number);
  first.touched.add(step.touched);
  first.weight = first.weight + step.weight;
}

//===----------------------------------------------------------------------===//
// One launch of several
//===----------------------------------------------------------------------===//

/// Emits the body of `launch` for the block and thread numbers given.
static void emitBody(OpBuilder &b, gpu::LaunchOp launch, Value block,
                     Value thread) {
  Location loc = launch.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  auto replace = [](gpu::KernelDim3 dims, Value x, Value y, Value z) {
    dims.x.replaceAllUsesWith(x);
    dims.y.replaceAllUsesWith(y);
    dims.z.replaceAllUsesWith(z);
  };
  replace(launch.getBlockIds(), block, zero, zero);
  replace(launch.getThreadIds(), thread, zero, zero);
  replace(launch.getGridSize(), launch.getGridSizeX(), launch.getGridSizeY(),
          launch.getGridSizeZ());
  replace(launch.getBlockSize(), launch.getBlockSizeX(), launch.getBlockSizeY(),
          launch.getBlockSizeZ());
  Block &body = launch.getBody().front();
  body.getTerminator()->erase();
  b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(),
                                                body.getOperations());
}

/// Ends part `number` unlike the others, so that LLVM does not do in common
/// what all end with, such as stores of all their sums: each of those addresses
/// would be in a register from end to end of every part.
static void endPart(OpBuilder &b, Location loc, size_t number) {
  LLVM::InlineAsmOp::create(
      b, loc, TypeRange(), ValueRange(),
      (llvm::Twine(kEmptyAssembly) + llvm::Twine(number)).str(),
      /*constraints=*/"", /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr,
      /*operand_attrs=*/nullptr);
}

void Merger::emit(const Step &first) {
  SmallVector<gpu::LaunchOp> launches;
  SmallVector<Location> locations;
  int64_t threads = 0;
  for (size_t number : first.group) {
    auto launch = cast<gpu::LaunchOp>(steps[number].op);
    launches.push_back(launch);
    locations.push_back(launch.getLoc());
    threads = std::max(threads, *getConstantIntValue(launch.getBlockSizeX()));
  }
  MLIRContext *ctx = block.front().getContext();
  // Its parts have names of their own.
  Location loc =
      FusedLoc::get(locations, StringAttr::get(ctx, "launches"), ctx);
  OpBuilder b(first.op);
  SmallVector<Value> areas;
  SmallVector<Value> starts = {arith::ConstantIndexOp::create(b, loc, 0)};
  for (gpu::LaunchOp launch : launches)
    starts.push_back(b.createOrFold<arith::AddIOp>(loc, starts.back(),
                                                   launch.getGridSizeX()));
  gpu::LaunchOp merged = beginLaunch(b, loc, starts.back(), threads);
  for (gpu::LaunchOp launch : launches)
    for (BlockArgument area : launch.getWorkgroupAttributions())
      areas.push_back(
          merged.addWorkgroupAttribution(area.getType(), area.getLoc()));
  Value block = merged.getBlockIds().x, thread = merged.getThreadIds().x;
  size_t moved = 0;
  for (gpu::LaunchOp launch : launches)
    for (BlockArgument area : launch.getWorkgroupAttributions())
      area.replaceAllUsesWith(areas[moved++]);
  // The one that a block is of is found by halves.
  std::function<void(size_t, size_t)> between = [&](size_t low, size_t high) {
    OpBuilder::InsertionGuard guard(b);
    if (high - low > 1) {
      size_t middle = (low + high) / 2;
      Value isLow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          block, starts[middle]);
      auto branch = scf::IfOp::create(b, loc, isLow, /*withElseRegion=*/true);
      b.setInsertionPoint(branch.thenBlock(), branch.thenBlock()->begin());
      between(low, middle);
      b.setInsertionPoint(branch.elseBlock(), branch.elseBlock()->begin());
      return between(middle, high);
    }
    gpu::LaunchOp launch = launches[low];
    Value own = b.createOrFold<arith::SubIOp>(loc, block, starts[low]);
    if (getConstantIntValue(launch.getBlockSizeX()) != threads) {
      Value isThread = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                             thread, launch.getBlockSizeX());
      auto branch =
          scf::IfOp::create(b, loc, isThread, /*withElseRegion=*/false);
      b.setInsertionPoint(branch.thenBlock(), branch.thenBlock()->begin());
    }
    emitBody(b, launch, own, thread);
    if (first.weight.barrierThreads != 0)
      endPart(b, launch.getLoc(), low);
  };
  between(0, launches.size());
  for (gpu::LaunchOp launch : launches)
    launch.erase();
}

void Merger::run() {
  for (Operation &op : block.without_terminator()) {
    Step step;
    step.op = &op;
    step.touched = touchedBy(&op);
    auto launch = dyn_cast<gpu::LaunchOp>(op);
    step.isPlain = launch && isPlain(launch);
    if (!step.touched.isNone() || launch)
      steps.push_back(std::move(step));
  }
  // Ops move while they are looked at; steps keep their order.
  for (size_t number = 0; number < steps.size(); ++number) {
    if (steps[number].isPlain)
      place(number);
    for (const Place &place : steps[number].touched.writes)
      written.insert(place.root);
  }
  for (const Step &step : steps)
    if (step.joined < 0 && step.group.size() > 1)
      emit(step);
  chain();
}

//===----------------------------------------------------------------------===//
// One launch of several that depend on one another
//===----------------------------------------------------------------------===//

bool Merger::follow(gpu::LaunchOp first, gpu::LaunchOp second,
                    gpu::LaunchOp &made) {
  Weight ofFirst = weightOf(first), ofSecond = weightOf(second);
  Weight weight = ofFirst + ofSecond;
  // As many threads as those with barriers have: a reduction is likely next.
  if (weight.barrierThreads == 0)
    weight.threads = std::max(weight.threads, kChained);
  for (const Weight &own : {ofFirst, ofSecond})
    if (own.barrierThreads != 0 && own.barrierThreads != weight.threads)
      return false;
  if (!fits(weight, /*multiprocessors=*/2))
    return false;
  MLIRContext *ctx = block.front().getContext();
  Location loc = FusedLoc::get({first.getLoc(), second.getLoc()},
                               StringAttr::get(ctx, "launches"), ctx);
  OpBuilder b(second);
  made = beginLaunch(b, loc, arith::ConstantIndexOp::create(b, loc, 1),
                     weight.threads);
  Value number = made.getBlockIds().x, thread = made.getThreadIds().x;
  for (gpu::LaunchOp launch : {first, second}) {
    for (BlockArgument area : launch.getWorkgroupAttributions())
      area.replaceAllUsesWith(
          made.addWorkgroupAttribution(area.getType(), area.getLoc()));
    if (launch == second)
      gpu::BarrierOp::create(b, loc);
    OpBuilder::InsertionGuard guard(b);
    if (getConstantIntValue(launch.getBlockSizeX()) != weight.threads) {
      Value isThread = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                             thread, launch.getBlockSizeX());
      auto branch = scf::IfOp::create(b, loc, isThread, false);
      b.setInsertionPoint(branch.thenBlock(), branch.thenBlock()->begin());
    }
    emitBody(b, launch, number, thread);
  }
  first.erase();
  second.erase();
  return true;
}

void Merger::chain() {
  // The first goes down to the second, over what does not care.
  gpu::LaunchOp last;
  Touched touched;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto launch = dyn_cast<gpu::LaunchOp>(op);
    bool isSmall = launch && isPlain(launch) &&
                   getConstantIntValue(launch.getGridSizeX()) == 1;
    Touched own = touchedBy(&op);
    gpu::LaunchOp made;
    if (isSmall && last && follow(last, launch, made)) {
      last = made;
      touched.add(own);
    } else if (isSmall) {
      last = launch;
      touched = std::move(own);
    } else if (conflict(touched, own)) {
      last = {};
    }
  }
}

namespace {
struct MergeLaunchesPass final
    : shardc::impl::MergeLaunchesPassBase<MergeLaunchesPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::LaunchOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (!block.getOps<gpu::LaunchOp>().empty())
            blocks.push_back(&block);
      return WalkResult::advance();
    });
    for (Block *inner : blocks)
      Merger(*inner).run();
  }
};
} // namespace

//===- Reductions.cpp - Reductions that threads share ---------------------===//
//
// Where elements of one result are side by side, neighbouring threads share it:
// a block, or a warp where results are many. Where results are side by side, a
// lane has one, and warps share its elements. Where blocks would be few,
// several of them share a result, and a second kernel combines what they have,
// in order.
//
//===----------------------------------------------------------------------===//
#include "Points.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "shardc/Support/IndexBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// From an element for each of a warp's threads on, threads share a result ...
static constexpr int64_t kShared = kWarp;
/// ... and from two for each of a block's on a block does, if results are no
/// more than half of a block's threads for each block that keeps the GPU busy:
/// of more each has a thread, and these are threads enough. [shape]
static constexpr int64_t kLong = 2 * kBlock, kFewResults = kBlock / 2;
/// Elements that a thread has for itself, at least, if results are split.
/// [shape]
static constexpr int64_t kLeastOwn = 8;
static constexpr int64_t kWarps = kBlock / kWarp;

SmallVector<Operation *> gpukernels::combinersOf(linalg::GenericOp op) {
  SmallVector<Operation *> combiners;
  for (unsigned i : llvm::seq<unsigned>(op.getNumDpsInits())) {
    Operation *combiner = combinerOf(op, i);
    if (!combiner || combiner->getNumOperands() != 2 ||
        !spmd::neutralElement(combiner) ||
        !canShuffle(combiner->getResult(0).getType()))
      return {};
    combiners.push_back(combiner);
  }
  return combiners;
}

bool gpukernels::readsAlongReduction(linalg::GenericOp op) {
  AffineMap most;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (isa<MemRefType>(input->get().getType()) &&
        (!most || map.getNumResults() > most.getNumResults()))
      most = map;
  }
  return most && most.getNumResults() > 0 &&
         llvm::any_of(llvm::seq<unsigned>(0, op.getNumLoops()),
                      [&](unsigned dim) {
                        return op.getIteratorTypesArray()[dim] ==
                                   utils::IteratorType::reduction &&
                               most.getResults().back().isFunctionOfDim(dim);
                      });
}

namespace {
/// Who has which elements of which results.
enum class Cut { BlockEach, WarpEach, LaneEach };

class ReductionKernel : IndexBuilder {
public:
  ReductionKernel(OpBuilder &b, linalg::GenericOp op)
      : IndexBuilder(b, op.getLoc()), op(op), dims(b, op), emitter(b, op),
        combiners(combinersOf(op)), manyBlocks(blocksOfGpu(op)) {}
  bool emit();

private:
  Value isFirst(Value x) { return equal(x, index(0)); }
  Value combine(unsigned output, Value left, Value right) {
    Operation *copy = b.clone(*combiners[output]);
    copy->setOperands({left, right});
    return copy->getResult(0);
  }
  /// Emits `body` where `condition` holds.
  void when(Value condition, llvm::function_ref<void()> body) {
    auto branch = scf::IfOp::create(b, loc, condition, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }
  std::optional<Cut> choose();
  Value countSplits();
  Value combineInWarp(unsigned output, Value value, int64_t lanes);
  void combineInBlock();
  void combineInLanes();
  void store(Value point, Value split);
  void combineSplits();

  linalg::GenericOp op;
  Dims dims;
  PointEmitter emitter;
  SmallVector<Operation *> combiners;
  int64_t manyBlocks;
  /// How many results begin in a block, and threads that share one of them.
  int64_t perBlock = 1, members = kBlock;
  /// Blocks that share a result, at most; not where one does in any case.
  int64_t mostSplits = 1;
  Value thread, lane, warp, points, elements, pointBlocks, splits;
  SmallVector<Value> values, areas, scratch;
};
} // namespace

std::optional<Cut> ReductionKernel::choose() {
  // Of sizes that are not known the longer ones matter.
  bool isLong = ShapedType::isDynamic(dims.elements),
       isMany = ShapedType::isDynamic(dims.points);
  if (combiners.empty() || dims.reductions.empty() || dims.points == 0 ||
      (!isLong && dims.elements < kShared))
    return std::nullopt;
  bool isFew = !isMany && dims.points <= kFewResults * manyBlocks;
  Cut cut = Cut::LaneEach;
  if (readsAlongReduction(op))
    cut = (isLong || dims.elements >= kLong) && (isFew || (isMany && !isLong))
              ? Cut::BlockEach
              : Cut::WarpEach;
  else if (!isMany && !isFew)
    return std::nullopt; // threads enough, side by side
  perBlock = cut == Cut::BlockEach ? 1 : cut == Cut::WarpEach ? kWarps : kWarp;
  members = kBlock / perBlock;
  int64_t own = members * kLeastOwn;
  if (!isMany)
    mostSplits = std::max<int64_t>(
        manyBlocks / llvm::divideCeil(dims.points, perBlock), 1);
  else
    mostSplits = manyBlocks;
  if (!isLong)
    mostSplits = std::clamp<int64_t>(dims.elements / own, 1, mostSplits);
  return cut;
}

/// How many blocks share a result: enough to keep a GPU busy, as long as each
/// thread has something to do.
Value ReductionKernel::countSplits() {
  if (mostSplits == 1 || (ShapedType::isStatic(dims.points) &&
                          ShapedType::isStatic(dims.elements)))
    return index(mostSplits);
  Value worth = div(elements, members * kLeastOwn);
  Value one = index(1);
  Value blocks = arith::MaxUIOp::create(b, loc, pointBlocks, one);
  Value most = arith::DivUIOp::create(b, loc, index(manyBlocks), blocks);
  Value fewer = arith::MinUIOp::create(b, loc, worth, most);
  return arith::MaxUIOp::create(b, loc, fewer, one);
}

/// `value` combined over the lanes of a warp, in its first lane at least. Only
/// `lanes` of them (a power of two) have something to say.
Value ReductionKernel::combineInWarp(unsigned output, Value value,
                                     int64_t lanes) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    Value other = shuffle(b, loc, value, distance, gpu::ShuffleMode::XOR);
    value = combine(output, value, other);
  }
  return value;
}

/// Values of all threads, combined into the first thread's.
void ReductionKernel::combineInBlock() {
  for (unsigned i : llvm::seq<unsigned>(values.size())) {
    values[i] = combineInWarp(i, values[i], kWarp);
    when(isFirst(lane),
         [&] { memref::StoreOp::create(b, loc, values[i], areas[i], warp); });
  }
  gpu::BarrierOp::create(b, loc);
  for (unsigned i : llvm::seq<unsigned>(values.size())) {
    // All warps do what the first one needs.
    values[i] = memref::LoadOp::create(b, loc, areas[i], rem(thread, kWarps));
    values[i] = combineInWarp(i, values[i], kWarps);
  }
}

/// Values of the same lane of all warps, combined into the first warp's.
void ReductionKernel::combineInLanes() {
  for (unsigned i : llvm::seq<unsigned>(values.size()))
    memref::StoreOp::create(b, loc, values[i], areas[i], thread);
  gpu::BarrierOp::create(b, loc);
  for (unsigned i : llvm::seq<unsigned>(values.size())) {
    values[i] = memref::LoadOp::create(b, loc, areas[i], lane);
    for (int64_t other = 1; other < kWarps; ++other)
      values[i] =
          combine(i, values[i],
                  memref::LoadOp::create(b, loc, areas[i],
                                         add(lane, index(other * kWarp))));
  }
}

/// Stores a thread's values as the result of `point`, or as a part of it.
void ReductionKernel::store(Value point, Value split) {
  auto whole = [&] {
    for (auto [i, output] : llvm::enumerate(op.getDpsInitsMutable())) {
      Value start = emitter.loadOutput(output);
      emitter.storeOutput(output, combine(i, start, values[i]));
    }
  };
  if (mostSplits == 1)
    return whole();
  auto part = [&] {
    Value spot = add(arith::MulIOp::create(b, loc, split, points), point);
    for (unsigned i : llvm::seq<unsigned>(values.size()))
      memref::StoreOp::create(b, loc, values[i], scratch[i], spot);
  };
  if (getConstantIntValue(splits))
    return part();
  Value alone = equal(splits, index(1));
  auto branch = scf::IfOp::create(b, loc, alone, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  whole();
  b.setInsertionPointToStart(branch.elseBlock());
  part();
}

void ReductionKernel::combineSplits() {
  Value count = points;
  if (!getConstantIntValue(splits)) {
    // Without parts there is nothing to do, and no block.
    Value alone = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        splits, index(1));
    count = arith::SelectOp::create(b, loc, alone, index(0), points);
  }
  Value point = beginLaunchOf(b, loc, count, kBlock);
  dims.place(b, loc, emitter, dims.parallel, point);
  for (auto [i, output] : llvm::enumerate(op.getDpsInitsMutable())) {
    Value start = emitter.loadOutput(output);
    auto loop = scf::ForOp::create(b, loc, index(0), splits, index(1),
                                   ValueRange(start));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(loop.getBody());
      Value spot = add(
          arith::MulIOp::create(b, loc, loop.getInductionVar(), points), point);
      Value part = memref::LoadOp::create(b, loc, scratch[i], spot);
      scf::YieldOp::create(b, loc, combine(i, loop.getRegionIterArg(0), part));
    }
    emitter.storeOutput(output, loop.getResult(0));
  }
}

bool ReductionKernel::emit() {
  std::optional<Cut> chosen = choose();
  if (!chosen)
    return false;
  Cut cut = *chosen;
  points = dims.count(b, loc, dims.parallel);
  elements = dims.count(b, loc, dims.reductions);
  pointBlocks = arith::CeilDivUIOp::create(b, loc, points, index(perBlock));
  splits = countSplits();
  if (mostSplits > 1) {
    bool isKnown = ShapedType::isStatic(dims.points);
    SmallVector<Value> size;
    if (!isKnown)
      size.push_back(
          arith::MaxUIOp::create(b, loc, points, index(manyBlocks * perBlock)));
    for (Operation *combiner : combiners)
      scratch.push_back(memref::AllocOp::create(
          b, loc,
          MemRefType::get(
              {isKnown ? mostSplits * dims.points : ShapedType::kDynamic},
              combiner->getResult(0).getType()),
          size));
  }
  OpBuilder::InsertPoint behind = b.saveInsertionPoint();
  gpu::LaunchOp launch =
      beginLaunch(b, loc, product(b, loc, {pointBlocks, splits}), kBlock);
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  for (unsigned i : llvm::seq<unsigned>(combiners.size())) {
    if (cut == Cut::WarpEach)
      break;
    auto area = MemRefType::get({cut == Cut::BlockEach ? kWarps : kBlock},
                                combiners[i]->getResult(0).getType(),
                                MemRefLayoutAttrInterface(), shared);
    areas.push_back(launch.addWorkgroupAttribution(area, loc));
  }
  thread = launch.getThreadIds().x;
  lane = rem(thread, kWarp);
  warp = div(thread, kWarp);
  Value block = launch.getBlockIds().x;
  Value split = arith::DivUIOp::create(b, loc, block, pointBlocks);
  block = arith::RemUIOp::create(b, loc, block, pointBlocks);
  Value own = cut == Cut::BlockEach  ? index(0)
              : cut == Cut::WarpEach ? warp
                                     : lane;
  Value member = cut == Cut::BlockEach  ? thread
                 : cut == Cut::WarpEach ? lane
                                        : warp;
  Value point = add(mul(block, perBlock), own);
  Value inside = less(point, points), last = elements, at = point;
  if (ShapedType::isDynamic(dims.points) || dims.points % perBlock != 0) {
    last = arith::SelectOp::create(b, loc, inside, elements, index(0));
    at = arith::SelectOp::create(b, loc, inside, point, index(0));
  }
  dims.place(b, loc, emitter, dims.parallel, at);
  SmallVector<Value> neutral;
  for (Operation *combiner : combiners)
    neutral.push_back(
        arith::ConstantOp::create(b, loc, spmd::neutralElement(combiner)));
  auto loop = scf::ForOp::create(b, loc, add(mul(split, members), member), last,
                                 mul(splits, members), neutral);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    dims.place(b, loc, emitter, dims.reductions, loop.getInductionVar());
    SmallVector<Value> next =
        emitter.body(llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
    scf::YieldOp::create(b, loc, next);
  }
  values = llvm::to_vector_of<Value>(loop.getResults());
  if (cut == Cut::BlockEach) {
    combineInBlock();
  } else if (cut == Cut::LaneEach) {
    combineInLanes();
  } else {
    for (unsigned i : llvm::seq<unsigned>(values.size()))
      values[i] = combineInWarp(i, values[i], kWarp);
  }
  Value stores = arith::AndIOp::create(b, loc, inside, isFirst(member));
  when(stores, [&] { store(point, split); });
  if (mostSplits > 1) {
    b.restoreInsertionPoint(behind);
    combineSplits();
  }
  return true;
}

bool gpukernels::launchReductions(linalg::GenericOp op) {
  OpBuilder b(op);
  return ReductionKernel(b, op).emit();
}

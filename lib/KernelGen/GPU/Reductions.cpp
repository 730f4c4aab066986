//===- Reductions.cpp - Reductions that threads share ---------------------===//
//
// Where elements of one result lie side by side, neighbouring threads share it:
// a block, or a warp where results are many. Where results lie side by side, a
// lane has one, and warps share its elements. Where blocks would be few,
// several of them share a result, and a second kernel combines what they have,
// in order.
//
//===----------------------------------------------------------------------===//
#include "Points.h"
#include "shardc/KernelGen/Common.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// From so many elements of a result on, threads share it ...
static constexpr int64_t kShared = 32;
/// ... and from so many on a block does, if results are no more than these.
static constexpr int64_t kLong = 512, kFewResults = 16384;
/// Blocks that keep a GPU busy.
static constexpr int64_t kManyBlocks = 128;
/// Elements that a thread has for itself, at least, if results are split.
static constexpr int64_t kLeastOwn = 8;
static constexpr int64_t kWarps = kBlock / kWarp;

/// The ops that combine elements of `op`'s outputs, if their order does not
/// matter and each has a neutral element; else nothing.
static SmallVector<Operation *> combinersOf(linalg::GenericOp op) {
  SmallVector<Operation *> combiners;
  for (unsigned i : llvm::seq<unsigned>(op.getNumDpsInits())) {
    Operation *combiner = combinerOf(op, i);
    if (!combiner || combiner->getNumOperands() != 2 ||
        !arith::getNeutralElement(combiner) ||
        !combiner->getResult(0).getType().isIntOrFloat())
      return {};
    combiners.push_back(combiner);
  }
  return combiners;
}

/// True if neighbours in memory, in the input of the most dims, are elements of
/// one result.
static bool liesAlongReduction(linalg::GenericOp op, const Dims &dims) {
  AffineMap most;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (isa<MemRefType>(input->get().getType()) &&
        (!most || map.getNumResults() > most.getNumResults()))
      most = map;
  }
  return most && most.getNumResults() > 0 &&
         llvm::any_of(dims.reductions, [&](unsigned dim) {
           return most.getResults().back().isFunctionOfDim(dim);
         });
}

namespace {
/// Who has which elements of which results.
enum class Cut { BlockEach, WarpEach, LaneEach };

class ReductionKernel {
public:
  explicit ReductionKernel(linalg::GenericOp op)
      : op(op), b(op), loc(op.getLoc()), dims(b, op), emitter(b, op),
        combiners(combinersOf(op)) {}
  bool emit();

private:
  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(b, loc, number);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(b, loc, x, index(y));
  }
  Value div(Value x, int64_t y) {
    return arith::DivUIOp::create(b, loc, x, index(y));
  }
  Value rem(Value x, int64_t y) {
    return arith::RemUIOp::create(b, loc, x, index(y));
  }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, y);
  }
  Value isFirst(Value x) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, index(0));
  }
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
  bool canShuffle(unsigned output) {
    Type type = combiners[output]->getResult(0).getType();
    return type.isF32() || type.isInteger(32);
  }
  std::optional<Cut> choose();
  Value combineInWarp(unsigned output, Value value, int64_t lanes);
  void combineInBlock();
  void combineInLanes();
  void store(Value point, Value split);
  void combineSplits(Value points);

  linalg::GenericOp op;
  OpBuilder b;
  Location loc;
  Dims dims;
  PointEmitter emitter;
  SmallVector<Operation *> combiners;
  int64_t splits = 1;
  Value thread, lane, warp, points;
  SmallVector<Value> values, areas, scratch;
};
} // namespace

std::optional<Cut> ReductionKernel::choose() {
  if (combiners.empty() || dims.reductions.empty() ||
      ShapedType::isDynamic(dims.points) ||
      ShapedType::isDynamic(dims.elements) || dims.points == 0 ||
      dims.elements < kShared)
    return std::nullopt;
  bool isFew = dims.points <= kFewResults;
  Cut cut = Cut::LaneEach;
  if (liesAlongReduction(op, dims)) {
    cut = dims.elements >= kLong && isFew ? Cut::BlockEach : Cut::WarpEach;
    for (unsigned i : llvm::seq<unsigned>(combiners.size()))
      if (cut == Cut::WarpEach && !canShuffle(i))
        return std::nullopt;
  } else if (!isFew) {
    return std::nullopt; // threads enough, side by side
  }
  int64_t perBlock = cut == Cut::BlockEach  ? 1
                     : cut == Cut::WarpEach ? kWarps
                                            : kWarp;
  int64_t blocks = llvm::divideCeil(dims.points, perBlock);
  splits = std::clamp<int64_t>(dims.elements / (kBlock / perBlock * kLeastOwn),
                               1, std::max<int64_t>(kManyBlocks / blocks, 1));
  return cut;
}

/// `value` combined over the lanes of a warp, in its first lane at least. Only
/// `lanes` of them (a power of two) have something to say.
Value ReductionKernel::combineInWarp(unsigned output, Value value,
                                     int64_t lanes) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    auto shuffled = gpu::ShuffleOp::create(b, loc, value, distance, kWarp,
                                           gpu::ShuffleMode::XOR);
    value = combine(output, value, shuffled.getShuffleResult());
  }
  return value;
}

/// Values of all threads, combined into the first thread's.
void ReductionKernel::combineInBlock() {
  for (unsigned i : llvm::seq<unsigned>(values.size())) {
    if (!canShuffle(i)) {
      memref::StoreOp::create(b, loc, values[i], areas[i], thread);
      continue;
    }
    values[i] = combineInWarp(i, values[i], kWarp);
    when(isFirst(lane),
         [&] { memref::StoreOp::create(b, loc, values[i], areas[i], warp); });
  }
  gpu::BarrierOp::create(b, loc);
  for (int64_t half = kBlock / 2; half > 0; half /= 2) {
    bool any = false;
    for (unsigned i : llvm::seq<unsigned>(values.size())) {
      if (canShuffle(i))
        continue;
      any = true;
      when(less(thread, index(half)), [&] {
        Value mine = memref::LoadOp::create(b, loc, areas[i], thread);
        Value theirs =
            memref::LoadOp::create(b, loc, areas[i], add(thread, index(half)));
        memref::StoreOp::create(b, loc, combine(i, mine, theirs), areas[i],
                                thread);
      });
    }
    if (any)
      gpu::BarrierOp::create(b, loc);
  }
  for (unsigned i : llvm::seq<unsigned>(values.size())) {
    if (!canShuffle(i)) {
      values[i] = memref::LoadOp::create(b, loc, areas[i], index(0));
      continue;
    }
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
  for (auto [i, output] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (splits > 1) {
      Value spot = add(arith::MulIOp::create(b, loc, split, points), point);
      memref::StoreOp::create(b, loc, values[i], scratch[i], spot);
      continue;
    }
    Value start = emitter.loadOutput(output);
    emitter.storeOutput(output, combine(i, start, values[i]));
  }
}

void ReductionKernel::combineSplits(Value points) {
  Value point = beginLaunchOf(b, loc, points, kBlock);
  dims.place(b, loc, emitter, dims.parallel, point);
  for (auto [i, output] : llvm::enumerate(op.getDpsInitsMutable())) {
    Value start = emitter.loadOutput(output);
    auto loop = scf::ForOp::create(b, loc, index(0), index(splits), index(1),
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
  int64_t perBlock = cut == Cut::BlockEach  ? 1
                     : cut == Cut::WarpEach ? kWarps
                                            : kWarp;
  int64_t members = kBlock / perBlock;
  points = dims.count(b, loc, dims.parallel);
  Value elements = dims.count(b, loc, dims.reductions);
  Value pointBlocks =
      arith::CeilDivUIOp::create(b, loc, points, index(perBlock));
  if (splits > 1)
    for (Operation *combiner : combiners)
      scratch.push_back(memref::AllocOp::create(
          b, loc,
          MemRefType::get({splits * dims.points},
                          combiner->getResult(0).getType())));
  OpBuilder::InsertPoint behind = b.saveInsertionPoint();
  gpu::LaunchOp launch = beginLaunch(
      b, loc, product(b, loc, {pointBlocks, index(splits)}), kBlock);
  auto shared =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  for (unsigned i : llvm::seq<unsigned>(combiners.size())) {
    if (cut == Cut::WarpEach)
      break;
    bool byWarp = cut == Cut::BlockEach && canShuffle(i);
    auto area = MemRefType::get({byWarp ? kWarps : kBlock},
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
  if (dims.points % perBlock != 0) {
    last = arith::SelectOp::create(b, loc, inside, elements, index(0));
    at = arith::SelectOp::create(b, loc, inside, point, index(0));
  }
  dims.place(b, loc, emitter, dims.parallel, at);
  SmallVector<Value> neutral;
  for (Operation *combiner : combiners)
    neutral.push_back(
        arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner)));
  auto loop = scf::ForOp::create(b, loc, add(mul(split, members), member), last,
                                 index(members * splits), neutral);
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
  if (splits > 1) {
    b.restoreInsertionPoint(behind);
    combineSplits(points);
  }
  return true;
}

bool gpukernels::launchReductions(linalg::GenericOp op) {
  return ReductionKernel(op).emit();
}

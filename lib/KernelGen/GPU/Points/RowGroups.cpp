//===- RowGroups.cpp - Ops on the same rows, in one kernel ----------------===//
//
// A normalisation is reductions of rows and work on elements that reads them.
// Where ops follow one another and each touches, of all that another one of
// them writes, its own row alone, a block (or a warp) does all of them for a
// row: there is a barrier between them, and what one has read or written the
// next one finds in the multiprocessor's cache.
//
//===----------------------------------------------------------------------===//
#include "../Effects.h"
#include "Points.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Elements of a row that are worth a warp, and that stay in a cache. [shape]
static constexpr int64_t kLeastElements = 32, kMostElements = 16384;
/// Up to this many elements a row is a warp's; up to the second if rows are as
/// many as warps of the blocks that keep the GPU busy. [shape]
static constexpr int64_t kWarpRow = 256, kLongWarpRow = 1024;
static constexpr int64_t kWarps = kBlock / kWarp;
/// Ops of other kernels among those of a group, in each direction. [limit]
static constexpr int64_t kMostPassed = 32;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {
/// What a size is: a number (no value), a value (-1), or a dim of a buffer.
struct Size {
  Value value;
  int64_t number;
  bool operator==(const Size &other) const {
    return value == other.value && number == other.number;
  }
};
} // namespace

static Size sizeOf(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return {Value(), type.getDimSize(dim)};
  if (auto cast = memref.getDefiningOp<memref::CastOp>())
    return sizeOf(cast.getSource(), dim);
  auto alloc = memref.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return {memref, dim};
  Value size = alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)];
  if (auto asked = size.getDefiningOp<memref::DimOp>())
    if (std::optional<int64_t> number = asked.getConstantIndex())
      return sizeOf(asked.getSource(), *number);
  return {size, -1};
}

/// What is known of the sizes of the loops of `op`: operands say the same in
/// several ways.
static SmallVector<SmallVector<Size>> sizesOf(linalg::GenericOp op) {
  SmallVector<SmallVector<Size>> sizes(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    for (auto [i, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        sizes[dim.getPosition()].push_back(sizeOf(operand.get(), i));
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {
/// How an op touches a buffer: the subscripts that its rows are, -1 for those
/// that are none.
struct Access {
  Value memref;
  SmallVector<int64_t> rows;
  bool writes;
};

/// An op of a group: its dims that are rows, and those along a row.
struct Member {
  linalg::GenericOp op;
  SmallVector<unsigned> rows, along, single; ///< single: of one element
  int64_t elements = 1;
  SmallVector<Operation *> combiners; ///< of a reduction
  bool reduces() const { return !combiners.empty(); }
  /// Whether the first thread of a row does it.
  bool isSingle() const { return along.empty(); }
};

class RowGroup {
public:
  /// Takes `op`, a reduction, and what belongs to it before and after.
  bool find(linalg::GenericOp op,
            llvm::function_ref<bool(Operation *)> isTaken);
  void noteOps(llvm::DenseSet<Operation *> &ops) const {
    for (const Member &member : members)
      ops.insert(member.op);
  }
  /// Makes the kernel; the ops are gone then.
  void emit();

private:
  bool add(linalg::GenericOp op, bool inFront);
  void lookBack(linalg::GenericOp op,
                llvm::function_ref<bool(Operation *)> isTaken);
  void lookAhead(linalg::GenericOp op,
                 llvm::function_ref<bool(Operation *)> isTaken);
  bool note(const Member &member, SmallVectorImpl<Access> &accesses);
  void emitMember(OpBuilder &b, const Member &member, const Dims &dims,
                  ArrayRef<Value> areas);

  SmallVector<Member, 0> members;
  /// What is known of each row dim's size.
  SmallVector<SmallVector<Size>> rowSizes;
  int64_t rows = 1;                              ///< dynamic where not known
  DenseMap<Value, SmallVector<Access>> accesses; ///< by root
  // While the kernel is made:
  int64_t threads = kBlock; ///< of a row
  Value row, isRow, own, isFirst, lane, warp;
};
} // namespace

/// Looks through reshapes that put in, or leave out, dims of one element: the
/// same buffer with the subscripts that it has before.
static void lookThrough(Access &access) {
  while (Operation *view = access.memref.getDefiningOp()) {
    bool collapses = isa<memref::CollapseShapeOp>(view);
    if (!collapses && !isa<memref::ExpandShapeOp>(view))
      return;
    auto groups =
        collapses
            ? cast<memref::CollapseShapeOp>(view).getReassociationIndices()
            : cast<memref::ExpandShapeOp>(view).getReassociationIndices();
    Value source = view->getOperand(0);
    Value wide = collapses ? source : access.memref;
    // Of each group the one dim that has more elements, or else the first.
    SmallVector<int64_t> own;
    for (ArrayRef<int64_t> group : groups) {
      int64_t found = -1;
      for (int64_t dim : group)
        if (cast<MemRefType>(wide.getType()).getDimSize(dim) != 1) {
          if (found >= 0)
            return;
          found = dim;
        }
      own.push_back(found >= 0 || group.empty() ? found : group.front());
    }
    SmallVector<int64_t> rows;
    for (int64_t at : access.rows) {
      if (at < 0) {
        rows.push_back(at);
      } else if (collapses) {
        rows.push_back(own[at]);
      } else {
        auto group = llvm::find(own, at);
        if (group == own.end())
          return;
        rows.push_back(std::distance(own.begin(), group));
      }
    }
    access.memref = source;
    access.rows = std::move(rows);
  }
}

/// Finds how `member` touches buffers; false where that is not said.
bool RowGroup::note(const Member &member, SmallVectorImpl<Access> &found) {
  linalg::GenericOp op = member.op;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    Access access{operand.get(), {}, op.isDpsInit(&operand)};
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned dim : member.rows) {
      int64_t at = -1;
      for (auto [i, expr] : llvm::enumerate(map.getResults()))
        if (expr == getAffineDimExpr(dim, op.getContext()))
          at = i;
      access.rows.push_back(at);
    }
    lookThrough(access);
    found.push_back(std::move(access));
  }
  // What the body looks up may be anywhere.
  WalkResult walked = op.getBody()->walk([&](Operation *inner) {
    if (auto load = dyn_cast<memref::LoadOp>(inner)) {
      found.push_back({load.getMemRef(),
                       SmallVector<int64_t>(member.rows.size(), -1), false});
      return WalkResult::advance();
    }
    bool isPlain =
        isa<linalg::YieldOp, linalg::IndexOp, memref::DimOp>(inner) ||
        inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(inner);
    return isPlain ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !walked.wasInterrupted();
}

bool RowGroup::add(linalg::GenericOp op, bool inFront) {
  if (!isParallel(op))
    return false;
  Member member;
  member.op = op;
  SmallVector<SmallVector<Size>> sizes = sizesOf(op);
  SmallVector<int64_t> known = op.getStaticLoopRanges();
  bool reduces = op.getNumReductionLoops() != 0;
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind == utils::IteratorType::parallel && known[i] == 1) {
      member.single.push_back(i);
      continue;
    }
    if (kind == utils::IteratorType::parallel &&
        member.rows.size() < rowSizes.size()) {
      if (llvm::none_of(sizes[i], [&](const Size &size) {
            return llvm::is_contained(rowSizes[member.rows.size()], size);
          }))
        return false;
      member.rows.push_back(i);
      continue;
    }
    // A reduction's results are one a row.
    if ((reduces && kind == utils::IteratorType::parallel) ||
        ShapedType::isDynamic(known[i]))
      return false;
    member.along.push_back(i);
    member.elements *= known[i];
  }
  if (member.rows.size() != rowSizes.size() ||
      member.elements > kMostElements || member.elements == 0)
    return false;
  if (reduces) {
    member.combiners = combinersOf(op);
    if (member.combiners.empty())
      return false;
  }
  // Neighbours along a row are neighbours in memory: else tiles do better.
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!member.along.empty() && isa<MemRefType>(operand.get().getType()) &&
        map.isFunctionOfDim(member.along.back()) &&
        !map.getResults().back().isFunctionOfDim(member.along.back()))
      return false;
  }
  SmallVector<Access> found;
  if (!note(member, found))
    return false;
  auto isOwnRow = [](const Access &x, const Access &y) {
    return x.memref == y.memref && x.rows == y.rows &&
           !llvm::is_contained(x.rows, -1);
  };
  for (const Access &access : found) {
    for (const Access &other : accesses.lookup(rootOfView(access.memref)))
      if ((access.writes || other.writes) && !isOwnRow(access, other))
        return false;
    for (const Access &other : found)
      if (access.writes &&
          rootOfView(other.memref) == rootOfView(access.memref) &&
          !isOwnRow(access, other))
        return false;
  }
  for (Access &access : found)
    accesses[rootOfView(access.memref)].push_back(access);
  for (auto [dim, all] : llvm::zip_equal(member.rows, rowSizes))
    llvm::append_range(all, sizes[dim]);
  members.insert(inFront ? members.begin() : members.end(), std::move(member));
  return true;
}

bool RowGroup::find(linalg::GenericOp op,
                    llvm::function_ref<bool(Operation *)> isTaken) {
  SmallVector<SmallVector<Size>> sizes = sizesOf(op);
  SmallVector<int64_t> known = op.getStaticLoopRanges();
  int64_t elements = 1;
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind == utils::IteratorType::reduction) {
      if (ShapedType::isDynamic(known[i]))
        return false;
      elements *= known[i];
      continue;
    }
    if (known[i] == 1)
      continue;
    rowSizes.push_back(sizes[i]);
    rows = ShapedType::isDynamic(known[i]) || ShapedType::isDynamic(rows)
               ? ShapedType::kDynamic
               : rows * known[i];
  }
  if (op.getNumReductionLoops() == 0 || elements < kLeastElements ||
      (ShapedType::isStatic(rows) && rows < blocksOfGpu(op)) ||
      !readsAlongReduction(op) || !add(op, /*inFront=*/false))
    return false;
  lookBack(op, isTaken);
  lookAhead(op, isTaken);
  return members.size() > 1;
}

/// Ops that make no work.
static bool isNeutral(Operation &op) {
  return isa<memref::AllocOp, memref::GetGlobalOp>(op) ||
         (op.getNumRegions() == 0 && isMemoryEffectFree(&op));
}

/// Ops of other kernels that a group may pass by: not of products, which do
/// more than their op says.
static bool mayPass(Operation &op, const Touched &touched) {
  return isa<linalg::GenericOp, memref::CopyOp>(op) &&
         op.getNumResults() == 0 && !touched.all;
}

/// True if one touches a buffer that the other does.
static bool share(const Touched &a, const Touched &b) {
  auto overlap = [](ArrayRef<Place> some, ArrayRef<Place> others) {
    return llvm::any_of(some, [&](const Place &place) {
      return llvm::any_of(
          others, [&](const Place &other) { return place.root == other.root; });
    });
  };
  return overlap(a.reads, b.reads) || overlap(a.reads, b.writes) ||
         overlap(a.writes, b.reads) || overlap(a.writes, b.writes);
}

// Members go down to the last one: over ops of other kernels that they do not
// care for. Beyond the first of these only what has to do with the group is of
// it.

void RowGroup::lookBack(linalg::GenericOp op,
                        llvm::function_ref<bool(Operation *)> isTaken) {
  Touched passed, own = touchedBy(op);
  int64_t numPassed = 0;
  for (Operation &other : llvm::make_range(std::next(op->getReverseIterator()),
                                           op->getBlock()->rend())) {
    if (isNeutral(other))
      continue;
    Touched touched = touchedBy(&other);
    auto generic = dyn_cast<linalg::GenericOp>(other);
    if (generic && !isTaken(generic) && !conflict(touched, passed) &&
        (numPassed == 0 || share(touched, own)) &&
        add(generic, /*inFront=*/true)) {
      own.add(touched);
      continue;
    }
    if (isTaken(&other) || !mayPass(other, touched) ||
        ++numPassed > kMostPassed)
      return;
    passed.add(touched);
  }
}

void RowGroup::lookAhead(linalg::GenericOp op,
                         llvm::function_ref<bool(Operation *)> isTaken) {
  // What has to come behind the kernel, and what is before it.
  Touched later, own;
  for (const Member &member : members)
    own.add(touchedBy(member.op));
  SmallVector<Operation *> behind, pending;
  int64_t numPassed = 0;
  for (Operation &other : llvm::make_early_inc_range(llvm::make_range(
           std::next(op->getIterator()), op->getBlock()->end()))) {
    if (isNeutral(other))
      continue;
    Touched touched = touchedBy(&other);
    auto generic = dyn_cast<linalg::GenericOp>(other);
    if (generic && !isTaken(generic) && !conflict(touched, later) &&
        (numPassed == 0 || share(touched, own)) &&
        add(generic, /*inFront=*/false)) {
      own.add(touched);
      behind.append(pending);
      pending.clear();
      continue;
    }
    if (isTaken(&other) || !mayPass(other, touched) ||
        ++numPassed > kMostPassed)
      break;
    if (conflict(touched, own) || conflict(touched, later)) {
      later.add(touched);
      pending.push_back(&other);
    }
  }
  // In their order, behind the last member.
  Operation *last = members.back().op;
  for (Operation *passed : behind) {
    passed->moveAfter(last);
    last = passed;
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Emits `body` where `condition` holds.
static void when(OpBuilder &b, Location loc, Value condition,
                 llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

void RowGroup::emitMember(OpBuilder &b, const Member &member, const Dims &dims,
                          ArrayRef<Value> areas) {
  linalg::GenericOp op = member.op;
  Location loc = op.getLoc();
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  PointEmitter emitter(b, op);
  dims.place(b, loc, emitter, member.rows, row);
  for (unsigned dim : member.single)
    emitter.at()[dim] = index(0);
  auto element = [&] {
    SmallVector<Value> current;
    for (auto [output, argument] :
         llvm::zip_equal(op.getDpsInitsMutable(), op.getRegionOutputArgs()))
      current.push_back(argument.use_empty() ? Value()
                                             : emitter.loadOutput(output));
    SmallVector<Value> results = emitter.body(current);
    for (auto [output, value] :
         llvm::zip_equal(op.getDpsInitsMutable(), results))
      emitter.storeOutput(output, value);
  };
  if (member.isSingle())
    return when(b, loc, isFirst, element);

  // Several neighbours at once, where they are adjacent in memory.
  Lanes lanes(op, member.along.back());
  Value count = arith::SelectOp::create(
      b, loc, isRow, index(member.elements / lanes.count()), index(0));
  SmallVector<Value> values;
  for (Operation *combiner : member.combiners)
    values.push_back(
        arith::ConstantOp::create(b, loc, spmd::neutralElement(combiner)));
  auto loop = scf::ForOp::create(b, loc, own, count, index(threads), values);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value place = arith::MulIOp::create(b, loc, loop.getInductionVar(),
                                        index(lanes.count()));
    dims.place(b, loc, emitter, member.along, place);
    auto sums = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
    if (lanes.count() > 1)
      sums = lanes.emit(b, emitter, sums);
    else if (member.reduces())
      sums = emitter.body(sums);
    else
      element();
    if (member.reduces())
      scf::YieldOp::create(b, loc, sums);
  }
  if (!member.reduces())
    return;
  auto combine = [&](unsigned i, Value left, Value right) {
    Operation *copy = b.clone(*member.combiners[i]);
    copy->setOperands({left, right});
    return copy->getResult(0);
  };
  auto inWarp = [&](unsigned i, Value value, int64_t lanes) {
    for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
      Value other = shuffle(b, loc, value, distance, gpu::ShuffleMode::XOR);
      value = combine(i, value, other);
    }
    return value;
  };
  values = llvm::to_vector_of<Value>(loop.getResults());
  for (unsigned i : llvm::seq<unsigned>(values.size()))
    values[i] = inWarp(i, values[i], kWarp);
  if (threads > kWarp) {
    Value isLeader =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, index(0));
    when(b, loc, isLeader, [&] {
      for (auto [value, area] : llvm::zip_equal(values, areas))
        memref::StoreOp::create(b, loc, value, area, warp);
    });
    gpu::BarrierOp::create(b, loc);
    Value place = arith::RemUIOp::create(b, loc, lane, index(kWarps));
    for (unsigned i : llvm::seq<unsigned>(values.size())) {
      values[i] = memref::LoadOp::create(b, loc, areas[i], place);
      values[i] = inWarp(i, values[i], kWarps);
    }
  }
  when(b, loc, isFirst, [&] {
    for (auto [i, output] : llvm::enumerate(op.getDpsInitsMutable())) {
      Value start = emitter.loadOutput(output);
      emitter.storeOutput(output, combine(i, start, values[i]));
    }
  });
}

void RowGroup::emit() {
  linalg::GenericOp last = members.back().op;
  Location loc = last.getLoc();
  OpBuilder b(last);
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  int64_t longest = 1;
  SmallVector<Dims> dims;
  for (Member &member : members) {
    hoistRankValues(member.op);
    flattenIndices(member.op);
    dims.emplace_back(b, member.op);
    longest = std::max(longest, member.elements);
  }
  bool isMany =
      ShapedType::isDynamic(rows) || rows >= blocksOfGpu(last) * kWarps;
  if (longest <= kWarpRow || (longest <= kLongWarpRow && isMany))
    threads = kWarp;
  int64_t rowsEach = kBlock / threads;
  Value count = dims[0].count(b, loc, members[0].rows);
  Value blocks = arith::CeilDivUIOp::create(b, loc, count, index(rowsEach));
  gpu::LaunchOp launch = beginLaunch(b, loc, blocks, kBlock);
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  SmallVector<SmallVector<Value>> areas(members.size());
  for (auto [member, area] : llvm::zip_equal(members, areas))
    for (Operation *combiner : member.combiners)
      if (threads > kWarp)
        area.push_back(launch.addWorkgroupAttribution(
            MemRefType::get({kWarps}, combiner->getResult(0).getType(),
                            MemRefLayoutAttrInterface(), space),
            loc));
  Value thread = launch.getThreadIds().x;
  own = arith::RemUIOp::create(b, loc, thread, index(threads));
  lane = arith::RemUIOp::create(b, loc, thread, index(kWarp));
  warp = arith::DivUIOp::create(b, loc, thread, index(kWarp));
  Value group = arith::DivUIOp::create(b, loc, thread, index(threads));
  Value first =
      arith::MulIOp::create(b, loc, launch.getBlockIds().x, index(rowsEach));
  Value number = arith::AddIOp::create(b, loc, first, group);
  isRow =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, number, count);
  row = arith::SelectOp::create(b, loc, isRow, number, index(0));
  Value isOne =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, own, index(0));
  isFirst = arith::AndIOp::create(b, loc, isRow, isOne);

  // What has been touched since the last barrier: by the first one of a row, by
  // all.
  llvm::DenseSet<Value> wroteFirst, wroteAll, readAll;
  for (auto [i, member] : llvm::enumerate(members)) {
    SmallVector<Access> found;
    (void)note(member, found);
    auto isByFirst = [&](const Access &access) {
      return member.isSingle() || (member.reduces() && access.writes);
    };
    bool needsBarrier = llvm::any_of(found, [&](const Access &access) {
      Value root = rootOfView(access.memref);
      return wroteAll.contains(root) ||
             (!isByFirst(access) && wroteFirst.contains(root)) ||
             (access.writes && readAll.contains(root));
    });
    if (needsBarrier) {
      gpu::BarrierOp::create(b, loc);
      wroteFirst.clear();
      wroteAll.clear();
      readAll.clear();
    }
    emitMember(b, member, dims[i], areas[i]);
    for (const Access &access : found) {
      Value root = rootOfView(access.memref);
      if (access.writes)
        (isByFirst(access) ? wroteFirst : wroteAll).insert(root);
      if (!isByFirst(access))
        readAll.insert(root);
    }
  }
  for (Member &member : members)
    member.op->erase();
}

void gpukernels::launchRowGroups(
    Block &block, llvm::function_ref<bool(Operation *)> isTaken) {
  SmallVector<linalg::GenericOp> reductions;
  for (auto op : block.getOps<linalg::GenericOp>())
    if (op.getNumReductionLoops() != 0)
      reductions.push_back(op);
  // Those that a group has taken are gone.
  llvm::DenseSet<Operation *> gone;
  for (linalg::GenericOp op : reductions) {
    RowGroup group;
    if (gone.contains(op) || isTaken(op) || !group.find(op, isTaken))
      continue;
    group.noteOps(gone);
    group.emit();
  }
}

//===- Scatters.cpp - Loops that write to computed places -----------------===//
//
// A loop reads where its next update goes, and does something there. Updates of
// different places have nothing to do with one another, those of one place must
// keep their order: so that places, not updates, belong to threads, a part of
// each where updates are rows. Results are those of the loop, in every run.
//
// Of few updates each thread goes through all and does those of its places.
// Many are sorted by place first (stable): then those of one place are side
// by side and in order, and a thread goes through them. Where the order is all
// the same to the bit (integers that are added, the larger of them), a thread
// has an update, and does it atomically.
//
//===----------------------------------------------------------------------===//
#include "../Lines/Lines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Threads of a multiprocessor among which a scatter is shared: one for each of
/// its lanes. Each reads all places ... [shape]
static constexpr int64_t kLanes = 128;
/// ... if one block could sort them: else they are sorted. [shape]
static constexpr int64_t kFewUpdates = 1024;

namespace {
/// An access of a loop's body to a buffer from outside: in each dim the place
/// that alone it is at, null where there are several.
struct Access {
  Value memref;
  SmallVector<Value> at;
};

struct Scatter {
  scf::ForOp loop;
  DenseMap<Value, SmallVector<Access>> accesses; ///< by root
  llvm::SetVector<Value> stored;                 ///< roots, as they come
  SmallVector<linalg::GenericOp> generics;
  bool storesElements = false;
  Value place;        ///< what distinguishes owners
  int64_t extent = 0; ///< how many places there are; dynamic: not known
  bool isInside(Value value) {
    return loop->isProperAncestor(value.getParentRegion()->getParentOp());
  }
  bool read();
  bool readOp(Operation *op);
  bool note(Value memref, bool writes);
  bool findPlace();
  /// The points that all generics have in common, if each of them touches what
  /// is stored at its own point alone; else 1.
  int64_t pointsOfUpdates();
};
} // namespace

bool Scatter::note(Value memref, bool writes) {
  Access access;
  if (isInside(memref)) {
    auto view = memref.getDefiningOp<memref::SubViewOp>();
    if (!view || isInside(view.getSource()))
      return false;
    access.memref = view.getSource();
    for (auto [offset, size] :
         llvm::zip(view.getMixedOffsets(), view.getMixedSizes()))
      access.at.push_back(
          getConstantIntValue(size) == 1 ? dyn_cast<Value>(offset) : Value());
  } else {
    access.memref = memref;
    access.at.resize(cast<MemRefType>(memref.getType()).getRank());
  }
  Value root = rootOfView(access.memref);
  if (writes)
    stored.insert(root);
  accesses[root].push_back(std::move(access));
  return true;
}

bool Scatter::readOp(Operation *op) {
  auto element = [&](Value memref, OperandRange at, bool writes) {
    if (isInside(memref))
      return false;
    Value root = rootOfView(memref);
    if (writes)
      stored.insert(root);
    accesses[root].push_back({memref, llvm::to_vector_of<Value>(at)});
    return true;
  };
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return element(load.getMemRef(), load.getIndices(), false);
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    storesElements = true;
    return element(store.getMemRef(), store.getIndices(), true);
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (generic.getNumReductionLoops() != 0)
      return false;
    generics.push_back(generic);
    return llvm::all_of(generic->getOpOperands(), [&](OpOperand &operand) {
      return !isa<MemRefType>(operand.get().getType()) ||
             note(operand.get(), generic.isDpsInit(&operand));
    });
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch->getNumResults() != 0)
      return false;
    for (Region &region : branch->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          if (!readOp(&inner))
            return false;
    return true;
  }
  return isa<scf::YieldOp>(op) ||
         (op->getNumRegions() == 0 && isMemoryEffectFree(op));
}

bool Scatter::findPlace() {
  Block *body = loop.getBody();
  auto isEverywhere = [&](Value root, int64_t dim, Value value) {
    return llvm::all_of(accesses[root], [&](const Access &access) {
      return access.memref == accesses[root].front().memref &&
             access.at[dim] == value;
    });
  };
  for (Value root : stored) {
    Operation *made = root.getDefiningOp();
    auto argument = dyn_cast<BlockArgument>(root);
    if (made ? !isa<memref::AllocOp>(made)
             : !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      return false;
    bool found = false;
    for (auto [dim, value] : llvm::enumerate(accesses[root].front().at)) {
      if (!value || value == loop.getInductionVar() ||
          value.getParentBlock() != body || !value.getDefiningOp() ||
          (place && place != value) || !isEverywhere(root, dim, value))
        continue;
      place = value;
      auto type = cast<MemRefType>(accesses[root].front().memref.getType());
      extent = type.getDimSize(dim);
      found = true;
      break;
    }
    if (!found)
      return false;
  }
  if (!place)
    return false;
  // What comes before is done by all threads.
  Operation *finds = place.getDefiningOp();
  return llvm::all_of(*body, [&](Operation &op) {
    return !op.isBeforeInBlock(finds) || isa<memref::LoadOp>(op) ||
           isMemoryEffectFree(&op);
  });
}

int64_t Scatter::pointsOfUpdates() {
  if (generics.empty() || storesElements)
    return 1;
  SmallVector<int64_t> sizes = generics.front().getStaticLoopRanges();
  int64_t points = 1;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return 1;
    points *= size;
  }
  for (linalg::GenericOp generic : generics) {
    if (generic.getStaticLoopRanges() != sizes)
      return 1;
    for (OpOperand &operand : generic->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      auto view = operand.get().getDefiningOp<memref::SubViewOp>();
      Value memref = view && isInside(view) ? view.getSource() : operand.get();
      if (!stored.contains(rootOfView(memref)))
        continue;
      // The same rows, point for point.
      auto first = cast<MemRefType>(
          generics.front().getDpsInitOperand(0)->get().getType());
      if (!generic.getMatchingIndexingMap(&operand).isIdentity() ||
          operand.get().getType() != first)
        return 1;
    }
  }
  return points;
}

bool Scatter::read() {
  return loop->getNumResults() == 0 &&
         getConstantIntValue(loop.getStep()) == 1 &&
         llvm::all_of(*loop.getBody(),
                      [&](Operation &op) { return readOp(&op); }) &&
         !stored.empty() && findPlace();
}

/// Makes what `scatter` does to rows the work of a thread at one `point` of
/// them.
static void takePoint(Scatter &scatter, Value point) {
  for (linalg::GenericOp generic : scatter.generics) {
    OpBuilder inside(generic);
    Location loc = generic.getLoc();
    Dims dims(inside, generic);
    PointEmitter emitter(inside, generic);
    dims.place(inside, loc, emitter, dims.parallel, point);
    SmallVector<Value> current;
    for (auto [output, argument] : llvm::zip_equal(
             generic.getDpsInitsMutable(), generic.getRegionOutputArgs()))
      current.push_back(argument.use_empty() ? Value()
                                             : emitter.loadOutput(output));
    SmallVector<Value> results = emitter.body(current);
    for (auto [output, value] :
         llvm::zip_equal(generic.getDpsInitsMutable(), results))
      emitter.storeOutput(output, value);
    generic.erase();
  }
}

namespace {
/// The places of updates in order, and the updates' numbers.
struct Order {
  Value places, numbers, count;
};
} // namespace

/// Kernels that find the places of all updates and sort them.
static FailureOr<Order> sortUpdates(Scatter &scatter) {
  scf::ForOp loop = scatter.loop;
  Location loc = loop.getLoc();
  OpBuilder b(loop);
  std::optional<APInt> trips = loop.getStaticTripCount();
  bool isKnown = trips && trips->getSExtValue() <= INT32_MAX;
  int64_t known = isKnown ? trips->getSExtValue() : ShapedType::kDynamic;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value span =
      arith::SubIOp::create(b, loc, loop.getUpperBound(), loop.getLowerBound());
  Order order;
  order.count = arith::MaxSIOp::create(b, loc, span, zero);
  auto buffer = [&](Type element) -> Value {
    auto type = MemRefType::get({known}, element);
    if (isKnown)
      return memref::AllocOp::create(b, loc, type);
    return memref::AllocOp::create(b, loc, type, order.count);
  };
  Type i64 = b.getI64Type(), number = isKnown ? b.getI32Type() : i64;
  Value found = buffer(i64);
  {
    OpBuilder::InsertionGuard guard(b);
    Value thread = beginLaunchOf(b, loc, order.count, kBlock);
    IRMapping map;
    map.map(loop.getInductionVar(),
            arith::AddIOp::create(b, loc, loop.getLowerBound(), thread));
    Operation *finds = scatter.place.getDefiningOp();
    for (Operation &op : *loop.getBody()) {
      b.clone(op, map);
      if (&op == finds)
        break;
    }
    Value place =
        arith::IndexCastOp::create(b, loc, i64, map.lookup(scatter.place));
    memref::StoreOp::create(b, loc, place, found, thread);
  }
  order.places = buffer(i64);
  order.numbers = buffer(number);
  auto lines = spmd::LinesOp::create(
      b, loc, TypeRange(), spmd::LineKind::Sort, /*dim=*/0, /*backward=*/false,
      /*positions=*/true, found, /*starts=*/ValueRange(),
      ValueRange{order.places, order.numbers});
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&lines.getBody(), {}, {i64, i64}, {loc, loc});
  Value before =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                            body->getArgument(0), body->getArgument(1));
  spmd::LineYieldOp::create(b, loc, before);
  if (failed(launchLines(lines)))
    return failure();
  return order;
}

/// A kernel whose threads each do the updates of a place, at one of `points`
/// points of each. The loop is gone then.
static void launchSegments(Scatter &scatter, const Order &order,
                           int64_t points) {
  scf::ForOp loop = scatter.loop;
  Location loc = loop.getLoc();
  OpBuilder b(loop);
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  auto equal = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  };
  Value one = index(1), zero = index(0);
  Value total = arith::MulIOp::create(b, loc, order.count, index(points));
  Value thread = beginLaunchOf(b, loc, total, kBlock);
  Value point = arith::RemUIOp::create(b, loc, thread, index(points));
  Value slot = arith::DivUIOp::create(b, loc, thread, index(points));
  takePoint(scatter, point);
  auto placeOf = [&](Value at) -> Value {
    return memref::LoadOp::create(b, loc, order.places, at);
  };
  // The first update of a place does them all.
  Value mine = placeOf(slot);
  Value earlier = arith::SubIOp::create(b, loc, slot, one);
  earlier = arith::MaxSIOp::create(b, loc, earlier, zero);
  Value isLater = equal(placeOf(earlier), mine);
  Value isFirst = equal(slot, zero);
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value skips = arith::SelectOp::create(b, loc, isFirst, no, isLater);
  auto guard = scf::IfOp::create(b, loc, skips, /*withElseRegion=*/true);
  b.setInsertionPointToStart(guard.elseBlock());
  Value last = arith::SubIOp::create(b, loc, order.count, one);
  auto walk = scf::WhileOp::create(
      b, loc, TypeRange{b.getIndexType()}, ValueRange{slot},
      [&](OpBuilder &, Location, ValueRange now) {
        Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                             now[0], order.count);
        Value at = arith::MinSIOp::create(b, loc, now[0], last);
        Value same = equal(placeOf(at), mine);
        Value goesOn = arith::AndIOp::create(b, loc, inside, same);
        scf::ConditionOp::create(b, loc, goesOn, now);
      },
      [&](OpBuilder &, Location, ValueRange now) {
        Value next = arith::AddIOp::create(b, loc, now[0], one);
        scf::YieldOp::create(b, loc, next);
      });
  Block &body = walk.getAfter().front();
  b.setInsertionPointToStart(&body);
  Value number =
      memref::LoadOp::create(b, loc, order.numbers, body.getArgument(0));
  number = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
  Value update = arith::AddIOp::create(b, loc, loop.getLowerBound(), number);
  loop.getInductionVar().replaceAllUsesWith(update);
  Block *updates = loop.getBody();
  updates->getTerminator()->erase();
  body.getOperations().splice(b.getInsertionPoint(), updates->getOperations());
  loop.erase();
}

/// A kernel whose threads each do the updates of their places among all.
static void launchOwners(Scatter &scatter, int64_t points, bool takesPoints) {
  scf::ForOp loop = scatter.loop;
  int64_t owners = std::max<int64_t>(kLanes * blocksOfGpu(loop) / points, 1);
  if (ShapedType::isStatic(scatter.extent))
    owners = std::clamp<int64_t>(scatter.extent, 1, owners);
  Location loc = loop.getLoc();
  OpBuilder b(loop);
  auto index = [&](OpBuilder &b, int64_t number) -> Value {
    return arith::ConstantIndexOp::create(b, loc, number);
  };
  Value thread = beginLaunchOf(b, loc, index(b, owners * points), kBlock);
  Value point = arith::RemUIOp::create(b, loc, thread, index(b, points));
  Value owner = arith::DivUIOp::create(b, loc, thread, index(b, points));
  loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  if (takesPoints)
    takePoint(scatter, point);

  // What is behind the place's finding is done by its owner.
  Operation *finds = scatter.place.getDefiningOp();
  OpBuilder inside(finds->getContext());
  inside.setInsertionPointAfter(finds);
  Value whose =
      arith::RemUIOp::create(inside, loc, scatter.place, index(inside, owners));
  Value mine = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::eq,
                                     whose, owner);
  auto guard = scf::IfOp::create(inside, loc, mine, /*withElse=*/false);
  Block *body = loop.getBody();
  Block *then = guard.thenBlock();
  then->getOperations().splice(
      then->getTerminator()->getIterator(), body->getOperations(),
      std::next(guard->getIterator()), body->getTerminator()->getIterator());
}

namespace {
/// The one element that an update combines `with` what is there.
struct ExactUpdate {
  memref::LoadOp load;
  memref::StoreOp store;
  Operation *combines = nullptr;
  LLVM::AtomicBinOp kind;
  Value with;
};
} // namespace

/// What `scatter` does, if its updates give the same in any order, to the
/// bit, and a GPU does one at once.
static std::optional<ExactUpdate> findExactUpdate(Scatter &scatter) {
  if (!scatter.generics.empty() || scatter.stored.size() != 1)
    return std::nullopt;
  Value root = *scatter.stored.begin();
  ExactUpdate update;
  int64_t accesses = 0;
  scatter.loop.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op);
        load && rootOfView(load.getMemRef()) == root) {
      update.load = load;
      ++accesses;
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      update.store = store;
      ++accesses;
    }
  });
  if (accesses != 2 || !update.load || !update.store ||
      update.load.getMemRef() != update.store.getMemRef() ||
      update.load.getIndices() != update.store.getIndices())
    return std::nullopt;
  Value result = update.store.getValue(), before = update.load.getResult();
  Operation *combines = update.combines = result.getDefiningOp();
  if (!combines || combines->getNumOperands() != 2 || !before.hasOneUse() ||
      !result.hasOneUse() || *before.user_begin() != combines ||
      !(result.getType().isInteger(32) || result.getType().isInteger(64)))
    return std::nullopt;
  using Kind = LLVM::AtomicBinOp;
  auto kind = llvm::TypeSwitch<Operation *, std::optional<Kind>>(combines)
                  .Case([](arith::AddIOp) { return Kind::add; })
                  .Case([](arith::AndIOp) { return Kind::_and; })
                  .Case([](arith::OrIOp) { return Kind::_or; })
                  .Case([](arith::XOrIOp) { return Kind::_xor; })
                  .Case([](arith::MaxSIOp) { return Kind::max; })
                  .Case([](arith::MinSIOp) { return Kind::min; })
                  .Case([](arith::MaxUIOp) { return Kind::umax; })
                  .Case([](arith::MinUIOp) { return Kind::umin; })
                  .Default(std::nullopt);
  if (!kind)
    return std::nullopt;
  update.kind = *kind;
  update.with = combines->getOperand(combines->getOperand(0) == before);
  return update;
}

/// A kernel whose threads each do one update. The loop is gone then.
static void launchUpdates(Scatter &scatter, const ExactUpdate &update) {
  scf::ForOp loop = scatter.loop;
  Location loc = loop.getLoc();
  {
    memref::StoreOp store = update.store;
    OpBuilder b(store);
    Value to = addressOf(b, loc, store.getMemRef(),
                         llvm::to_vector_of<Value>(store.getIndices()));
    LLVM::AtomicRMWOp::create(b, loc, update.kind, to, update.with,
                              LLVM::AtomicOrdering::monotonic, "device");
    store.erase();
    update.combines->erase();
    memref::LoadOp(update.load).erase();
  }
  OpBuilder b(loop);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value span =
      arith::SubIOp::create(b, loc, loop.getUpperBound(), loop.getLowerBound());
  Value count = arith::MaxSIOp::create(b, loc, span, zero);
  Value thread = beginLaunchOf(b, loc, count, kBlock);
  Value number = arith::AddIOp::create(b, loc, loop.getLowerBound(), thread);
  loop.getInductionVar().replaceAllUsesWith(number);
  Block *body = loop.getBody();
  body->getTerminator()->erase();
  b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(),
                                                body->getOperations());
  loop.erase();
}

bool gpukernels::launchScatter(scf::ForOp loop) {
  Scatter scatter;
  scatter.loop = loop;
  if (!scatter.read())
    return false;
  hoistRankValues(loop);
  int64_t points = scatter.pointsOfUpdates();
  if (points == 0)
    return false;
  // Whether a thread does one point of each update, or all of it.
  bool takesPoints =
      !scatter.generics.empty() && !scatter.storesElements &&
      (points > 1 || llvm::all_of(scatter.generics, [](linalg::GenericOp op) {
         return llvm::all_of(op.getStaticLoopRanges(),
                             [](int64_t size) { return size == 1; });
       }));
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (trips && trips->sle(kFewUpdates)) {
    launchOwners(scatter, points, takesPoints);
    return true;
  }
  if (std::optional<ExactUpdate> update = findExactUpdate(scatter)) {
    launchUpdates(scatter, *update);
    return true;
  }
  FailureOr<Order> order = sortUpdates(scatter);
  if (failed(order))
    return false;
  if (!takesPoints)
    scatter.generics.clear();
  launchSegments(scatter, *order, points);
  return true;
}

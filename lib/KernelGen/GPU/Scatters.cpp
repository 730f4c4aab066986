//===- Scatters.cpp - Loops that write where they are told to -------------===//
//
// A loop reads where its next update goes, and does something there. Updates of
// different places have nothing to do with one another, those of one place must
// keep their order: so that places, not updates, belong to threads. Each thread
// goes through all updates and does those of its places, a part of each where
// updates are rows. Results are those of the loop, in every run.
//
//===----------------------------------------------------------------------===//
#include "Points.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Threads that a scatter is shared among, at most: each reads all places.
static constexpr int64_t kMostThreads = 16384;

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
  DenseSet<Value> stored;                        ///< roots
  SmallVector<linalg::GenericOp> generics;
  bool storesElements = false;
  Value place;        ///< what owners are told apart by
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
  Value root = rootOf(access.memref);
  if (writes)
    stored.insert(root);
  accesses[root].push_back(std::move(access));
  return true;
}

bool Scatter::readOp(Operation *op) {
  auto element = [&](Value memref, OperandRange at, bool writes) {
    if (isInside(memref))
      return false;
    Value root = rootOf(memref);
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
      if (!stored.contains(rootOf(memref)))
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

bool gpukernels::launchScatter(scf::ForOp loop) {
  Scatter scatter;
  scatter.loop = loop;
  if (!scatter.read())
    return false;
  hoistRankValues(loop);
  int64_t points = scatter.pointsOfUpdates();
  if (points == 0)
    return false;
  int64_t owners = std::max<int64_t>(kMostThreads / points, 1);
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

  if (!scatter.generics.empty() && !scatter.storesElements &&
      (points > 1 || llvm::all_of(scatter.generics, [](linalg::GenericOp op) {
         return llvm::all_of(op.getStaticLoopRanges(),
                             [](int64_t size) { return size == 1; });
       })))
    for (linalg::GenericOp generic : scatter.generics) {
      OpBuilder inside(generic);
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
  return true;
}

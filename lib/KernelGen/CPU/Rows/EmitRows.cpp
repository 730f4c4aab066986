//===- EmitRows.cpp - Write a group of ops block by block -----------------===//
//
// A loop over blocks of rows, in it the ops of the group on the block's share
// of each buffer. What all rows add to has partial results, one for each of a
// number of chunks of blocks that does not depend on the number of threads: the
// sums are the same however many there are.
//
//===----------------------------------------------------------------------===//
#include "RowGroup.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "shardc/Machine/Core.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"
#include <functional>
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

namespace {
class RowEmitter {
public:
  explicit RowEmitter(RowGroup &group)
      : group(group), b(group.members.back().op),
        loc(b.getInsertionPoint()->getLoc()), arith(b, loc) {}

  void emit();

private:
  /// Blocks of `rows` rows, from row `first` of the last cut on.
  struct Range {
    Quantity first, blocks;
    int64_t rows;
  };
  void countRows();
  void emitRange(const Range &range, int64_t parts, int64_t chunks);
  void emitBlock(const Range &range, Value number);
  void allocateLocal(int64_t rows, int64_t parts);
  void allocateSlots();
  void combineSlots();
  void sumSlots(Value output, Value slot);
  Value viewOf(Value memref, const Place &place);
  Value loop(Value from, Value to, llvm::function_ref<void(Value)> body);
  /// Share `number` of `parts` equal ones of `total`, where it begins.
  Value boundary(Value total, Value number, int64_t parts) {
    Value product = arith::MulIOp::create(b, loc, total, number);
    return arith::DivUIOp::create(b, loc, product, arith.index(parts));
  }
  linalg::GenericOp
  makeGeneric(ValueRange inputs, Value output, ArrayRef<AffineMap> maps,
              ArrayRef<utils::IteratorType> kinds,
              llvm::function_ref<Value(OpBuilder &, ValueRange)> body);

  RowGroup &group;
  OpBuilder b;
  Location loc;
  Arith arith;
  SmallVector<Quantity> counts;
  /// By root: what stands for it in the block, of the shape of the block's
  /// share of it.
  llvm::MapVector<Value, Value> local;
  DenseMap<Value, Value> localOfPart; ///< the same of the part
  DenseMap<Value, SmallVector<int64_t>> shapeOfPart;
  /// Outputs that all rows add to, and their partial results.
  llvm::MapVector<Value, std::pair<Value, Operation *>> slots;
  DenseMap<Value, Value> slotOfChunk;
  // In the block:
  SmallVector<Value> row;                             ///< by cut, the first
  std::vector<std::tuple<Value, Place, Value>> views; ///< shares, and of what
  int64_t rows = 1;                                   ///< of the last cut
};
} // namespace

Value RowEmitter::loop(Value from, Value to,
                       llvm::function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, loc, from, to, arith.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
  return {};
}

void RowEmitter::countRows() {
  for (auto [k, size] : llvm::enumerate(group.sizes)) {
    if (size.fixed || size.value) {
      counts.push_back(size);
      continue;
    }
    Quantity found;
    for (const Member &member : group.members) {
      linalg::GenericOp op = member.op;
      for (OpOperand &operand : op->getOpOperands()) {
        const Place &place = member.places[operand.getOperandNumber()];
        if (found.value || place.at.empty() || place.at[k] < 0 ||
            llvm::is_contained(group.local, rootOf(operand.get())))
          continue;
        found.value = memref::DimOp::create(b, loc, operand.get(), place.at[k]);
      }
    }
    counts.push_back(found);
  }
}

linalg::GenericOp RowEmitter::makeGeneric(
    ValueRange inputs, Value output, ArrayRef<AffineMap> maps,
    ArrayRef<utils::IteratorType> kinds,
    llvm::function_ref<Value(OpBuilder &, ValueRange)> body) {
  return linalg::GenericOp::create(
      b, loc, inputs, ValueRange{output}, maps, kinds,
      [&](OpBuilder &inside, Location at, ValueRange arguments) {
        linalg::YieldOp::create(inside, at, body(inside, arguments));
      });
}

/// The block's share of `memref`.
Value RowEmitter::viewOf(Value memref, const Place &place) {
  auto type = cast<MemRefType>(memref.getType());
  size_t last = group.counts.size() - 1;
  Value root = rootOf(memref);
  if (Value own = local.lookup(root)) {
    SmallVector<int64_t> shape(type.getShape());
    for (auto [k, at] : llvm::enumerate(place.at))
      shape[at] = place.width[k] * (k == last ? rows : 1);
    if (memref == root)
      return own;
    // The same elements in the same order.
    auto wanted = MemRefType::get(shape, type.getElementType());
    SmallVector<int64_t> strides(shape.size(), 1);
    for (size_t dim = shape.size(); dim-- > 1;)
      strides[dim - 1] = strides[dim] * shape[dim];
    auto ownType = cast<MemRefType>(own.getType());
    if (ownType.getLayout().isIdentity())
      return memref::ReinterpretCastOp::create(b, loc, wanted, own, 0, shape,
                                               strides);
    // A part's: the offset stays.
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, own);
    SmallVector<OpFoldResult> sizes, steps;
    for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
      sizes.push_back(b.getIndexAttr(size));
      steps.push_back(b.getIndexAttr(stride));
    }
    auto strided = MemRefType::get(
        shape, type.getElementType(),
        StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides));
    return memref::ReinterpretCastOp::create(
        b, loc, strided, own, OpFoldResult(metadata.getOffset()), sizes, steps);
  }
  if (Value slot = slotOfChunk.lookup(memref))
    memref = slot;
  if (llvm::all_of(place.at, [](int at) { return at < 0; }))
    return memref;
  // One name for one share: a sum is known by it to begin with its fill.
  for (const auto &[whole, where, view] : views)
    if (whole == memref && where.at == place.at && where.width == place.width)
      return view;
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      sizes = memref::getMixedSizes(b, loc, memref),
      strides(type.getRank(), b.getIndexAttr(1));
  for (auto [k, at] : llvm::enumerate(place.at)) {
    if (at < 0)
      continue;
    Quantity from =
        arith.mul(Quantity::of(row[k]), Quantity::of(place.width[k]));
    offsets[at] = arith.get(from);
    sizes[at] = b.getIndexAttr(place.width[k] * (k == last ? rows : 1));
  }
  Value view =
      memref::SubViewOp::create(b, loc, memref, offsets, sizes, strides);
  views.push_back({memref, place, view});
  return view;
}

void RowEmitter::emitBlock(const Range &range, Value number) {
  rows = range.rows;
  views.clear();
  row.assign(counts.size(), Value());
  // The last cut's blocks are next to one another.
  Value rest = number;
  for (size_t k = counts.size(); k-- > 0;) {
    bool isLast = k + 1 == counts.size();
    const Quantity &size = isLast ? range.blocks : counts[k];
    Value at = rest;
    if (k > 0) {
      at = arith::RemUIOp::create(b, loc, rest, arith.get(size));
      rest = arith::DivUIOp::create(b, loc, rest, arith.get(size));
    }
    if (isLast)
      at = arith.get(arith.add(
          range.first, arith.mul(Quantity::of(at), Quantity::of(rows))));
    row[k] = at;
  }
  for (const Member &member : group.members) {
    linalg::GenericOp op = member.op;
    SmallVector<Value> views;
    for (OpOperand &operand : op->getOpOperands()) {
      const Place &place = member.places[operand.getOperandNumber()];
      views.push_back(isa<MemRefType>(operand.get().getType())
                          ? viewOf(operand.get(), place)
                          : operand.get());
    }
    SmallVector<Value> loadViews;
    for (auto [load, place] : member.loads)
      loadViews.push_back(viewOf(load.getMemRef(), place));
    SmallVector<Value> offsets(op.getNumLoops());
    for (auto [k, share] : llvm::enumerate(member.shares))
      offsets[share.loop] =
          arith.get(arith.mul(Quantity::of(row[k]), Quantity::of(share.width)));
    IRMapping map;
    auto copy = cast<linalg::GenericOp>(b.clone(*op, map));
    for (auto [i, view] : llvm::enumerate(views))
      copy->setOperand(i, view);
    // Indices count from the block's first row on, but for its own memory.
    DenseMap<Value, Value> within;
    OpBuilder::InsertionGuard guard(b);
    for (auto index :
         llvm::to_vector(copy.getBody()->getOps<linalg::IndexOp>())) {
      Value offset = offsets[index.getDim()];
      if (!offset)
        continue;
      b.setInsertionPointAfter(index);
      auto sum = arith::AddIOp::create(b, loc, index, offset);
      index.getResult().replaceAllUsesExcept(sum, sum);
      within[sum] = index;
    }
    for (auto [entry, view] : llvm::zip_equal(member.loads, loadViews)) {
      auto [load, place] = entry;
      auto mine =
          cast<memref::LoadOp>(map.lookup(load.getResult()).getDefiningOp());
      mine.getMemrefMutable().assign(view);
      for (int at : place.at)
        mine->setOperand(1 + at, within.lookup(mine.getIndices()[at]));
    }
  }
}

void RowEmitter::allocateLocal(int64_t rows, int64_t parts) {
  local.clear();
  size_t last = group.counts.size() - 1;
  for (Value root : group.local) {
    auto type = cast<MemRefType>(root.getType());
    const Touch &touch = group.touches.find(root)->second;
    std::optional<Place> place =
        placeByUnits(type, touch.units, touch.outside, group.counts);
    SmallVector<int64_t> shape(type.getShape());
    for (auto [k, at] : llvm::enumerate(place->at))
      shape[at] = place->width[k] * (k == last ? rows : 1);
    if (parts > 1) {
      // No two parts write to one line of the cache.
      shapeOfPart[root] = shape;
      uint64_t each = elementBytes(type.getElementType());
      for (int64_t size : ArrayRef(shape).drop_front())
        each *= size;
      shape[0] = llvm::alignTo(shape[0], core::kLineBytes /
                                             std::gcd(core::kLineBytes, each));
      shape.insert(shape.begin(), parts);
    }
    local[root] = memref::AllocOp::create(
        b, loc, MemRefType::get(shape, type.getElementType()), ValueRange(),
        b.getI64IntegerAttr(64));
  }
}

/// Partial results begin with what changes nothing.
void RowEmitter::allocateSlots() {
  for (const Member &member : group.members) {
    if (!member.accumulates)
      continue;
    linalg::GenericOp op = member.op;
    for (unsigned i : llvm::seq<unsigned>(op.getNumDpsInits())) {
      Value output = op.getDpsInits()[i];
      auto type = cast<MemRefType>(output.getType());
      SmallVector<int64_t> shape(type.getShape());
      shape.insert(shape.begin(), group.chunks);
      Value slot = memref::AllocOp::create(
          b, loc, MemRefType::get(shape, type.getElementType()), ValueRange(),
          b.getI64IntegerAttr(64));
      Operation *combiner = combinerOf(op, i);
      Value neutral =
          arith::ConstantOp::create(b, loc, spmd::neutralElement(combiner));
      SmallVector<utils::IteratorType> kinds(shape.size(),
                                             utils::IteratorType::parallel);
      makeGeneric({}, slot, b.getMultiDimIdentityMap(shape.size()), kinds,
                  [&](OpBuilder &, ValueRange) { return neutral; });
      slots[output] = {slot, combiner};
    }
  }
}

/// Adds partial results of f32 up in f64, and rounds their sum once: there are
/// few, and each is as large as what thousands of elements make.
void RowEmitter::sumSlots(Value output, Value slot) {
  auto type = cast<MemRefType>(output.getType());
  Value wide = memref::AllocOp::create(
      b, loc, MemRefType::get(type.getShape(), b.getF64Type()), ValueRange(),
      b.getI64IntegerAttr(64));
  Value zero = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(-0.0));
  unsigned rank = type.getRank();
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  AffineMap each = b.getMultiDimIdentityMap(rank);
  makeGeneric({}, wide, each, kinds,
              [&](OpBuilder &, ValueRange) { return zero; });
  AffineMap all = b.getMultiDimIdentityMap(rank + 1);
  SmallVector<utils::IteratorType> summed(kinds);
  summed.insert(summed.begin(), utils::IteratorType::reduction);
  makeGeneric(slot, wide, {all, all.dropResult(0)}, summed,
              [&](OpBuilder &inside, ValueRange arguments) -> Value {
                Value x = arith::ExtFOp::create(inside, loc, b.getF64Type(),
                                                arguments[0]);
                return arith::AddFOp::create(inside, loc, arguments[1], x);
              });
  makeGeneric(wide, output, {each, each}, kinds,
              [&](OpBuilder &inside, ValueRange arguments) -> Value {
                Value sum = arith::TruncFOp::create(
                    inside, loc, type.getElementType(), arguments[0]);
                return arith::AddFOp::create(inside, loc, arguments[1], sum);
              });
}

void RowEmitter::combineSlots() {
  for (auto &[output, entry] : slots) {
    auto [slot, combiner] = entry;
    if (isa<arith::AddFOp>(combiner) &&
        combiner->getResult(0).getType().isF32()) {
      sumSlots(output, slot);
      continue;
    }
    unsigned rank = cast<MemRefType>(slot.getType()).getRank();
    SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
    kinds[0] = utils::IteratorType::reduction;
    AffineMap all = b.getMultiDimIdentityMap(rank);
    makeGeneric(
        slot, output, {all, all.dropResult(0)}, kinds,
        [&, combiner = combiner](OpBuilder &inside, ValueRange arguments) {
          IRMapping map;
          // The sum so far is the operand that it was in the op.
          auto generic = cast<linalg::GenericOp>(combiner->getParentOp());
          bool first = llvm::is_contained(generic.getRegionOutputArgs(),
                                          combiner->getOperand(0));
          map.map(combiner->getOperand(0), arguments[first ? 1 : 0]);
          map.map(combiner->getOperand(1), arguments[first ? 0 : 1]);
          return inside.clone(*combiner, map)->getResult(0);
        });
  }
}

void RowEmitter::emitRange(const Range &range, int64_t parts, int64_t chunks) {
  allocateLocal(range.rows, parts);
  Quantity total = range.blocks;
  for (const Quantity &count : ArrayRef(counts).drop_back())
    total = arith.mul(total, count);
  auto blocks = [&](Value from, Value to) {
    loop(from, to, [&](Value number) { emitBlock(range, number); });
  };
  auto ofPart = [&](Value part) {
    llvm::MapVector<Value, Value> all = local;
    if (part)
      for (auto &[root, buffer] : local)
        buffer = elementOf(b, loc, all[root], part, shapeOfPart[root]);
    Value zero = arith.index(0), whole = arith.get(total);
    auto useSlot = [&](Value chunk) {
      for (auto &[output, entry] : slots)
        slotOfChunk[output] = elementOf(
            b, loc, entry.first, chunk,
            cast<MemRefType>(entry.first.getType()).getShape().drop_front());
    };
    auto useNoSlot = llvm::scope_exit([&] { slotOfChunk.clear(); });
    if (chunks <= 1) {
      // What whole blocks leave belongs to the last chunk.
      if (!slots.empty())
        useSlot(arith.index(group.chunks - 1));
      if (!part)
        return blocks(zero, whole);
      Value next = arith::AddIOp::create(b, loc, part, arith.index(1));
      return blocks(boundary(whole, part, parts), boundary(whole, next, parts));
    }
    Value from = zero, to = arith.index(chunks);
    if (part) {
      Value next = arith::AddIOp::create(b, loc, part, arith.index(1));
      from = boundary(to, part, parts);
      to = boundary(to, next, parts);
    }
    loop(from, to, [&](Value chunk) {
      useSlot(chunk);
      Value next = arith::AddIOp::create(b, loc, chunk, arith.index(1));
      blocks(boundary(whole, chunk, chunks), boundary(whole, next, chunks));
    });
  };
  if (parts == 1)
    return ofPart({});
  auto op = scf::ForOp::create(b, loc, arith.index(0), arith.index(parts),
                               arith.index(1));
  spmd::contract::Parts::set(op, b.getI64IntegerAttr(parts));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  ofPart(op.getInductionVar());
}

void RowEmitter::emit() {
  countRows();
  if (group.chunks > 1)
    allocateSlots();
  const Quantity &last = counts.back();
  // Smaller blocks for what whole ones leave.
  SmallVector<int64_t> extents{group.rowsOfBlock};
  if (last.fixed)
    extents.push_back(*last.fixed % group.rowsOfBlock);
  else
    while (extents.back() > 1)
      extents.push_back(std::max<int64_t>(extents.back() / 16, 1));
  // What is left on each rank, or a number that it is a multiple of.
  SmallVector<int64_t> left = last.entries();
  bool isKnown = !left.empty();
  if (!isKnown)
    left = {last.multiple()};
  Quantity from = Quantity::of(0), rest = last;
  for (int64_t rows : extents) {
    bool isFirst = rows == group.rowsOfBlock;
    Quantity blocks =
        rest.fixed ? Quantity::of(*rest.fixed / rows)
                   : Quantity{std::nullopt,
                              arith::DivUIOp::create(b, loc, arith.get(rest),
                                                     arith.index(rows))};
    emitRange({from, blocks, rows}, isFirst ? group.parts : 1,
              isFirst ? group.chunks : 1);
    if (llvm::all_of(left, [&](int64_t n) { return n % rows == 0; }))
      break;
    for (int64_t &number : left)
      number = isKnown ? number % rows : std::gcd(number, rows);
    Quantity done = arith.mul(blocks, Quantity::of(rows));
    from = arith.add(from, done);
    rest = arith.sub(rest, done);
  }
  combineSlots();
  Operation *next = group.members.back().op;
  for (Operation *op : group.after) {
    op->moveAfter(next);
    next = op;
  }
  for (Member &member : group.members)
    member.op.erase();
  // What is left of local buffers are views that nothing looks at.
  std::function<void(Operation *)> eraseUnused = [&](Operation *op) {
    for (Operation *user : llvm::to_vector(op->getUsers()))
      if (isa<ViewLikeOpInterface>(user))
        eraseUnused(user);
    if (op->use_empty())
      op->erase();
  };
  for (Value root : group.local)
    eraseUnused(root.getDefiningOp());
}

void cpu::emitRows(RowGroup &group) { RowEmitter(group).emit(); }

//===- KernelWork.cpp - What a kernel has to do, by its code --------------===//
#include "KernelWork.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace shardc;

/// What `value` points into: a pointer's memref, a view's source.
static Value pointsInto(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (isa<LLVM::GEPOp, LLVM::IntToPtrOp, arith::IndexCastOp,
          memref::ExtractAlignedPointerAsIndexOp>(op))
    return op->getOperand(0);
  // A view of an arena is a buffer of its own.
  if (auto view = dyn_cast<ViewLikeOpInterface>(op);
      view && !isa<memref::ViewOp>(op))
    return view.getViewSource();
  return {};
}

/// Elements that `type` has in a register.
static int64_t numLanes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

/// Operations on floats that `op`, which has no regions, does when it runs.
static int64_t floatOperations(Operation *op) {
  if (op->getNumResults() != 1)
    return 0;
  Type type = op->getResult(0).getType();
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    // Each lane adds two products.
    return call.getIntrin().contains("dpbf16ps") ? 4 * numLanes(type) : 0;
  if (!isa<FloatType>(getElementTypeOrSelf(type)))
    return 0;
  if (isa<math::FmaOp, vector::FMAOp>(op))
    return 2 * numLanes(type);
  if (isa<vector::ReductionOp>(op))
    return numLanes(op->getOperand(0).getType());
  return isa<math::MathDialect>(op->getDialect()) ||
                 isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
                     arith::RemFOp, arith::NegFOp, arith::MaximumFOp,
                     arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op)
             ? numLanes(type)
             : 0;
}

namespace {
using Number = OpFoldResult;

/// A number of operations, unless it is known only when they are done.
struct Count {
  Number number;
  bool isKnown = true;

  bool isZero() const { return isKnown && isZeroInteger(number); }
};

/// How a kernel uses one buffer, by the views that it has of it.
struct Use {
  llvm::SetVector<Value> read, written;
};

class Counter {
public:
  Counter(OpBuilder &b, Operation *first, Operation *last)
      : b(b), loc(last->getLoc()), first(first), last(last),
        block(first->getBlock()) {}

  KernelWork count() {
    Count operations = none();
    for (Operation &op :
         llvm::make_range(first->getIterator(), ++last->getIterator())) {
      operations = sum(operations, operationsOf(op));
      op.walk([&](Operation *inner) { noteEffects(inner); });
    }
    Number bytes = index(0);
    for (auto &[buffer, use] : uses)
      if (!isScratch(buffer))
        for (const llvm::SetVector<Value> *views : {&use.read, &use.written})
          bytes = add(bytes, bytesOf(buffer, views->getArrayRef()));
    return {toI64(bytes),
            toI64(operations.isKnown ? operations.number : index(-1))};
  }

private:
  //===--------------------------------------------------------------------===//
  // Numbers: an attribute where they are known when compiling
  //===--------------------------------------------------------------------===//

  Number index(int64_t number) { return b.getIndexAttr(number); }
  template <typename Op, typename Function>
  Number compute(Number x, Number y, Function function) {
    std::optional<int64_t> known = getConstantIntValue(x),
                           other = getConstantIntValue(y);
    if (known && other)
      return index(function(*known, *other));
    return b.createOrFold<Op>(loc, toIndex(x), toIndex(y));
  }
  Number add(Number x, Number y) {
    if (isZeroInteger(x) || isZeroInteger(y))
      return isZeroInteger(x) ? y : x;
    return compute<arith::AddIOp>(x, y, std::plus<>());
  }
  Number subtract(Number x, Number y) {
    if (isZeroInteger(y))
      return x;
    return compute<arith::SubIOp>(x, y, std::minus<>());
  }
  Number multiply(Number x, Number y) {
    if (isOneInteger(x) || isOneInteger(y))
      return isOneInteger(x) ? y : x;
    return compute<arith::MulIOp>(x, y, std::multiplies<>());
  }
  Number divideUp(Number x, Number y) {
    if (isOneInteger(y))
      return x;
    return compute<arith::CeilDivSIOp>(x, y, [](int64_t a, int64_t c) {
      return llvm::divideCeilSigned(a, c);
    });
  }
  Number least(Number x, Number y) {
    return compute<arith::MinSIOp>(
        x, y, [](int64_t a, int64_t c) { return std::min(a, c); });
  }
  Number most(Number x, Number y) {
    return compute<arith::MaxSIOp>(
        x, y, [](int64_t a, int64_t c) { return std::max(a, c); });
  }
  Value toIndex(Number number) {
    return getValueOrCreateConstantIndexOp(b, loc, number);
  }
  Value toI64(Number number) {
    if (std::optional<int64_t> known = getConstantIntValue(number))
      return arith::ConstantIntOp::create(b, loc, *known, 64);
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), toIndex(number));
  }
  Count none() { return {index(0)}; }
  Count unknown() { return {index(0), /*isKnown=*/false}; }
  Count sum(Count x, Count y) {
    return {add(x.number, y.number), x.isKnown && y.isKnown};
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  Count operationsOf(Operation &op) {
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      return operationsOf(loop);
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      return operationsOf(structured);
    if (op.getNumRegions() == 0)
      return {index(floatOperations(&op))};
    // A branch is taken to be the longest.
    Count longest = none();
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        Count branch = operationsOf(inner);
        if (longest.isZero())
          longest = branch;
        else if (!branch.isZero())
          longest = {most(longest.number, branch.number),
                     longest.isKnown && branch.isKnown};
      }
    return longest;
  }

  Count operationsOf(Block &inner) {
    Count total = none();
    for (Operation &op : inner)
      total = sum(total, operationsOf(op));
    return total;
  }

  Count operationsOf(LoopLikeOpInterface loop) {
    if (spmd::contract::Parts::has(loop))
      return operationsOfParts(cast<scf::ForOp>(loop.getOperation()));
    Count total = none();
    for (Region *region : loop.getLoopRegions())
      for (Block &inner : *region)
        total = sum(total, operationsOf(inner));
    if (total.isZero())
      return total;
    auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(),
         step = loop.getLoopSteps();
    if (!lower || !upper || !step)
      return unknown();
    for (auto [from, to, by] : llvm::zip_equal(*lower, *upper, *step)) {
      Number times = iterations(from, to, by);
      if (!times)
        return unknown();
      total.number = multiply(total.number, times);
    }
    return total;
  }

  /// Of iterations that threads share: each has bounds of its own.
  Count operationsOfParts(scf::ForOp loop) {
    Count total = none();
    int64_t parts = spmd::contract::Parts::get(loop).getInt();
    for (int64_t part = 0; part < parts; ++part) {
      copies.clear();
      copies[loop.getInductionVar()] = toIndex(index(part));
      total = sum(total, operationsOf(*loop.getBody()));
    }
    copies.clear();
    return total;
  }

  Count operationsOf(linalg::LinalgOp op) {
    Count total = operationsOf(*op.getBlock());
    if (total.isZero())
      return total;
    for (int64_t loop = 0; loop < op.getNumLoops(); ++loop) {
      // The size of a dim of an operand that the loop walks through.
      Number times;
      for (OpOperand &operand : op->getOpOperands()) {
        AffineMap map = op.getMatchingIndexingMap(&operand);
        auto position = map.getResultPosition(b.getAffineDimExpr(loop));
        if (!position)
          continue;
        auto type = cast<ShapedType>(operand.get().getType());
        if (type.isDynamicDim(*position) && !isVisible(operand.get()))
          continue;
        times = dim(operand.get(), *position);
        break;
      }
      if (!times)
        return unknown();
      total.number = multiply(total.number, times);
    }
    return total;
  }

  /// Iterations of a loop, null if its bounds are not known behind the kernel.
  /// Of the last tile of several, which may be smaller, as many as of others.
  Number iterations(Number lower, Number upper, Number step) {
    Number from = visible(lower), to = atMost(upper), by = visible(step);
    if (by && from && to)
      return most(index(0), divideUp(subtract(to, from), by));
    std::optional<int64_t> stride = getConstantIntValue(step);
    if (!stride || *stride <= 0)
      return {};
    AffineExpr x = b.getAffineDimExpr(0), y = b.getAffineDimExpr(1);
    FailureOr<int64_t> most = ValueBoundsConstraintSet::computeConstantBound(
        presburger::BoundType::UB,
        ValueBoundsConstraintSet::Variable(AffineMap::get(2, 0, x - y),
                                           {upper, lower}),
        /*stopCondition=*/nullptr, /*closedUB=*/true);
    if (failed(most))
      return {};
    return index(std::max<int64_t>(0, llvm::divideCeilSigned(*most, *stride)));
  }

  //===--------------------------------------------------------------------===//
  // Buffers
  //===--------------------------------------------------------------------===//

  /// True if `value` can be used behind the kernel.
  bool isVisible(Value value) {
    return value.getParentRegion()->isAncestor(block->getParent());
  }
  /// `number` behind the kernel, as an index: arithmetic in the kernel is done
  /// again. Null where it is another one in each iteration of a loop.
  Number visible(Number number) {
    if (std::optional<int64_t> constant = getConstantIntValue(number))
      return index(*constant);
    Value value = copy(cast<Value>(number));
    if (!value || value.getType().isIndex())
      return value;
    return b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), value);
  }
  Value copy(Value value) {
    if (isVisible(value))
      return value;
    if (auto known = copies.find(value); known != copies.end())
      return known->second;
    Operation *op = value.getDefiningOp();
    if (!op || !value.getType().isIntOrIndex() || op->getNumRegions() ||
        !isPure(op))
      return {};
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value copied = copy(operand);
      if (!copied)
        return {};
      mapping.map(operand, copied);
    }
    Operation *copied = b.clone(*op, mapping);
    copied->setLoc(loc);
    Value result = copied->getResult(cast<OpResult>(value).getResultNumber());
    SmallVector<Value> folded;
    if (succeeded(b.tryFold(copied, folded)) && !folded.empty()) {
      result = folded[cast<OpResult>(value).getResultNumber()];
      copied->erase();
    }
    copies[value] = result;
    return result;
  }
  /// As visible; of the smaller of two numbers the one that can be had.
  Number atMost(Number number) {
    if (Number known = visible(number))
      return known;
    auto value = dyn_cast<Value>(number);
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (isa_and_present<arith::MinSIOp, arith::MinUIOp>(op))
      for (Value operand : op->getOperands())
        if (Number one = atMost(operand))
          return one;
    return {};
  }
  Number dim(Value buffer, int64_t i) {
    auto type = cast<ShapedType>(buffer.getType());
    if (type.isDynamicDim(i))
      return b.createOrFold<memref::DimOp>(loc, buffer, i);
    return index(type.getDimSize(i));
  }

  void noteEffects(Operation *op) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects) {
      // Masked accesses do not say what they do: what gives nothing writes.
      for (Value operand : op->getOperands())
        if (op->getNumRegions() == 0 &&
            isa<MemRefType, LLVM::LLVMPointerType>(operand.getType()))
          note(operand, op->getNumResults() == 0);
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (const MemoryEffects::EffectInstance &effect : instances) {
      bool reads = isa<MemoryEffects::Read>(effect.getEffect()),
           writes = isa<MemoryEffects::Write>(effect.getEffect());
      if (!reads && !writes)
        continue;
      if (Value value = effect.getValue())
        note(value, writes);
      else
        for (Value operand : op->getOperands())
          if (isa<MemRefType, LLVM::LLVMPointerType>(operand.getType()))
            note(operand, writes);
    }
  }

  void note(Value value, bool writes) {
    // The widest view that is there behind the kernel.
    while (!isVisible(value) || !isa<MemRefType>(value.getType())) {
      value = pointsInto(value);
      if (!value)
        return; // memory of the kernel's own
    }
    Value buffer = value;
    while (Value source = pointsInto(buffer))
      buffer = source;
    if (!isa<MemRefType>(buffer.getType()))
      return;
    Use &use = uses[buffer];
    (writes ? use.written : use.read).insert(value);
  }

  /// True if only the kernel uses `buffer`: it need never leave the caches.
  bool isScratch(Value buffer) {
    if (!buffer.getDefiningOp())
      return false; // an argument
    SmallVector<Value> values = {buffer};
    while (!values.empty())
      for (Operation *user : values.pop_back_val().getUsers()) {
        if (llvm::any_of(user->getResults(),
                         [](Value result) { return pointsInto(result); })) {
          llvm::append_range(values, user->getResults());
          continue;
        }
        Operation *here = block->findAncestorOpInBlock(*user);
        if (!here || here->isBeforeInBlock(first) ||
            last->isBeforeInBlock(here))
          if (!isa<memref::DeallocOp>(user))
            return false;
      }
    return true;
  }

  Number bytesOf(Value view) {
    auto type = cast<MemRefType>(view.getType());
    Number bytes = index(elementBytes(type.getElementType()));
    for (int64_t i = 0; i < type.getRank(); ++i)
      bytes = multiply(bytes, dim(view, i));
    return bytes;
  }

  /// Of all `views` of `buffer`, which may overlap.
  Number bytesOf(Value buffer, ArrayRef<Value> views) {
    Number bytes = index(0);
    for (Value view : views)
      bytes = add(bytes, bytesOf(view));
    if (views.size() > 1)
      bytes = least(bytes, bytesOf(buffer));
    return bytes;
  }

  OpBuilder &b;
  Location loc;
  Operation *first, *last;
  Block *block;
  llvm::MapVector<Value, Use> uses;
  DenseMap<Value, Value> copies; ///< of numbers in the kernel, behind it
};
} // namespace

KernelWork shardc::countWork(OpBuilder &b, Operation *first, Operation *last) {
  return Counter(b, first, last).count();
}

//===- ShardSizes.cpp - Sizes that differ by rank -------------------------===//
//
// What is computed of look-ups along the same axes is the look-up of a table,
// whose entries are computed here.
//
//===----------------------------------------------------------------------===//
#include "shardc/Analysis/ShardSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Layout/TravelFormula.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace shardc {

namespace {
/// What a number is at least and at most, as far as that is known.
struct Bounds {
  std::optional<int64_t> least, most;
};
} // namespace

/// `combine` of two numbers, unless one is missing or it overflows.
static std::optional<int64_t>
combined(std::optional<int64_t> x, std::optional<int64_t> y,
         llvm::function_ref<bool(int64_t, int64_t, int64_t &)> combine) {
  int64_t result;
  return x && y && !combine(*x, *y, result) ? std::optional(result)
                                            : std::nullopt;
}

/// `isEstimate`: of the binding by which costs are estimated alone.
static Bounds boundsOf(Value number, bool isEstimate = false) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return {*constant, *constant};
  if (auto index = dyn_cast<BlockArgument>(number)) {
    auto loop = dyn_cast<scf::ForOp>(index.getOwner()->getParentOp());
    if (!loop || loop.getInductionVar() != index)
      return {};
    // Where the loop's body runs its index is below the bound.
    Bounds from = boundsOf(loop.getLowerBound(), isEstimate),
           to = boundsOf(loop.getUpperBound(), isEstimate);
    return {from.least, combined(to.most, 1, llvm::SubOverflow<int64_t>)};
  }
  Operation *op = number.getDefiningOp();
  if (auto lookup = dyn_cast<spmd::LookupOp>(op)) {
    if (lookup.getFormulaAttr() && !isEstimate) {
      int64_t most = rangeOf(lookup).second;
      return most < INT64_MAX ? Bounds{{}, most} : Bounds();
    }
    ArrayRef<int64_t> table = lookup.getTable();
    if (table.empty())
      return {};
    return {*llvm::min_element(table), *llvm::max_element(table)};
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return {};
  Bounds x = boundsOf(op->getOperand(0), isEstimate),
         y = boundsOf(op->getOperand(1), isEstimate);
  if (isa<arith::AddIOp>(op))
    return {combined(x.least, y.least, llvm::AddOverflow<int64_t>),
            combined(x.most, y.most, llvm::AddOverflow<int64_t>)};
  if (isa<arith::SubIOp>(op))
    return {combined(x.least, y.most, llvm::SubOverflow<int64_t>),
            combined(x.most, y.least, llvm::SubOverflow<int64_t>)};
  // The least and the most of a product are at ends of both.
  std::optional<int64_t> least, most;
  for (std::optional<int64_t> a : {x.least, x.most})
    for (std::optional<int64_t> b : {y.least, y.most}) {
      std::optional<int64_t> product =
          combined(a, b, llvm::MulOverflow<int64_t>);
      if (!product)
        return {};
      least = std::min(least.value_or(*product), *product);
      most = std::max(most.value_or(*product), *product);
    }
  return {least, most};
}

SizeFacts factsOf(Value size) {
  SizeFacts facts{boundsOf(size).most, boundsOf(size, true).most};
  if (std::optional<int64_t> number = getConstantIntValue(size)) {
    facts.multiple = std::max<int64_t>(*number, 1);
  } else if (auto lookup = size.getDefiningOp<spmd::LookupOp>()) {
    int64_t divisor = 0;
    if (!lookup.getFormulaAttr())
      for (int64_t entry : lookup.getTable())
        divisor = std::gcd(divisor, entry);
    facts.multiple = std::max<int64_t>(divisor, 1);
  } else if (auto product = size.getDefiningOp<arith::MulIOp>()) {
    int64_t multiple;
    if (!llvm::MulOverflow(factsOf(product.getLhs()).multiple,
                           factsOf(product.getRhs()).multiple, multiple))
      facts.multiple = multiple;
  } else if (Operation *op = size.getDefiningOp();
             isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    facts.multiple = std::gcd(factsOf(op->getOperand(0)).multiple,
                              factsOf(op->getOperand(1)).multiple);
  }
  return facts;
}

/// What a look-up says: a table, or the formula of one.
static Attribute keyOf(spmd::LookupOp lookup) {
  if (spmd::FormulaAttr formula = lookup.getFormulaAttr())
    return formula;
  return lookup.getTableAttr();
}

ShardSizes::ShardSizes(func::FuncOp function)
    : function(function), module(function->getParentOfType<ModuleOp>()) {
  ArrayAttr inputs = spmd::contract::EntryInputs::get(module),
            outputs = spmd::contract::EntryOutputs::get(module);
  // Of the function that has these arguments, then destinations.
  if (spmd::contract::LocalView::has(function) && inputs && outputs &&
      function.getNumArguments() >= inputs.size() + outputs.size())
    for (ArrayAttr list : {inputs, outputs})
      llvm::append_range(arguments, list.getAsRange<DictionaryAttr>());
  if (function.isDeclaration())
    return;
  for (auto lookup : function.getBody().front().getOps<spmd::LookupOp>())
    known.insert({{keyOf(lookup), lookup.getAxes()}, lookup});
  // Those that are known are before everything else.
  Block &entry = function.getBody().front();
  for (auto &[key, lookup] : llvm::reverse(known))
    lookup->moveBefore(&entry, entry.begin());
}

OpFoldResult ShardSizes::lookUp(Location loc, ArrayRef<int64_t> table,
                                ArrayAttr axes, FlatSymbolRefAttr mesh,
                                spmd::FormulaAttr formula) {
  OpBuilder builder(function.getContext());
  if (!formula && llvm::all_equal(table))
    return builder.getIndexAttr(table.front());
  auto entries = builder.getDenseI64ArrayAttr(table);
  Attribute key = entries;
  if (formula)
    key = formula;
  Operation *&lookup = known[{key, axes}];
  if (!lookup) {
    builder.setInsertionPointToStart(&function.getBody().front());
    lookup = spmd::LookupOp::create(builder, loc, builder.getIndexType(),
                                    entries, axes, mesh, formula);
  }
  return lookup->getResult(0);
}

OpFoldResult ShardSizes::ofArgument(BlockArgument argument, int64_t dim) {
  if (argument.getArgNumber() >= arguments.size())
    return {};
  DictionaryAttr attrs = arguments[argument.getArgNumber()];
  auto sharding = spmd::contract::Sharding::in(attrs);
  auto global = spmd::contract::GlobalType::in(attrs);
  if (!sharding || !global)
    return {};
  auto mesh = dyn_cast_or_null<spmd::MeshOp>(
      SymbolTable::lookupSymbolIn(module, sharding.getMesh()));
  auto shape = cast<ShapedType>(global.getValue());
  if (!mesh || dim >= static_cast<int64_t>(sharding.getDims().size()))
    return {};
  spmd::DimShardingAttr cut = sharding.getDims()[dim];
  SmallVector<Attribute> axes(cut.getAxes().begin(), cut.getAxes().end());
  return lookUp(
      function.getLoc(),
      cut.getBoundaries(mesh.getMesh(), shape.getDimSize(dim)).sizes(),
      ArrayAttr::get(function.getContext(), axes), sharding.getMesh(),
      spmd::FormulaAttr::get(
          function.getContext(),
          sizeFormula(mesh.getMesh(), cut, shape.getDimSize(dim))));
}

/// What a loop carries has one size, if that is what the loop begins with, and
/// is yielded where it is what is carried.
OpFoldResult ShardSizes::ofLoop(Value carried, Value initial, Value yielded,
                                int64_t dim) {
  OpFoldResult first = of(initial, dim);
  if (!first)
    return {};
  if (!asked.insert({carried, dim}).second)
    return first;
  OpFoldResult next = of(yielded, dim);
  asked.erase({carried, dim});
  return next == first ? first : OpFoldResult();
}

OpFoldResult ShardSizes::of(Value buffer, int64_t dim) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type)
    return {};
  if (!type.isDynamicDim(dim))
    return Builder(type.getContext()).getIndexAttr(type.getDimSize(dim));
  auto sized = [&](OpFoldResult size) {
    if (std::optional<int64_t> number = getConstantIntValue(size))
      return OpFoldResult(Builder(type.getContext()).getIndexAttr(*number));
    return canonical(cast<Value>(size));
  };
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == function)
      return ofArgument(argument, dim);
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || argument == loop.getInductionVar())
      return {};
    unsigned number = argument.getArgNumber() - 1;
    return ofLoop(argument, loop.getInitArgs()[number],
                  loop.getYieldedValues()[number], dim);
  }
  Operation *op = buffer.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned number = cast<OpResult>(buffer).getResultNumber();
    return of(loop.getRegionIterArg(number), dim);
  }
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return sized(alloc.getMixedSizes()[dim]);
  if (auto cast = dyn_cast<memref::CastOp>(op))
    return of(cast.getSource(), dim);
  if (auto received = dyn_cast<spmd::ReceivedOp>(op))
    return of(received.getBuffer(), dim);
  if (auto view = dyn_cast<memref::ReinterpretCastOp>(op))
    return sized(view.getMixedSizes()[dim]);
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return sized(expand.getMixedOutputShape()[dim]);
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    OpFoldResult size = Builder(type.getContext()).getIndexAttr(1);
    ReassociationIndices group = collapse.getReassociationIndices()[dim];
    for (int64_t from : group) {
      OpFoldResult next = of(collapse.getSrc(), from);
      size = size && next ? product(size, next) : OpFoldResult();
    }
    return size;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(buffer).getResultNumber();
    OpFoldResult first = of(branch.thenYield().getOperand(number), dim),
                 second = of(branch.elseYield().getOperand(number), dim);
    return first == second ? first : OpFoldResult();
  }
  auto part = dyn_cast<memref::SubViewOp>(op);
  if (!part)
    return {};
  llvm::SmallBitVector dropped = part.getDroppedDims();
  for (auto [i, size] : llvm::enumerate(part.getMixedSizes()))
    if (!dropped.test(i) && dim-- == 0)
      return sized(size);
  return {};
}

namespace {
/// Arithmetic that ends in one op and begins with one look-up, and whose other
/// operands are numbers.
class Arithmetic {
public:
  explicit Arithmetic(Operation *last) { isKnown = add(last); }
  ~Arithmetic() {
    for (Operation *probe : probes)
      probe->destroy();
  }
  Arithmetic(const Arithmetic &) = delete;
  Arithmetic &operator=(const Arithmetic &) = delete;

  /// Null if it is none.
  spmd::LookupOp lookup() const {
    return isKnown ? leaf.getDefiningOp<spmd::LookupOp>() : spmd::LookupOp();
  }

  /// What it makes of `entry` in place of the look-up.
  std::optional<int64_t> operator()(int64_t entry) const {
    DenseMap<Value, Attribute> values;
    values[leaf] = Builder(leaf.getContext()).getIndexAttr(entry);
    Attribute last;
    for (auto [op, probe] : llvm::zip_equal(ops, probes)) {
      SmallVector<Attribute> numbers;
      for (Value operand : op->getOperands()) {
        Attribute known = values.lookup(operand);
        if (!known)
          matchPattern(operand, m_Constant(&known));
        numbers.push_back(known);
      }
      SmallVector<OpFoldResult> results;
      if (failed(probe->fold(numbers, results)) || results.size() != 1)
        return std::nullopt;
      last = dyn_cast<Attribute>(results.front());
      if (auto operand = dyn_cast<Value>(results.front()))
        for (auto [value, number] :
             llvm::zip_equal(probe->getOperands(), numbers))
          if (value == operand)
            last = number;
      if (!last)
        return std::nullopt;
      values[op->getResult(0)] = last;
    }
    return getConstantIntValue(OpFoldResult(last));
  }

  /// Beyond this many elements it goes on as before: what is linear with floors
  /// and clamps changes its slope where a number in it says so, and its steps
  /// come again after the product of its divisors.
  int64_t reach() const { return 4 * (sum + 1) * divisors; }

private:
  bool add(Operation *op) {
    constexpr size_t mostOps = 16;
    if (llvm::is_contained(ops, op))
      return true;
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
             arith::FloorDivSIOp, arith::CeilDivSIOp, arith::MaxSIOp,
             arith::MinSIOp, arith::CmpIOp, arith::SelectOp>(op))
      return false;
    bool divides =
        isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      if (std::optional<int64_t> number = getConstantIntValue(operand)) {
        if (std::abs(*number) > mostNumber ||
            (divides && i == 1 && *number < 1))
          return false;
        sum += std::abs(*number);
        if (divides && i == 1)
          divisors *= *number;
        continue;
      }
      Operation *maker = operand.getDefiningOp();
      // Of products and quotients one side is a number.
      if (!maker || (divides && i == 1) ||
          (isa<arith::MulIOp>(op) &&
           !getConstantIntValue(op->getOperand(1 - i))))
        return false;
      if (isa<spmd::LookupOp>(maker)) {
        if (leaf && leaf != operand)
          return false;
        leaf = operand;
      } else if (!add(maker)) {
        return false;
      }
    }
    ops.push_back(op);
    probes.push_back(op->clone());
    return ops.size() <= mostOps && divisors <= mostNumber;
  }

  static constexpr int64_t mostNumber = 64;
  Value leaf;
  SmallVector<Operation *> ops, probes; ///< operands first
  int64_t sum = 0, divisors = 1;
  bool isKnown = false;
};
} // namespace

/// Where `op` computes a size from itself: that one. Where it computes how many
/// windows there are in what they read: how many that is. Of n windows of k
/// elements, s apart, that is k + (n - 1) s elements, or none of none.
OpFoldResult ShardSizes::windowsIn(Operation *op) {
  if (!op->getResult(0).getType().isIndex())
    return {};
  Arithmetic count(op);
  spmd::LookupOp lookup = count.lookup();
  if (!lookup || !lookup.getFormula())
    return {};
  Formula read = lookup.getFormulaAttr().getFormula();
  if (read.kind() != FormulaKind::Size)
    return {};
  auto makes = [&](int64_t most, auto entryOf) {
    return llvm::all_of(llvm::seq_inclusive<int64_t>(0, most),
                        [&](int64_t n) { return count(entryOf(n)) == n; });
  };
  if (makes(count.reach(), [](int64_t n) { return n; }))
    return canonical(lookup);
  if (read.operands()[0].kind() != FormulaKind::Positions)
    return {};
  const Formula &positions = read.operands()[0];
  ArrayRef<int64_t> numbers = positions.numbers();
  if (positions.operands().size() != 2 || numbers[1] < 1 || numbers[2] != 1 ||
      positions.operands()[1].kind() != FormulaKind::Same)
    return {};
  const Formula &windows = positions.operands()[0];
  ArrayRef<int64_t> window = positions.operands()[1].numbers();
  int64_t apart = numbers[1], extent = window[1] - window[0];
  if (extent < 1)
    return {};
  if (!makes(count.reach() + extent,
             [&](int64_t n) { return n == 0 ? 0 : extent + (n - 1) * apart; }))
    return {};
  SmallVector<int64_t> table;
  for (int64_t entry : lookup.getTable()) {
    std::optional<int64_t> n = count(entry);
    if (!n)
      return {};
    table.push_back(*n);
  }
  return lookUp(
      op->getLoc(), table, lookup.getAxes(), lookup.getMeshAttr(),
      spmd::FormulaAttr::get(op->getContext(), Formula::size(windows)));
}

/// The table of what `op` computes of numbers and of look-ups along the same
/// axes.
OpFoldResult ShardSizes::folded(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIndex() ||
      op->getNumOperands() == 0 ||
      !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
           arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
           arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp, arith::MaxSIOp,
           arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp,
           affine::AffineApplyOp, affine::AffineMaxOp, affine::AffineMinOp>(op))
    return {};
  spmd::LookupOp first;
  SmallVector<OpFoldResult> operands;
  for (Value operand : op->getOperands()) {
    OpFoldResult known = canonical(operand);
    if (auto value = dyn_cast<Value>(known)) {
      auto lookup = value.getDefiningOp<spmd::LookupOp>();
      // What follows from a binding is computed when it is known.
      if (!lookup || lookup.getFormula() ||
          (first && (lookup.getAxes() != first.getAxes() ||
                     lookup.getMeshAttr() != first.getMeshAttr())))
        return {};
      first = lookup;
    }
    operands.push_back(known);
  }
  if (!first)
    return {};
  SmallVector<int64_t> table;
  Builder builder(op->getContext());
  Operation *probe = op->clone(); // folding may change it
  for (size_t entry = 0; entry < first.getTable().size(); ++entry) {
    SmallVector<Attribute> numbers;
    for (OpFoldResult operand : operands) {
      auto number = dyn_cast<Attribute>(operand);
      numbers.push_back(
          number ? number
                 : builder.getIndexAttr(cast<Value>(operand)
                                            .getDefiningOp<spmd::LookupOp>()
                                            .getTable()[entry]));
    }
    SmallVector<OpFoldResult> results;
    std::optional<int64_t> result;
    if (succeeded(probe->fold(numbers, results)) && results.size() == 1)
      result = getConstantIntValue(results.front());
    if (!result)
      break;
    table.push_back(*result);
  }
  probe->destroy();
  if (table.size() != first.getTable().size())
    return {};
  return lookUp(op->getLoc(), table, first.getAxes(), first.getMeshAttr(), {});
}

/// Whether `op` is the sum of its two operands.
static bool addsTwo(Operation *op) {
  if (op->getNumOperands() != 2)
    return false;
  auto apply = dyn_cast<affine::AffineApplyOp>(op);
  if (!apply)
    return isa<arith::AddIOp>(op);
  AffineMap map = apply.getAffineMap();
  auto operand = [&](unsigned i) {
    return i < map.getNumDims()
               ? getAffineDimExpr(i, op->getContext())
               : getAffineSymbolExpr(i - map.getNumDims(), op->getContext());
  };
  return map.getResult(0) == operand(0) + operand(1);
}

OpFoldResult ShardSizes::canonical(Value size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return Builder(size.getContext()).getIndexAttr(*number);
  Operation *op = size.getDefiningOp();
  if (!op)
    return size;
  if (auto lookup = dyn_cast<spmd::LookupOp>(op))
    return lookUp(lookup.getLoc(), lookup.getTable(), lookup.getAxes(),
                  lookup.getMeshAttr(), lookup.getFormulaAttr());
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> number = dim.getConstantIndex();
    OpFoldResult known = number ? of(dim.getSource(), *number) : OpFoldResult();
    return known ? known : OpFoldResult(size);
  }
  OpFoldResult table = folded(op);
  if (!table)
    table = windowsIn(op);
  if (!table && addsTwo(op))
    table = sum(canonical(op->getOperand(0)), canonical(op->getOperand(1)));
  return table ? table : OpFoldResult(size);
}

/// What `overflows` computes, entry by entry.
OpFoldResult ShardSizes::combine(OpFoldResult x, OpFoldResult y,
                                 Combine overflows, bool isSum) {
  std::optional<int64_t> a = getConstantIntValue(x), b = getConstantIntValue(y);
  auto tableOf = [](OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    return value ? value.getDefiningOp<spmd::LookupOp>() : spmd::LookupOp();
  };
  spmd::LookupOp first = tableOf(x), second = tableOf(y);
  // What follows from a binding has a formula: sums of two sizes do.
  auto sizeOf = [](spmd::LookupOp lookup) {
    Formula formula;
    if (lookup && lookup.getFormula())
      formula = lookup.getFormulaAttr().getFormula();
    return formula && formula.kind() == FormulaKind::Size
               ? formula.operands()[0]
               : Formula();
  };
  if (Formula left = sizeOf(first), right = sizeOf(second);
      isSum && left && right && first.getAxes() == second.getAxes() &&
      first.getMeshAttr() == second.getMeshAttr()) {
    SmallVector<int64_t> table;
    for (auto [m, n] : llvm::zip_equal(first.getTable(), second.getTable()))
      table.push_back(m + n);
    return lookUp(
        first.getLoc(), table, first.getAxes(), first.getMeshAttr(),
        spmd::FormulaAttr::get(function.getContext(),
                               Formula::size(joinedFormula(left, right))));
  }
  if ((!a && !first) || (!b && !second) || (first && first.getFormula()) ||
      (second && second.getFormula()) ||
      (first && second &&
       (first.getAxes() != second.getAxes() ||
        first.getMeshAttr() != second.getMeshAttr())))
    return {};
  spmd::LookupOp either = first ? first : second;
  SmallVector<int64_t> table(either ? either.getTable().size() : 1);
  for (auto [i, entry] : llvm::enumerate(table))
    if (overflows(a ? *a : first.getTable()[i], b ? *b : second.getTable()[i],
                  entry))
      return {};
  if (!either)
    return Builder(function.getContext()).getIndexAttr(table.front());
  return lookUp(either.getLoc(), table, either.getAxes(), either.getMeshAttr(),
                {});
}

OpFoldResult ShardSizes::product(OpFoldResult x, OpFoldResult y) {
  if (isConstantIntValue(x, 1))
    return y;
  if (isConstantIntValue(y, 1))
    return x;
  if (isConstantIntValue(x, 0) || isConstantIntValue(y, 0))
    return Builder(function.getContext()).getIndexAttr(0);
  return combine(x, y, llvm::MulOverflow<int64_t>);
}

OpFoldResult ShardSizes::sum(OpFoldResult x, OpFoldResult y) {
  return combine(x, y, llvm::AddOverflow<int64_t>, /*isSum=*/true);
}

OpFoldResult ShardSizes::difference(OpFoldResult x, OpFoldResult y) {
  return combine(x, y, llvm::SubOverflow<int64_t>);
}

} // namespace shardc

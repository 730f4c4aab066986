//===- Reader.cpp - Tensors to expressions --------------------------------===//
#include "Reader.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/ElementwiseTrait.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

static Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}
static RankedTensorType typeOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static bool isElementwise(Operation *op) {
  return op->getNumResults() == 1 &&
         op->hasTrait<shardc::stablehlo::ElementwiseTrait>();
}

static bool isShapeOp(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, stablehlo::TransposeOp,
             stablehlo::ReshapeOp>(op);
}

//===----------------------------------------------------------------------===//
// Numbering
//===----------------------------------------------------------------------===//

Numbering::Numbering(func::FuncOp func) {
  for (Block &block : func.getBody())
    visit(block);
}

void Numbering::visit(Block &block) {
  for (Value argument : block.getArguments())
    numbers[argument] = next++;
  for (Operation &op : block) {
    Place place = {&op, &block, ops++};
    for (Value operand : op.getOperands())
      readers[of(operand)].push_back(place);
    if (isa<stablehlo::OptimizationBarrierOp, spmd::ConstrainOp>(op)) {
      for (auto [result, operand] :
           llvm::zip(op.getResults(), op.getOperands())) {
        numbers[result] = of(operand);
        makers[of(operand)].push_back(place);
      }
      continue;
    }
    // A region of a few ops says what to do with elements; others have names
    // of their own.
    bool isSmall = true;
    for (Region &region : op.getRegions())
      isSmall &= region.empty() || (region.hasOneBlock() &&
                                    llvm::hasNItemsOrLess(region.front(), 8) &&
                                    isa<stablehlo::ReduceOp>(op));
    bool isShared = isSmall && isMemoryEffectFree(&op);
    std::string key;
    if (isShared) {
      llvm::raw_string_ostream os(key);
      os << op.getName().getStringRef()
         << op.getAttrDictionary().getAsOpaquePointer();
      for (Value operand : op.getOperands())
        os << ' ' << of(operand);
      for (Type type : op.getResultTypes())
        os << ' ' << type.getAsOpaquePointer();
      for (Region &region : op.getRegions())
        for (Operation &inner : region.getOps()) {
          os << '|' << inner.getName().getStringRef()
             << inner.getAttrDictionary().getAsOpaquePointer();
          for (Value operand : inner.getOperands()) {
            if (auto argument = dyn_cast<BlockArgument>(operand))
              os << " a" << argument.getArgNumber();
            else
              os << ' ' << operand.getDefiningOp()->getName().getStringRef();
          }
        }
    }
    for (OpResult result : op.getResults()) {
      unsigned number = next;
      if (isShared)
        number =
            known
                .try_emplace(
                    key + '#' + std::to_string(result.getResultNumber()), next)
                .first->second;
      numbers[result] = number;
      makers[number].push_back(place);
      next += number == next;
    }
    if (op.getNumResults() == 1) {
      unsigned number = of(op.getResult(0));
      bool passes =
          isElementwise(&op) || isShapeOp(&op) || isa<stablehlo::ConvertOp>(op);
      if (isa<stablehlo::IotaOp, stablehlo::ConstantOp>(op) ||
          (passes &&
           llvm::all_of(op.getOperands(), [&](Value v) { return isPure(v); })))
        pure.insert(number);
      if (isa<stablehlo::ReduceOp>(op)) {
        steps[number] = 0;
      } else if (passes) {
        unsigned nearest = 999;
        for (Value operand : op.getOperands())
          nearest = std::min(nearest, stepsFromSum(operand));
        if (nearest < 999)
          steps[number] = nearest + 1;
      }
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        visit(inner);
  }
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

DimSet raise::dimsIn(const Layout &layout) {
  DimSet dims = 0;
  for (const auto &dim : layout)
    for (unsigned part : dim)
      dims |= DimSet(1) << part;
  return dims;
}

std::optional<Layout> Reader::regroup(const Layout &layout,
                                      ArrayRef<int64_t> shape) {
  SmallVector<unsigned> parts;
  for (const auto &dim : layout)
    parts.append(dim.begin(), dim.end());
  Layout result;
  size_t next = 0;
  for (int64_t size : shape) {
    auto &dim = result.emplace_back();
    int64_t product = 1;
    while (product < size && next < parts.size()) {
      int64_t extent = sizes[parts[next]];
      if (product * extent > size) {
        if (size % product == 0 && extent % (size / product) == 0 &&
            parts[next] < kFirstBoundDim && !split)
          split = {parts[next], size / product};
        return std::nullopt;
      }
      product *= extent;
      dim.push_back(parts[next++]);
    }
    if (product != size)
      return std::nullopt;
  }
  if (next != parts.size())
    return std::nullopt;
  return result;
}

Layout raise::throughBroadcast(Operation *broadcast, const Layout &layout) {
  auto op = cast<stablehlo::BroadcastInDimOp>(broadcast);
  Layout inner;
  auto from = typeOf(op.getOperand()), to = typeOf(op.getResult());
  for (auto [i, dim] : llvm::enumerate(op.getBroadcastDimensions())) {
    bool isSame = from.getDimSize(i) == to.getDimSize(dim);
    inner.push_back(isSame ? layout[dim] : SmallVector<unsigned, 2>());
  }
  return inner;
}

Layout raise::throughTranspose(Operation *transpose, const Layout &layout) {
  Layout inner(layout.size());
  for (auto [i, dim] : llvm::enumerate(
           cast<stablehlo::TransposeOp>(transpose).getPermutation()))
    inner[dim] = layout[i];
  return inner;
}

/// True if a convert changes no value and no accumulator: floats to wider ones,
/// but not to f64.
static bool isWidening(stablehlo::ConvertOp op) {
  auto from = dyn_cast<FloatType>(elementOf(op.getOperand())),
       to = dyn_cast<FloatType>(elementOf(op.getResult()));
  return from && to && (from.isF64() || !to.isF64()) &&
         from.getFPMantissaWidth() <= to.getFPMantissaWidth() &&
         from.getWidth() <= to.getWidth();
}

Root Reader::rootOf(Value value, Layout layout) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
      layout = throughBroadcast(broadcast, layout);
    } else if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
      layout = throughTranspose(transpose, layout);
    } else if (auto convert = dyn_cast<stablehlo::ConvertOp>(op);
               convert && isWidening(convert)) {
    } else if (isa<stablehlo::ReshapeOp>(op)) {
      std::optional<Layout> inner =
          regroup(layout, typeOf(op->getOperand(0)).getShape());
      if (!inner)
        break;
      layout = *inner;
    } else {
      break;
    }
    value = op->getOperand(0);
  }
  return {value, layout};
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

DotOperand raise::dotOperand(Operation *dot, bool isRight) {
  auto op = cast<stablehlo::DotGeneralOp>(dot);
  stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  DotOperand operand;
  if (isRight)
    operand = {op.getRhs(),
               dims.getRhsBatchingDimensions(),
               dims.getRhsContractingDimensions(),
               {}};
  else
    operand = {op.getLhs(),
               dims.getLhsBatchingDimensions(),
               dims.getLhsContractingDimensions(),
               {}};
  for (int64_t dim = 0; dim < typeOf(operand.value).getRank(); ++dim)
    if (!llvm::is_contained(operand.batching, dim) &&
        !llvm::is_contained(operand.contracting, dim))
      operand.free.push_back(dim);
  return operand;
}

std::pair<Layout, Layout> raise::uncontractedLayouts(Operation *dot,
                                                     const Layout &layout) {
  DotOperand left = dotOperand(dot, false), right = dotOperand(dot, true);
  Layout lhs(typeOf(left.value).getRank()), rhs(typeOf(right.value).getRank());
  size_t next = 0;
  for (auto [l, r] : llvm::zip(left.batching, right.batching))
    lhs[l] = rhs[r] = layout[next++];
  for (int64_t dim : left.free)
    lhs[dim] = layout[next++];
  for (int64_t dim : right.free)
    rhs[dim] = layout[next++];
  return {lhs, rhs};
}

std::pair<Layout, Layout> Reader::operandLayouts(Operation *dot,
                                                 const Layout &layout) {
  auto op = cast<stablehlo::DotGeneralOp>(dot);
  stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  auto [lhs, rhs] = uncontractedLayouts(dot, layout);
  unsigned bound = kFirstBoundDim;
  for (auto [l, r] : llvm::zip(dims.getLhsContractingDimensions(),
                               dims.getRhsContractingDimensions())) {
    int64_t size = typeOf(op.getLhs()).getDimSize(l);
    if (size == 1 || bound >= 64)
      continue;
    sizes[bound] = size;
    lhs[l] = rhs[r] = {bound++};
  }
  return {lhs, rhs};
}

static std::string keyOf(const Layout &layout, bool withBound) {
  std::string key;
  llvm::raw_string_ostream os(key);
  for (const auto &dim : layout) {
    for (unsigned part : dim)
      if (part < kFirstBoundDim || withBound)
        os << part << ',';
      else
        os << '*';
    os << ';';
  }
  return key;
}

PolyId Reader::dot(Value lhs, const Layout &lhsLayout, Value rhs,
                   const Layout &rhsLayout) {
  Root first = rootOf(lhs, lhsLayout), second = rootOf(rhs, rhsLayout);
  auto order = [&](const Root &root) {
    return std::pair(numbering.of(root.value), keyOf(root.layout, false));
  };
  if (order(second) < order(first))
    std::swap(first, second);
  // Contracted dims are numbered as the first operand has them.
  SmallVector<unsigned> seen;
  auto rename = [&](Layout &layout) {
    for (auto &dim : layout)
      for (unsigned &part : dim) {
        if (part < kFirstBoundDim)
          continue;
        auto it = llvm::find(seen, part);
        if (it == seen.end())
          it = seen.insert(seen.end(), part);
        part = kFirstBoundDim + (it - seen.begin());
      }
  };
  rename(first.layout);
  rename(second.layout);
  Term term{TermKind::Dot};
  term.values = {numbering.of(first.value), numbering.of(second.value)};
  term.layouts = {first.layout, second.layout};
  term.dims = (dimsIn(first.layout) | dimsIn(second.layout)) &
              ((DimSet(1) << kFirstBoundDim) - 1);
  PolyId product = algebra.term(std::move(term));
  products.insert(product);
  return product;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool Reader::isWorthFollowing(Value value, const Layout &layout) const {
  DimSet dims = dimsIn(layout);
  if (numbering.isPure(value))
    return true;
  if (dims & keyDims)
    return rowDims == 0 || (dims & rowDims);
  return numbering.stepsFromSum(value) <= 16;
}

PolyId Reader::leaf(Value value, const Layout &layout) {
  Root root = rootOf(value, layout);
  Term term{TermKind::Leaf};
  term.values = {numbering.of(root.value)};
  term.layouts = {root.layout};
  term.dims = dimsIn(root.layout);
  term.isBool = elementOf(root.value).isInteger(1);
  term.tensor = root.value;
  term.tensorLayout = root.layout;
  return algebra.term(std::move(term));
}

PolyId Reader::read(Value value, const Layout &layout) {
  if (hasTooManyProducts())
    return algebra.number(0);
  std::string key = std::to_string(numbering.of(value)) +
                    (verbatim ? '=' : ':') + keyOf(layout, true);
  if (auto it = known.find(key); it != known.end())
    return it->second;
  ++depth;
  bool isNumber = elementOf(value).isIntOrFloat() && typeOf(value);
  PolyId result =
      isNumber && depth < 400 ? readOp(value, layout) : leaf(value, layout);
  if (algebra.tooLarge(result))
    result = leaf(value, layout);
  --depth;
  if (std::optional<TermId> id = algebra.singleTerm(result)) {
    Term &term = algebra.editTerm(*id);
    if (!term.tensor) {
      term.tensor = value;
      term.tensorLayout = layout;
    }
  }
  known[key] = result;
  return result;
}

PolyId Reader::readOp(Value value, const Layout &layout) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return leaf(value, layout);
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
    return readConstant(constant.getValue(), value, layout);
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    // Narrow types wrap round.
    int64_t size = typeOf(value).getDimSize(iota.getIotaDimension());
    Type element = elementOf(value);
    if (element.getIntOrFloatBitWidth() < 32 &&
        size > (isa<FloatType>(element)
                    ? 128
                    : 1 << (element.getIntOrFloatBitWidth() - 1)))
      return leaf(value, layout);
    return position(layout[iota.getIotaDimension()], 0, 1);
  }
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return read(broadcast.getOperand(), throughBroadcast(broadcast, layout));
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return read(transpose.getOperand(), throughTranspose(transpose, layout));
  if (isa<stablehlo::ReshapeOp>(op)) {
    std::optional<Layout> inner =
        regroup(layout, typeOf(op->getOperand(0)).getShape());
    return inner ? read(op->getOperand(0), *inner) : leaf(value, layout);
  }
  // How scores are to be sharded is of no matter once there are none.
  if (isa<stablehlo::OptimizationBarrierOp, spmd::ConstrainOp>(op))
    return read(op->getOperand(cast<OpResult>(value).getResultNumber()),
                layout);
  if (!isWorthFollowing(value, layout))
    return leaf(value, layout);
  if (auto product = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    auto [lhs, rhs] = operandLayouts(op, layout);
    // An outer product.
    if (product.getDotDimensionNumbers()
            .getLhsContractingDimensions()
            .empty()) {
      PolyId first = read(product.getLhs(), lhs);
      return algebra.multiply(first, read(product.getRhs(), rhs));
    }
    return dot(op->getOperand(0), lhs, op->getOperand(1), rhs);
  }
  if (isa<stablehlo::ReduceOp>(op) && op->getNumResults() == 1)
    return readReduce(op, layout);
  if (isElementwise(op) || isa<stablehlo::ConvertOp>(op))
    return readElementwise(op, layout);
  return leaf(value, layout);
}

PolyId Reader::position(ArrayRef<unsigned> dims, double first, double step) {
  PolyId sum = algebra.number(first);
  double stride = step;
  for (unsigned dim : llvm::reverse(dims)) {
    Term term{TermKind::Position};
    term.dim = dim;
    term.dims = DimSet(1) << dim;
    sum = algebra.add(sum, algebra.term(std::move(term)), stride);
    stride *= double(sizes[dim]);
  }
  return sum;
}

static std::optional<double> numberOf(Attribute attr) {
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(attr)) {
    if (number.getType().isInteger(1))
      return number.getValue().getBoolValue() ? 1.0 : 0.0;
    if (number.getType().isUnsignedInteger())
      return double(number.getValue().getZExtValue());
    return double(number.getValue().getSExtValue());
  }
  return std::nullopt;
}

PolyId Reader::readConstant(ElementsAttr value, Value tensor,
                            const Layout &layout) {
  auto dense = dyn_cast<DenseElementsAttr>(Attribute(value));
  if (!dense || dense.getNumElements() == 0)
    return leaf(tensor, layout);
  if (dense.isSplat()) {
    std::optional<double> number = numberOf(dense.getSplatValue<Attribute>());
    return number && !std::isnan(*number) ? algebra.number(*number)
                                          : leaf(tensor, layout);
  }
  // 0, 1, 2, ... as a constant is a position.
  auto type = dense.getType();
  SmallVector<unsigned> dims;
  for (const auto &dim : layout)
    dims.append(dim.begin(), dim.end());
  bool isLine = llvm::count_if(type.getShape(),
                               [](int64_t size) { return size != 1; }) == 1;
  if (!isLine || !type.getElementType().isIntOrFloat() ||
      dense.getNumElements() > (1 << 20))
    return leaf(tensor, layout);
  std::optional<double> first, previous, step;
  for (Attribute attr : dense.getValues<Attribute>()) {
    std::optional<double> number = numberOf(attr);
    if (!number)
      return leaf(tensor, layout);
    if (previous) {
      if (step && *number - *previous != *step)
        return leaf(tensor, layout);
      step = *number - *previous;
    } else {
      first = number;
    }
    previous = number;
  }
  return position(dims, *first, *step);
}

PolyId Reader::readReduce(Operation *op, const Layout &layout) {
  auto reduce = cast<stablehlo::ReduceOp>(op);
  Value input = reduce.getInputs()[0];
  auto type = typeOf(input);
  Layout inner(type.getRank());
  int64_t long_dim = -1;
  for (int64_t dim : reduce.getDimensions()) {
    if (type.getDimSize(dim) == 1)
      continue;
    if (long_dim >= 0)
      return leaf(op->getResult(0), layout);
    long_dim = dim;
  }
  size_t next = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(reduce.getDimensions(), dim))
      inner[dim] = layout[next++];
  Block &body = reduce.getBody().front();
  Operation *inside = body.getTerminator()->getOperand(0).getDefiningOp();
  bool isPlain = inside && inside->getNumOperands() == 2 &&
                 isa<BlockArgument>(inside->getOperand(0)) &&
                 isa<BlockArgument>(inside->getOperand(1)) &&
                 inside->getOperand(0) != inside->getOperand(1);
  bool isSum = isPlain && isa<stablehlo::AddOp>(inside) &&
               !elementOf(input).isInteger(1);
  bool isMax = isPlain && isa<stablehlo::MaxOp>(inside);
  if (!isSum && !isMax)
    return leaf(op->getResult(0), layout);
  PolyId init = read(reduce.getInitValues()[0], {});
  std::optional<double> number = algebra.constantOf(init);
  if (isSum ? number != 0.0 : !(number && *number == -INFINITY))
    return leaf(op->getResult(0), layout);
  if (long_dim < 0)
    return read(input, inner);
  // Something of each pair, summed over depth: squared distances.
  DimSet dims = dimsIn(layout);
  if (isSum && (dims & keyDims) && (dims & rowDims) && !verbatim) {
    inner[long_dim] = {kFirstBoundDim};
    sizes[kFirstBoundDim] = type.getDimSize(long_dim);
    verbatim = true;
    PolyId summed = read(input, inner);
    verbatim = false;
    // Of two points, each of which lacks the other's dim; other sums are
    // numbers of keys or of queries.
    SmallVector<TermId> terms;
    algebra.collectTerms(summed, terms);
    DimSet ofKeys = 0, ofRows = 0;
    for (TermId id : terms)
      if (const Term &part = algebra.getTerm(id);
          part.kind == TermKind::Leaf &&
          (part.dims & (DimSet(1) << kFirstBoundDim)))
        (part.dims & keyDims ? ofKeys : ofRows) |= part.dims;
    if (!ofKeys || !(ofRows & rowDims & ~ofKeys))
      return leaf(op->getResult(0), layout);
    Term term{TermKind::PairSum};
    term.arguments = {summed};
    term.dims = algebra.dimsOf(summed) & ((DimSet(1) << kFirstBoundDim) - 1);
    return algebra.term(std::move(term));
  }
  if (!seesRowSums || llvm::popcount(keyDims) != 1 ||
      (dimsIn(layout) & keyDims) ||
      type.getDimSize(long_dim) != sizes[llvm::countr_zero(keyDims)])
    return leaf(op->getResult(0), layout);
  inner[long_dim] = {unsigned(llvm::countr_zero(keyDims))};
  PolyId summed = read(input, inner);
  return isSum ? algebra.sumOverKey(summed) : algebra.maxOverKey(summed);
}

static bool hasInfinity(const Poly &poly) {
  return llvm::any_of(poly, [](const Monomial &monomial) {
    return !std::isfinite(monomial.coefficient);
  });
}

/// True for numbers that stand for no score.
static bool isLarge(std::optional<double> number) {
  return number && std::abs(*number) >= 1e4;
}

PolyId Reader::readElementwise(Operation *op, const Layout &layout) {
  Type type = elementOf(op->getResult(0));
  bool isBool = type.isInteger(1), isFloat = isa<FloatType>(type);
  // Sums and products of what wraps are not those of numbers.
  bool isRing = isFloat || type.isSignlessInteger();
  SmallVector<PolyId, 3> arguments;
  for (Value operand : op->getOperands()) {
    auto operandType = typeOf(operand);
    if (!operandType || !operandType.getElementType().isIntOrFloat())
      return leaf(op->getResult(0), layout);
    bool isScalar = operandType.getRank() == 0 && !layout.empty();
    arguments.push_back(read(operand, isScalar ? Layout() : layout));
    if (hasTooManyProducts())
      return arguments.back();
  }
  auto constant = [&](unsigned i) { return algebra.constantOf(arguments[i]); };
  auto function = [&]() {
    Term term{TermKind::Function};
    for (PolyId argument : arguments)
      term.dims |= algebra.dimsOf(argument);
    term.isBool = isBool;
    term.arguments = arguments;
    term.name = StringAttr::get(op->getContext(), op->getName().getStringRef());
    term.attributes = op->getAttrDictionary();
    for (Value operand : op->getOperands())
      term.argumentTypes.push_back(elementOf(operand));
    term.type = type;
    return algebra.term(std::move(term));
  };
  if (verbatim && algebra.dimsOf(arguments[0]) != 0 &&
      !isa<stablehlo::ConvertOp>(op))
    return function();
  bool isFinite = llvm::none_of(
      arguments, [&](PolyId id) { return hasInfinity(algebra.get(id)); });
  if (isa<stablehlo::MaxOp>(op) && isFloat) {
    if (constant(0) == -INFINITY)
      return arguments[1];
    if (constant(1) == -INFINITY)
      return arguments[0];
    return function();
  }
  if (auto convert = dyn_cast<stablehlo::ConvertOp>(op)) {
    Type from = elementOf(convert.getOperand());
    if (from == type || (isa<FloatType>(from) && isFloat))
      return arguments[0];
    bool isWider = from.isIntOrIndex() && type.isInteger() && !isBool &&
                   from.getIntOrFloatBitWidth() <= type.getIntOrFloatBitWidth();
    if (isa<IntegerType>(from) &&
        (isFloat || isWider || (constant(0) && !isBool)))
      return arguments[0];
    return function();
  }
  if (isa<stablehlo::SelectOp>(op)) {
    PolyId condition = arguments[0], yes = arguments[1], no = arguments[2];
    if (std::optional<double> known = algebra.constantOf(condition))
      return *known != 0 ? yes : no;
    if (yes == no)
      return yes;
    if (!isFinite)
      return function();
    // where(isfinite(m), m, 0) guards against what is infinite, and m - m would
    // be NaN there.
    DimSet dims =
        algebra.dimsOf(condition) | algebra.dimsOf(yes) | algebra.dimsOf(no);
    if (isFloat && !(dims & keyDims) && !(constant(1) && constant(2)))
      return function();
    bool isMask = isFloat && (isLarge(constant(1)) || isLarge(constant(2)));
    if (!isMask && (isBool || constant(2) == 0.0 || constant(1) == 0.0)) {
      PolyId product = algebra.multiply(condition, algebra.add(yes, no, -1));
      return algebra.add(product, no);
    }
    return function();
  }
  if (isBool) {
    if (isa<stablehlo::AndOp, stablehlo::MulOp>(op))
      return algebra.multiply(arguments[0], arguments[1]);
    if (isa<stablehlo::NotOp>(op))
      return algebra.add(algebra.number(1), arguments[0], -1);
    auto compare = dyn_cast<stablehlo::CompareOp>(op);
    if (compare && constant(1) == 0.0 &&
        isa<FloatType>(elementOf(compare.getLhs())) &&
        algebra.isPositive(arguments[0])) {
      using Direction = stablehlo::ComparisonDirection;
      Direction direction = compare.getComparisonDirection();
      return algebra.number(direction == Direction::GE ||
                            direction == Direction::GT ||
                            direction == Direction::NE);
    }
    return function();
  }
  if (!isRing || !isFinite)
    return function();
  if (isa<stablehlo::AddOp>(op))
    return algebra.add(arguments[0], arguments[1]);
  if (isa<stablehlo::SubtractOp>(op))
    return algebra.add(arguments[0], arguments[1], -1);
  if (isa<stablehlo::NegOp>(op))
    return algebra.scale(arguments[0], -1);
  if (isa<stablehlo::AbsOp>(op) && isFloat && algebra.isPositive(arguments[0]))
    return arguments[0];
  if (isa<stablehlo::SignOp>(op) && isFloat && algebra.isPositive(arguments[0]))
    return algebra.number(1);
  // (1 - keep) * -1e9: split, the large parts would swallow what is added
  // to it.
  if (isa<stablehlo::MulOp>(op) && isFloat &&
      ((isLarge(constant(0)) && algebra.get(arguments[1]).size() > 1) ||
       (isLarge(constant(1)) && algebra.get(arguments[0]).size() > 1)))
    return function();
  if (isa<stablehlo::MulOp>(op))
    return algebra.multiply(arguments[0], arguments[1]);
  if (isa<chlo::SquareOp>(op))
    return algebra.multiply(arguments[0], arguments[0]);
  if (!isFloat)
    return function();
  if (isa<stablehlo::DivOp>(op) && constant(1) != 0.0)
    return algebra.multiply(arguments[0], algebra.invert(arguments[1]));
  if (isa<stablehlo::SqrtOp, stablehlo::RsqrtOp>(op) && constant(0) &&
      *constant(0) > 0)
    return algebra.number(isa<stablehlo::SqrtOp>(op)
                              ? std::sqrt(*constant(0))
                              : 1 / std::sqrt(*constant(0)));
  if (isa<stablehlo::PowOp>(op) && constant(1) == 2.0)
    return algebra.multiply(arguments[0], arguments[0]);
  if (isa<stablehlo::ExpOp>(op))
    return algebra.exponential(arguments[0]);
  if (isa<stablehlo::LogOp>(op))
    return algebra.logarithm(arguments[0]);
  return function();
}

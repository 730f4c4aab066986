//===- AllPairs.cpp - Every query with every key --------------------------===//
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Pairs/IR/PairsOrders.h"
#include "shardc/Dialect/Spmd/IR/SpmdOrders.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

SmallVector<int64_t> AllPairsOpInterface::getDimSizes() {
  SmallVector<int64_t> sizes(getNumDims(), 1);
  llvm::SmallBitVector known(getNumDims());
  auto look = [&](Type type, AffineMap map) {
    for (auto [size, expr] :
         llvm::zip(cast<RankedTensorType>(type).getShape(), map.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (!known.test(dim))
        sizes[dim] = size;
      if (!ShapedType::isDynamic(size))
        known.set(dim);
    }
  };
  for (auto [i, type] : llvm::enumerate(getOperation()->getOperandTypes()))
    look(type, getMap(i));
  for (auto [i, type] : llvm::enumerate(getOperation()->getResultTypes()))
    look(type, getResultMap(i));
  return sizes;
}

FloatType AllPairsOpInterface::getAccumulatorType() {
  Operation *op = getOperation();
  bool isDouble = cast<RankedTensorType>(op->getOperand(0).getType())
                      .getElementType()
                      .isF64();
  return isDouble ? FloatType(Float64Type::get(op->getContext()))
                  : FloatType(Float32Type::get(op->getContext()));
}

namespace {
/// Which dims a tensor must have and may have.
struct Role {
  std::string name;
  SmallVector<int64_t, 2> required;
  SmallVector<int64_t, 2> allowed;
  bool allBatchDims = false;
};
} // namespace

static StringRef nameOfDim(AllPairsOpInterface op, int64_t dim) {
  if (dim < op.getNumBatchDims())
    return "batch";
  return ArrayRef<StringRef>(
      {"query", "key", "depth", "feature"})[dim - op.getNumBatchDims()];
}

/// Checks which dims one tensor has, and their sizes against those of others.
static LogicalResult verifyTensor(AllPairsOpInterface op, const Role &role,
                                  Type type, AffineMap map,
                                  ArrayRef<int64_t> sizes) {
  auto tensor = cast<RankedTensorType>(type);
  llvm::SmallBitVector seen(sizes.size());
  for (int64_t i = 0, e = tensor.getRank(); i < e; ++i) {
    int64_t dim = map.getDimPosition(i);
    seen.set(dim);
    if (dim >= op.getNumBatchDims() &&
        !llvm::is_contained(role.required, dim) &&
        !llvm::is_contained(role.allowed, dim))
      return op->emitOpError() << role.name << " has the " << nameOfDim(op, dim)
                               << " dim, which it cannot have";
    int64_t size = tensor.getDimSize(i);
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(sizes[dim]) &&
        size != sizes[dim])
      return op->emitOpError()
             << role.name << " has " << size << " elements along the "
             << nameOfDim(op, dim) << " dim (d" << dim << "), but another has "
             << sizes[dim];
  }
  for (int64_t dim : role.required)
    if (!seen.test(dim))
      return op->emitOpError()
             << role.name << " lacks the " << nameOfDim(op, dim) << " dim";
  for (int64_t dim = 0; role.allBatchDims && dim < op.getNumBatchDims(); ++dim)
    if (!seen.test(dim))
      return op->emitOpError() << role.name << " lacks batch dim d" << dim;
  return success();
}

/// Checks that `region` takes `values`, one element of each extra and the
/// positions, and yields `results`; more of any float type where `moreResults`.
static LogicalResult verifyRegion(AllPairsOpInterface op, StringRef name,
                                  Region &region, ArrayRef<Type> values,
                                  ArrayRef<Type> results,
                                  bool moreResults = false) {
  MLIRContext *context = op->getContext();
  SmallVector<Type> arguments;
  for (Type type : values)
    arguments.push_back(RankedTensorType::get({}, type));
  if (name != "pair") {
    for (Value extra : op.getExtras())
      arguments.push_back(RankedTensorType::get(
          {}, cast<RankedTensorType>(extra.getType()).getElementType()));
    arguments.append(op.getNumBatchDims() + 2,
                     RankedTensorType::get({}, IntegerType::get(context, 32)));
  }
  Block &block = region.front();
  if (block.getArgumentTypes() != TypeRange(arguments))
    return op->emitOpError()
           << "region '" << name << "' takes (" << block.getArgumentTypes()
           << "), expected (" << TypeRange(arguments) << ")";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return op->emitOpError()
           << "region '" << name << "' must end in 'pairs.yield'";
  size_t count = yield.getNumOperands();
  bool matches =
      moreResults ? count >= results.size() : count == results.size();
  for (auto [yielded, type] : llvm::zip(yield.getOperandTypes(), results))
    matches &= yielded == RankedTensorType::get({}, type);
  if (!matches)
    return op->emitOpError()
           << "region '" << name << "' yields (" << yield.getOperandTypes()
           << "), expected " << (moreResults ? "at least " : "")
           << results.size() << " of the accumulator type " << results.front();
  return success();
}

static LogicalResult verifyMaps(AllPairsOpInterface op) {
  ArrayAttr maps = op.getMaps();
  size_t expected = op->getNumOperands() + op->getNumResults();
  if (maps.size() != expected)
    return op->emitOpError() << "has " << maps.size() << " maps, expected "
                             << expected << ": one for each operand and result";
  if (op.getNumDims() < 4)
    return op->emitOpError()
           << "has maps over " << op.getNumDims()
           << " dims, expected at least query, key, depth and feature";
  // Sizes are read through the maps, so these must be of the right form first.
  for (auto [i, attr] : llvm::enumerate(maps)) {
    AffineMap map = cast<AffineMapAttr>(attr).getValue();
    Type type = i < op->getNumOperands()
                    ? op->getOperand(i).getType()
                    : op->getResult(i - op->getNumOperands()).getType();
    if (map.getNumDims() != op.getNumDims() || map.getNumSymbols() != 0 ||
        !map.isProjectedPermutation() ||
        map.getNumResults() != cast<RankedTensorType>(type).getRank())
      return op->emitOpError() << "has map " << attr << " for a tensor of "
                               << cast<RankedTensorType>(type).getRank()
                               << " dims, expected each of these to be one of "
                               << op.getNumDims() << " dims";
  }
  return success();
}

static LogicalResult verifyTensors(AllPairsOpInterface op,
                                   ArrayRef<Role> roles) {
  SmallVector<int64_t> sizes = op.getDimSizes();
  for (auto [i, role] : llvm::enumerate(roles)) {
    Type type = i < op->getNumOperands()
                    ? op->getOperand(i).getType()
                    : op->getResult(i - op->getNumOperands()).getType();
    if (failed(verifyTensor(op, role, type, op.getMap(i), sizes)))
      return failure();
  }
  return success();
}

/// Checks that shards of `sizes` are all of dim `dim`, which they put in zigzag
/// order.
static LogicalResult verifyOrder(AllPairsOpInterface op, StringRef name,
                                 ArrayRef<int64_t> sizes, int64_t dim) {
  if (sizes.empty())
    return success();
  std::optional<Boundaries> shards =
      Boundaries::fromSizes({sizes.data(), sizes.size()});
  int64_t extent = op.getDimSizes()[dim];
  if (shards && shards->size() == extent)
    return success();
  return op->emitOpError() << "has '" << name << "' "
                           << DenseI64ArrayAttr::get(op->getContext(), sizes)
                           << ", expected sizes of shards that add up to the "
                           << extent << " elements of the "
                           << nameOfDim(op, dim) << " dim";
}

static LogicalResult verifyOrders(AllPairsOpInterface op) {
  return success(
      succeeded(verifyOrder(op, "query_order", op.getQueryOrder(),
                            op.getQueryDim())) &&
      succeeded(
          verifyOrder(op, "key_order", op.getKeyOrder(), op.getKeyDim())) &&
      succeeded(getQueryOrder(op).verifyFormula(op, "query_formula")) &&
      succeeded(getKeyOrder(op).verifyFormula(op, "key_formula")));
}

static LogicalResult verifyElement(AllPairsOpInterface op, StringRef name,
                                   Value value, Type expected) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  if (element == expected)
    return success();
  return op->emitOpError() << name << " has element type " << element
                           << ", expected " << expected;
}

LogicalResult AllPairsOp::verify() {
  auto self = cast<AllPairsOpInterface>(getOperation());
  PairCombine combine = getCombine();
  bool isSoftmax = combine == PairCombine::Softmax,
       isTopK = combine == PairCombine::TopK;
  size_t numResults = isSoftmax ? 3 : isTopK ? 2 : 1;
  if (getNumResults() != numResults)
    return emitOpError() << "has " << getNumResults() << " results, expected "
                         << numResults << " of '"
                         << stringifyPairCombine(combine) << "'";
  if (getUnnormalized() && !isSoftmax)
    return emitOpError()
           << "is 'unnormalized', which belongs to 'softmax', not '"
           << stringifyPairCombine(combine) << "'";
  if (isSoftmax && !getValue())
    return emitOpError() << "lacks a value, which 'softmax' weighs";
  if (getValue() && !isSoftmax && combine != PairCombine::Sum)
    return emitOpError() << "has a value, which '"
                         << stringifyPairCombine(combine) << "' cannot weigh";
  if (isTopK && (!self.getQueryOrder().empty() || !self.getKeyOrder().empty()))
    return emitOpError() << "has dims in zigzag order, which 'top_k' cannot "
                            "have: of equal scores the lower key comes first";
  if (failed(verifyMaps(self)))
    return failure();
  int64_t query = self.getQueryDim(), key = self.getKeyDim(),
          depth = self.getDepthDim(), feature = self.getFeatureDim();
  SmallVector<Role> roles = {{"query", {query, depth}, {}},
                             {"key", {key, depth}, {}}};
  if (getValue())
    roles.push_back({"value", {key, feature}, {}});
  for (size_t i = 0; i < getExtras().size(); ++i)
    roles.push_back({("extra " + Twine(i)).str(), {}, {query, key}});
  Role row{"result 0", {query}, {}, true};
  if (getValue() || isTopK)
    row.required.push_back(feature);
  roles.push_back(row);
  if (isSoftmax)
    roles.append(
        {{"result 1", {query}, {}, true}, {"result 2", {query}, {}, true}});
  if (isTopK)
    roles.push_back({"result 1", {query, feature}, {}, true});
  if (failed(verifyTensors(self, roles)) || failed(verifyOrders(self)))
    return failure();
  Type accumulator = self.getAccumulatorType();
  for (int64_t row = 1; isSoftmax && row < 3; ++row)
    if (failed(verifyElement(self, ("result " + Twine(row)).str(),
                             getResult(row), accumulator)))
      return failure();
  if (isTopK && failed(verifyElement(self, "result 1", getResult(1),
                                     IntegerType::get(getContext(), 32))))
    return failure();
  if (!getPair().empty() &&
      failed(verifyRegion(self, "pair", getPair(), {accumulator, accumulator},
                          accumulator)))
    return failure();
  if (failed(verifyRegion(self, "score", getScore(), accumulator, accumulator)))
    return failure();
  if (getWeight().empty())
    return success();
  if (!isSoftmax)
    return emitOpError() << "has a region 'weight', which belongs to 'softmax'";
  return verifyRegion(self, "weight", getWeight(), accumulator, accumulator);
}

LogicalResult AttentionBackwardOp::verify() {
  auto self = cast<AllPairsOpInterface>(getOperation());
  if (failed(verifyMaps(self)))
    return failure();
  int64_t query = self.getQueryDim(), key = self.getKeyDim(),
          depth = self.getDepthDim(), feature = self.getFeatureDim();
  SmallVector<Role> roles = {
      {"query", {query, depth}, {}}, {"key", {key, depth}, {}},
      {"value", {key, feature}, {}}, {"max", {query}, {}, true},
      {"delta", {query}, {}, true},  {"dout", {query, feature}, {}, true}};
  for (size_t i = 0; i < getExtras().size(); ++i)
    roles.push_back({("extra " + Twine(i)).str(), {}, {query, key}});
  roles.push_back({"dquery", {query, depth}, {}});
  roles.push_back({"dkey", {key, depth}, {}});
  roles.push_back({"dvalue", {key, feature}, {}});
  for (size_t i = 0; i < getDextras().size(); ++i)
    roles.push_back({("dextra " + Twine(i)).str(), {}, {query, key}});
  if (failed(verifyTensors(self, roles)) || failed(verifyOrders(self)))
    return failure();
  Type accumulator = self.getAccumulatorType();
  if (failed(verifyElement(self, "max", getMax(), accumulator)) ||
      failed(verifyElement(self, "delta", getDelta(), accumulator)))
    return failure();
  if (failed(verifyRegion(self, "score", getScore(), accumulator, accumulator)))
    return failure();
  if (!getWeight().empty() && failed(verifyRegion(self, "weight", getWeight(),
                                                  accumulator, accumulator)))
    return failure();
  SmallVector<Type> slopes(1 + getDextras().size(), accumulator);
  return verifyRegion(self, "slope", getSlope(), {accumulator, accumulator},
                      slopes);
}

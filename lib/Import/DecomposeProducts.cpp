//===- DecomposeProducts.cpp - Maps, and products by older names ----------===//
#include "Decompose.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

//===----------------------------------------------------------------------===//
// Maps and older forms
//===----------------------------------------------------------------------===//

/// The region's ops on whole tensors, where all of them are elementwise.
LogicalResult import::decompose(MapOp op) {
  Block &body = op.getComputation().front();
  ArrayRef<int64_t> shape = Ops::typeOf(op.getResult()).getShape();
  for (Operation &inner : body.without_terminator())
    if (inner.getNumRegions() || inner.getNumResults() != 1 ||
        (!inner.hasTrait<ElementwiseTrait>() && !isa<ConstantOp>(inner)))
      return success();
  Ops ops(op);
  IRMapping mapping;
  mapping.map(body.getArguments(), op.getInputs());
  auto inShape = [&](Value value) {
    if (!mapping.contains(value)) // captured
      mapping.map(value, ops.broadcast(value, shape, {}));
    return mapping.lookup(value);
  };
  for (Operation &inner : body.without_terminator()) {
    auto type = Ops::typeOf(inner.getResult(0));
    if (auto constant = dyn_cast<ConstantOp>(inner)) {
      Value copy = ConstantOp::create(ops.b, constant.getValue());
      mapping.map(inner.getResult(0), ops.broadcast(copy, shape, {}));
      continue;
    }
    SmallVector<Value> operands =
        llvm::map_to_vector(inner.getOperands(), inShape);
    Operation *copy = ops.b.clone(inner);
    copy->setOperands(operands);
    copy->getResult(0).setType(
        RankedTensorType::get(shape, type.getElementType()));
    mapping.map(inner.getResult(0), copy->getResult(0));
  }
  replace(op, inShape(body.getTerminator()->getOperand(0)));
  return success();
}

LogicalResult import::decompose(DotOp op) {
  Ops ops(op);
  int64_t left = Ops::typeOf(op.getLhs()).getRank();
  auto dims =
      DotDimensionNumbersAttr::get(op.getContext(), {}, {}, {left - 1}, {0});
  Value product =
      DotGeneralOp::create(ops.b, op.getType(), op.getLhs(), op.getRhs(), dims,
                           op.getPrecisionConfigAttr(), DotAlgorithmAttr());
  replace(op, product);
  return success();
}

LogicalResult import::decompose(BroadcastOp op) {
  Ops ops(op);
  int64_t before = op.getBroadcastSizes().size();
  int64_t rank = Ops::typeOf(op.getOperand()).getRank();
  Value spread =
      ops.broadcast(op.getOperand(), Ops::typeOf(op.getResult()).getShape(),
                    llvm::to_vector(llvm::seq<int64_t>(before, before + rank)));
  replace(op, spread);
  return success();
}

//===----------------------------------------------------------------------===//
// Products and rows by older names
//===----------------------------------------------------------------------===//

static LogicalResult refuseConfig(Operation *op, StringRef config) {
  return op->emitOpError("has config \"")
         << config
         << "\", expected a letter for each dim, those of an operand "
            "and of the result once, and the result's among them, for "
            "example \"ab,bc->ac\"";
}

static bool areDistinctLetters(StringRef letters, int64_t rank) {
  llvm::SmallDenseSet<char> seen;
  return static_cast<int64_t>(letters.size()) == rank &&
         llvm::all_of(letters, [&](char letter) {
           return llvm::isAlpha(letter) && seen.insert(letter).second;
         });
}

/// `value`, whose dims are called `letters`, without those that neither `other`
/// nor `result` has: summed over.
static Value sumOverLone(Ops &ops, Value value, std::string &letters,
                         StringRef other, StringRef result) {
  SmallVector<int64_t> dims;
  std::string kept;
  for (auto [dim, letter] : llvm::enumerate(letters))
    if (other.contains(letter) || result.contains(letter))
      kept += letter;
    else
      dims.push_back(dim);
  letters = kept;
  return dims.empty() ? value : ops.reduce<AddOp>(value, 0, dims);
}

/// `value`, whose dims are called `letters`, with them in the order of
/// `result`.
static Value orderAs(Ops &ops, Value value, StringRef letters,
                     StringRef result) {
  auto order = llvm::map_to_vector(result, [&](char letter) {
    return static_cast<int64_t>(letters.find(letter));
  });
  RankedTensorType type = Ops::typeOf(value);
  auto shape = llvm::map_to_vector(
      order, [&](int64_t dim) { return type.getDimSize(dim); });
  return TransposeOp::create(
      ops.b, RankedTensorType::get(shape, type.getElementType()), value, order);
}

LogicalResult import::decompose(UnaryEinsumOp op) {
  auto [left, result] = op.getEinsumConfig().split("->");
  std::string letters = left.trim().str();
  result = result.trim();
  Value operand = op.getOperand();
  if (!areDistinctLetters(letters, Ops::typeOf(operand).getRank()) ||
      !areDistinctLetters(result, Ops::typeOf(op.getResult()).getRank()) ||
      !llvm::all_of(result, [&](char letter) {
        return StringRef(letters).contains(letter);
      }))
    return refuseConfig(op, op.getEinsumConfig());
  Ops ops(op);
  Value sum = sumOverLone(ops, operand, letters, "", result);
  replace(op, orderAs(ops, sum, letters, result));
  return success();
}

LogicalResult import::decompose(EinsumOp op) {
  auto [operands, result] = op.getEinsumConfig().split("->");
  auto [first, second] = operands.split(',');
  std::string left = first.trim().str(), right = second.trim().str();
  result = result.trim();
  if (!areDistinctLetters(left, Ops::typeOf(op.getLhs()).getRank()) ||
      !areDistinctLetters(right, Ops::typeOf(op.getRhs()).getRank()) ||
      !areDistinctLetters(result, Ops::typeOf(op.getResult()).getRank()) ||
      !llvm::all_of(result, [&](char letter) {
        return StringRef(left + right).contains(letter);
      }))
    return refuseConfig(op, op.getEinsumConfig());
  Ops ops(op);
  std::string leftWas = left;
  Value lhs = sumOverLone(ops, op.getLhs(), left, right, result);
  Value rhs = sumOverLone(ops, op.getRhs(), right, leftWas, result);
  SmallVector<int64_t> batch[2], contract[2], shape;
  std::string batchLetters, freeLetters[2];
  for (auto [dim, letter] : llvm::enumerate(left))
    if (size_t other = right.find(letter); other == std::string::npos) {
      freeLetters[0] += letter;
    } else {
      bool kept = result.contains(letter);
      (kept ? batch : contract)[0].push_back(dim);
      (kept ? batch : contract)[1].push_back(other);
      if (kept)
        batchLetters += letter;
    }
  for (char letter : right)
    if (!StringRef(left).contains(letter))
      freeLetters[1] += letter;
  std::string letters = batchLetters + freeLetters[0] + freeLetters[1];
  for (char letter : letters) {
    size_t dim = left.find(letter);
    shape.push_back(dim == std::string::npos
                        ? Ops::typeOf(rhs).getDimSize(right.find(letter))
                        : Ops::typeOf(lhs).getDimSize(dim));
  }
  auto dims = DotDimensionNumbersAttr::get(op.getContext(), batch[0], batch[1],
                                           contract[0], contract[1]);
  Type element = Ops::typeOf(op.getResult()).getElementType();
  Value product =
      DotGeneralOp::create(ops.b, RankedTensorType::get(shape, element), lhs,
                           rhs, dims, ArrayAttr(), DotAlgorithmAttr());
  replace(op, orderAs(ops, product, letters, result));
  return success();
}

LogicalResult import::decompose(TorchIndexSelectOp op) {
  auto type = Ops::typeOf(op.getOperand()), index = Ops::typeOf(op.getIndex());
  auto rank = type.getRank(), indices = index.getRank();
  auto dim = static_cast<int64_t>(op.getDim()),
       batches = static_cast<int64_t>(op.getBatchDims());
  assert(0 <= batches && batches <= dim && dim < rank && batches <= indices &&
         "verified");
  SmallVector<int64_t> offsets, sizes(type.getShape());
  for (int64_t at = batches; at < dim; ++at)
    offsets.push_back(at);
  for (int64_t at = dim + indices - batches; at < rank - 1 + indices - batches;
       ++at)
    offsets.push_back(at);
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, batches));
  for (int64_t at : batch)
    sizes[at] = 1;
  sizes[dim] = 1;
  Ops ops(op);
  auto numbers = GatherDimensionNumbersAttr::get(
      op.getContext(), offsets, {dim}, batch, batch, {dim}, indices);
  replace(op, GatherOp::create(ops.b, op.getOperand(), op.getIndex(), numbers,
                               sizes, /*indices_are_sorted=*/false)
                  .getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Sums of products of a kind that their result does not hold
//===----------------------------------------------------------------------===//

/// The wider of those of `types` that are a `KindT`; null if none is.
template <typename KindT> static Type widest(ArrayRef<Type> types) {
  auto bitsOf = [](Type type) {
    auto complex = dyn_cast<ComplexType>(type);
    return (complex ? complex.getElementType() : type).getIntOrFloatBitWidth();
  };
  Type found;
  for (Type type : types)
    if (isa<KindT>(type) && (!found || bitsOf(type) > bitsOf(found)))
      found = type;
  return found;
}

void import::convertBehind(Operation *op, Type computed) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  result.setType(type.clone(computed));
  auto converted = ConvertOp::create(builder, op->getLoc(), type, result);
  converted->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  result.replaceAllUsesExcept(converted, converted);
}

/// A product of complex numbers with a real result, or of floats with an
/// integer one: the whole sum is converted, as XLA does, and not what each rank
/// has of it. Floats narrower than f32 are summed in f32.
template <typename OpT> static void convertSum(OpT op) {
  Type operands[] = {getElementTypeOrSelf(op.getLhs()),
                     getElementTypeOrSelf(op.getRhs())};
  Type result = getElementTypeOrSelf(op.getResult());
  Type sum = widest<ComplexType>(operands);
  if (isa<ComplexType>(result))
    return;
  if (!sum && isa<IntegerType>(result)) {
    sum = widest<FloatType>(operands);
    if (sum && sum.getIntOrFloatBitWidth() < 32)
      sum = Float32Type::get(op.getContext());
  }
  if (!sum)
    return;
  import::convertBehind(op, sum);
}

void import::convertSumBehind(DotGeneralOp op) { convertSum(op); }
void import::convertSumBehind(ConvolutionOp op) { convertSum(op); }

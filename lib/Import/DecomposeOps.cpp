//===- DecomposeOps.cpp - Rare ops in common ones -------------------------===//
//
// What stands here needs no rule and no lowering of its own: normalisations,
// random numbers, maps, older forms of products and broadcasts, tuples, tokens.
//
//===----------------------------------------------------------------------===//
#include "RaggedDot.h"
#include "RandomBits.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/Passes.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

namespace shardc {
#define GEN_PASS_DEF_DECOMPOSEOPSPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

static void replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
}

//===----------------------------------------------------------------------===//
// Normalisation over a batch
//===----------------------------------------------------------------------===//

namespace {
/// One value a feature, spread over the operand's shape, and back.
struct Features {
  Ops &ops;
  RankedTensorType type;
  int64_t feature;

  Value spread(Value vector) {
    return ops.broadcast(vector, type.getShape(), {feature});
  }
  Value sum(Value tensor) {
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != feature)
        dims.push_back(dim);
    return ops.reduce<AddOp>(tensor, 0, dims);
  }
  double count() {
    double all = 1;
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (static_cast<int64_t>(dim) != feature)
        all *= static_cast<double>(size);
    return all;
  }
  Value deviation(Value variance, const APFloat &epsilon) {
    Value spreadVariance = spread(variance);
    Value sum = ops.op<AddOp>(spreadVariance,
                              ops.splat(type, epsilon.convertToDouble()));
    return ops.op<SqrtOp>(sum);
  }
};
} // namespace

static Value normalise(Features f, Value operand, Value scale, Value offset,
                       Value mean, Value variance, const APFloat &epsilon) {
  Value centered = f.ops.op<SubtractOp>(operand, f.spread(mean));
  Value normalised = f.ops.op<DivOp>(centered, f.deviation(variance, epsilon));
  Value scaled = f.ops.op<MulOp>(f.spread(scale), normalised);
  return f.ops.op<AddOp>(scaled, f.spread(offset));
}

static LogicalResult decompose(BatchNormInferenceOp op) {
  Ops ops(op);
  Features f{ops, Ops::typeOf(op.getOperand()),
             static_cast<int64_t>(op.getFeatureIndex())};
  replace(op, normalise(f, op.getOperand(), op.getScale(), op.getOffset(),
                        op.getMean(), op.getVariance(), op.getEpsilon()));
  return success();
}

static LogicalResult decompose(BatchNormTrainingOp op) {
  Ops ops(op);
  Features f{ops, Ops::typeOf(op.getOperand()),
             static_cast<int64_t>(op.getFeatureIndex())};
  Value sum = f.sum(op.getOperand());
  Value count = ops.splat(Ops::typeOf(sum), f.count());
  Value mean = ops.op<DivOp>(sum, count);
  Value centered = ops.op<SubtractOp>(op.getOperand(), f.spread(mean));
  Value variance =
      ops.op<DivOp>(f.sum(ops.op<MulOp>(centered, centered)), count);
  Value output = normalise(f, op.getOperand(), op.getScale(), op.getOffset(),
                           mean, variance, op.getEpsilon());
  replace(op, {output, mean, variance});
  return success();
}

static LogicalResult decompose(BatchNormGradOp op) {
  Ops ops(op);
  Features f{ops, Ops::typeOf(op.getOperand()),
             static_cast<int64_t>(op.getFeatureIndex())};
  Value grad = op.getGradOutput();
  Value centered = ops.op<SubtractOp>(op.getOperand(), f.spread(op.getMean()));
  Value deviation = f.deviation(op.getVariance(), op.getEpsilon());
  Value normalised = ops.op<DivOp>(centered, deviation);
  Value count = ops.splat(f.type, f.count());
  Value gradOffset = f.sum(grad);
  Value gradScale = f.sum(ops.op<MulOp>(grad, normalised));
  // (N g - sum g - normalised sum (g normalised)) scale / deviation / N.
  Value all = ops.op<MulOp>(grad, count);
  Value less = ops.op<SubtractOp>(all, f.spread(gradOffset));
  Value along = ops.op<MulOp>(normalised, f.spread(gradScale));
  Value inner = ops.op<SubtractOp>(less, along);
  Value factor =
      ops.op<DivOp>(ops.op<DivOp>(f.spread(op.getScale()), deviation), count);
  replace(op, {ops.op<MulOp>(factor, inner), gradScale, gradOffset});
  return success();
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

static LogicalResult decompose(RngBitGeneratorOp op) {
  auto state = dyn_cast<RankedTensorType>(op.getInitialState().getType());
  auto result = Ops::typeOf(op.getOutput());
  RngAlgorithm algorithm = op.getRngAlgorithm();
  int64_t words = state && state.getRank() == 1 && state.hasStaticShape()
                      ? state.getDimSize(0)
                      : 0;
  bool threeFry = algorithm == RngAlgorithm::THREE_FRY;
  bool fits = words == 2 || (words == 3 && !threeFry);
  if (!fits || !state.getElementType().isUnsignedInteger(64))
    return op.emitOpError("has a state of type ")
           << op.getInitialState().getType() << ", expected "
           << (threeFry ? "tensor<2xui64>"
                        : "tensor<2xui64> or tensor<3xui64>");
  Type element = result.getElementType();
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (width < 8 || width > 64)
    return emitOpUnsupported(op, " for elements of type ") << element;
  Ops ops(op);
  // DEFAULT is what XLA takes on CPUs.
  RandomBits random =
      threeFry
          ? threeFryBits(ops, op.getInitialState(), result.getShape(), width)
          : philoxBits(ops, op.getInitialState(), result.getShape(), width);
  Value bits = random.bits;
  if (bits.getType() != result)
    bits = isa<IntegerType>(element)
               ? ops.convert(bits, element)
               : BitcastConvertOp::create(ops.b, result, bits).getResult();
  replace(op, {random.state, bits});
  return success();
}

/// Numbers that depend on the op's place in the program alone: StableHLO leaves
/// them to the implementation, and every rank must draw the same.
static LogicalResult decompose(RngOp op, uint64_t place) {
  RankedTensorType type = Ops::typeOf(op.getResult());
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || !type.hasStaticShape() ||
      (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16))
    return emitOpUnsupported(op, " for elements of type ") << element;
  Ops ops(op);
  auto stateType = RankedTensorType::get(
      {2}, IntegerType::get(ops.b.getContext(), 64, IntegerType::Unsigned));
  APInt words[] = {APInt(64, place), APInt(64, 0)};
  Value state = ConstantOp::create(
      ops.b, DenseElementsAttr::get(stateType, ArrayRef<APInt>(words)));
  Value low = ops.broadcast(op.getA(), type.getShape(), {}),
        high = ops.broadcast(op.getB(), type.getShape(), {});
  if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned width = integer.getWidth();
    RandomBits random =
        threeFryBits(ops, state, type.getShape(), std::max(width, 8u));
    if (width == 1) {
      Value one = ops.splatBits(Ops::typeOf(random.bits), 1);
      Value bit = ops.compare("EQ", ops.op<AndOp>(random.bits, one), one);
      replace(op, ops.select(bit, high, low));
      return success();
    }
    Type unsignedType =
        IntegerType::get(ops.b.getContext(), width, IntegerType::Unsigned);
    Value span = ops.convert(ops.op<SubtractOp>(high, low), unsignedType);
    Value drawn = ops.op<RemOp>(random.bits, span);
    replace(op, ops.op<AddOp>(low, ops.convert(drawn, element)));
    return success();
  }
  bool wide = element.isF64();
  Type real = wide ? Type(ops.b.getF64Type()) : Type(ops.b.getF32Type());
  auto unit = [&](Value from) -> std::pair<Value, Value> {
    RandomBits random =
        threeFryBits(ops, from, type.getShape(), wide ? 64 : 32);
    RankedTensorType bits = Ops::typeOf(random.bits);
    Value mantissa = ops.op<ShiftRightLogicalOp>(
        random.bits, ops.splatBits(bits, wide ? 12 : 9));
    Value one = ops.splatBits(bits, wide ? 0x3FF0000000000000 : 0x3F800000);
    Value number = BitcastConvertOp::create(ops.b, type.clone(real),
                                            ops.op<OrOp>(mantissa, one));
    return {ops.op<SubtractOp>(number, ops.splat(type.clone(real), 1)),
            random.state};
  };
  auto [u, next] = unit(state);
  Value a = ops.convert(low, real), b = ops.convert(high, real), result;
  if (op.getRngDistribution() == RngDistribution::UNIFORM) {
    Value span = ops.op<SubtractOp>(b, a);
    result = ops.op<AddOp>(a, ops.op<MulOp>(u, span));
  } else {
    // Box and Muller's.
    RankedTensorType reals = type.clone(real);
    Value v = unit(next).first;
    Value size = ops.op<SqrtOp>(ops.op<MulOp>(
        ops.splat(reals, -2),
        ops.op<LogOp>(ops.op<SubtractOp>(ops.splat(reals, 1), u))));
    Value turn =
        ops.op<CosineOp>(ops.op<MulOp>(ops.splat(reals, 6.283185307179586), v));
    result = ops.op<AddOp>(a, ops.op<MulOp>(ops.op<MulOp>(size, turn), b));
  }
  replace(op, ops.convert(result, element));
  return success();
}

//===----------------------------------------------------------------------===//
// Maps and older forms
//===----------------------------------------------------------------------===//

/// The region's ops on whole tensors, where all of them are elementwise.
static LogicalResult decompose(MapOp op) {
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

static LogicalResult decompose(DotOp op) {
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

static LogicalResult decompose(BroadcastOp op) {
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

static LogicalResult decompose(UnaryEinsumOp op) {
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

static LogicalResult decompose(EinsumOp op) {
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

static LogicalResult decompose(TorchIndexSelectOp op) {
  auto type = Ops::typeOf(op.getOperand()), index = Ops::typeOf(op.getIndex());
  auto rank = type.getRank(), indices = index.getRank();
  auto dim = static_cast<int64_t>(op.getDim()),
       batches = static_cast<int64_t>(op.getBatchDims());
  if (dim < 0 || dim >= rank || batches < 0 || batches > dim ||
      batches > indices)
    return op.emitOpError("selects along dim ")
           << dim << " with " << batches << " batch dims, expected a dim of "
           << type << " behind as many dims of " << index;
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
// Complex numbers
//===----------------------------------------------------------------------===//

/// The less or the greater: by real parts, where these are equal by imaginary
/// ones.
template <typename OpT>
static LogicalResult decomposeOrder(OpT op, StringRef direction) {
  auto complex = dyn_cast<ComplexType>(getElementTypeOrSelf(op.getType()));
  if (!complex)
    return success();
  Ops ops(op);
  auto part = Ops::typeOf(op.getResult()).clone(complex.getElementType());
  auto compare = [&](StringRef how, auto take) {
    return ops.compare(how, take(op.getLhs()), take(op.getRhs()));
  };
  auto real = [&](Value value) -> Value {
    return RealOp::create(ops.b, part, value);
  };
  auto imaginary = [&](Value value) -> Value {
    return ImagOp::create(ops.b, part, value);
  };
  Value byReal = compare(direction, real);
  Value byImaginary = compare(direction, imaginary);
  Value first = ops.select(compare("EQ", real), byImaginary, byReal);
  replace(op, ops.select(first, op.getLhs(), op.getRhs()));
  return success();
}

/// Bits of complex numbers as those of their parts, real ones first.
static LogicalResult decompose(BitcastConvertOp op) {
  auto from = Ops::typeOf(op.getOperand()), to = Ops::typeOf(op.getResult());
  auto fromComplex = dyn_cast<ComplexType>(from.getElementType()),
       toComplex = dyn_cast<ComplexType>(to.getElementType());
  if (!fromComplex && !toComplex)
    return success();
  Value value = op.getOperand();
  if (from == to) {
    replace(op, value);
    return success();
  }
  Ops ops(op);
  if (fromComplex) {
    auto part = from.clone(fromComplex.getElementType());
    SmallVector<int64_t> shape(from.getShape());
    shape.push_back(1);
    Value real = RealOp::create(ops.b, part, value),
          imaginary = ImagOp::create(ops.b, part, value);
    real = ops.reshape(real, shape);
    imaginary = ops.reshape(imaginary, shape);
    shape.back() = 2;
    value = ConcatenateOp::create(
        ops.b, RankedTensorType::get(shape, part.getElementType()),
        ValueRange{real, imaginary}, from.getRank());
  }
  Type element = toComplex ? toComplex.getElementType() : to.getElementType();
  SmallVector<int64_t> shape(to.getShape());
  if (toComplex)
    shape.push_back(2);
  int64_t had = Ops::typeOf(value).getElementTypeBitWidth(),
          needed = element.getIntOrFloatBitWidth();
  SmallVector<int64_t> between(Ops::typeOf(value).getShape());
  if (had < needed) {
    between = shape;
    between.push_back(needed / had);
    value = ops.reshape(value, between);
    between.pop_back();
  } else if (had > needed) {
    between.push_back(had / needed);
  }
  auto bits = RankedTensorType::get(between, element);
  if (value.getType() != bits)
    value = BitcastConvertOp::create(ops.b, bits, value);
  value = ops.reshape(value, shape);
  if (!toComplex) {
    replace(op, value);
    return success();
  }
  auto take = [&](int64_t which) {
    SmallVector<int64_t> starts(shape.size(), 0), limits(shape),
        strides(shape.size(), 1), block(shape);
    starts.back() = which;
    limits.back() = which + 1;
    block.back() = 1;
    Value slice = SliceOp::create(ops.b, RankedTensorType::get(block, element),
                                  value, starts, limits, strides);
    return ops.reshape(slice, to.getShape());
  };
  Value real = take(0), imaginary = take(1);
  replace(op, ComplexOp::create(ops.b, to, real, imaginary).getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Communication of one process
//===----------------------------------------------------------------------===//

/// Whether the module is written for one device alone.
static bool isForOneDevice(ModuleOp module) {
  for (StringRef name : {"mhlo.num_partitions", "mhlo.num_replicas"})
    if (auto count = module->getAttrOfType<IntegerAttr>(name);
        count && count.getInt() != 1)
      return false;
  bool sdyHasOne =
      llvm::all_of(module.getOps<sdy::MeshOp>(), [](sdy::MeshOp mesh) {
        return mesh.getMesh().getTotalSize() == 1;
      });
  return sdyHasOne &&
         llvm::all_of(module.getOps<spmd::MeshOp>(), [](spmd::MeshOp mesh) {
           return mesh.getMesh().getNumRanks() == 1;
         });
}

/// A collective of one process among itself, as pmap over an axis of one device
/// prints it. False for others, which CheckSupported will refuse.
static bool dropExchange(Operation *op) {
  auto groups = op->getAttrOfType<DenseIntElementsAttr>(
      isa<CollectivePermuteOp>(op) ? "source_target_pairs" : "replica_groups");
  if (op->getParentOfType<sdy::ManualComputationOp>() ||
      op->getParentOfType<spmd::ManualOp>())
    return false;
  if (isa<PartitionIdOp, ReplicaIdOp>(op)) {
    Ops ops(op);
    replace(op, ops.splat(Ops::typeOf(op->getResult(0)), 0));
    return true;
  }
  if (!groups || groups.getNumElements() == 0 ||
      !llvm::all_of(groups.getValues<APInt>(),
                    [](const APInt &member) { return member.isZero(); }) ||
      !llvm::equal(TypeRange(op->getOperands()).take_front(op->getNumResults()),
                   op->getResultTypes()))
    return false;
  replace(op, op->getOperands().take_front(op->getNumResults()));
  return true;
}

/// One op for each value that is sent; a member that is computed is read from
/// the values of all.
static LogicalResult decompose(CollectiveBroadcastOp op) {
  if (op.getNumResults() == 1 && !op.getHasDynamicRoot())
    return success();
  Ops ops(op);
  SmallVector<Value> results;
  for (auto [i, sent] : llvm::enumerate(op.getSent())) {
    RankedTensorType type = Ops::typeOf(sent);
    if (!op.getHasDynamicRoot()) {
      auto one = CollectiveBroadcastOp::create(
          ops.b, TypeRange(type), ValueRange(sent), op.getReplicaGroups(),
          op.getChannelHandleAttr(), /*has_dynamic_root=*/false);
      results.push_back(one.getResult(0));
      continue;
    }
    auto groups = dyn_cast<DenseIntElementsAttr>(op.getReplicaGroups());
    if (!groups || groups.getType().getRank() != 2 || !type.hasStaticShape())
      return emitOpUnsupported(
          op, ": reads its root from an operand; give groups as "
              "a matrix of numbers and tensors of known shape");
    auto index = static_cast<int64_t>(i);
    SmallVector<int64_t> shape = {1};
    llvm::append_range(shape, type.getShape());
    Value mine = ops.reshape(sent, shape);
    shape[0] = groups.getType().getDimSize(1);
    Value all =
        AllGatherOp::create(
            ops.b,
            TypeRange(RankedTensorType::get(shape, type.getElementType())),
            ValueRange(mine),
            /*all_gather_dim=*/0, op.getReplicaGroups(),
            ChannelHandleAttr::get(op.getContext(), /*handle=*/1, /*type=*/1),
            /*use_global_device_ids=*/true)
            .getResult(0);
    Value root = op.getOperands().back();
    Value place =
        SliceOp::create(ops.b, root, ArrayRef<int64_t>(index),
                        ArrayRef<int64_t>(index + 1), ArrayRef<int64_t>(1));
    SmallVector<Value> from = {ops.reshape(place, {})};
    from.append(type.getRank(), ops.splat(Ops::typeOf(from[0]), 0));
    shape[0] = 1;
    Value block = DynamicSliceOp::create(
        ops.b, RankedTensorType::get(shape, type.getElementType()), all, from,
        shape);
    results.push_back(ops.reshape(block, type.getShape()));
  }
  replace(op, results);
  return success();
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// A loop over the slices, which writes those of the outputs where they belong.
static LogicalResult decompose(chlo::ScanOp op) {
  Ops ops(op);
  auto dim = static_cast<int64_t>(op.getDimension());
  auto count = static_cast<int64_t>(op.getScanDimSize().value_or(0));
  for (Value value : llvm::concat<Value>(llvm::to_vector(op.getInputs()),
                                         llvm::to_vector(op.getOutputs())))
    count = Ops::typeOf(value).getDimSize(dim);
  for (Type type : op->getResultTypes())
    if (!cast<RankedTensorType>(type).hasStaticShape())
      return emitOpUnsupported(op, ": has a result of dynamic shape ") << type;
  auto number = RankedTensorType::get({}, ops.b.getI64Type());
  SmallVector<Value> start = {ops.splat(number, 0)};
  for (Value output : op.getOutputs())
    start.push_back(ops.splat(Ops::typeOf(output), 0));
  llvm::append_range(start, op.getInits());
  auto loop = WhileOp::create(ops.b, TypeRange(ValueRange(start)), start);
  Value limit = ops.splat(number, count), one = ops.splat(number, 1),
        last = ops.splat(number, count - 1), zero = start.front();
  for (Value value : {limit, one, last})
    value.getDefiningOp()->moveBefore(loop);
  SmallVector<Location> locs(start.size(), op.getLoc());
  Block &cond = loop.getCond().emplaceBlock();
  cond.addArguments(loop.getOperandTypes(), locs);
  ops.b.setInsertionPointToStart(&cond);
  ReturnOp::create(ops.b, ops.compare("LT", cond.getArgument(0), limit));

  Block &body = loop.getBody().emplaceBlock();
  body.addArguments(loop.getOperandTypes(), locs);
  ops.b.setInsertionPointToStart(&body);
  Value turn = body.getArgument(0);
  Value at = op.getIsReverse() ? ops.op<SubtractOp>(last, turn) : turn;
  auto startsOf = [&](RankedTensorType type) {
    SmallVector<Value> starts(type.getRank(), zero);
    starts[dim] = at;
    return starts;
  };
  IRMapping mapping;
  Block &step = op.getBody().front();
  for (auto [argument, input] :
       llvm::zip(step.getArguments(), op.getInputs())) {
    RankedTensorType type = Ops::typeOf(input);
    SmallVector<int64_t> sizes(type.getShape());
    sizes[dim] = 1;
    Value slice = DynamicSliceOp::create(
        ops.b, RankedTensorType::get(sizes, type.getElementType()), input,
        startsOf(type), sizes);
    sizes.erase(sizes.begin() + dim);
    mapping.map(argument, ops.reshape(slice, sizes));
  }
  size_t outputs = op.getOutputs().size();
  for (auto [argument, carried] :
       llvm::zip(step.getArguments().drop_front(op.getInputs().size()),
                 body.getArguments().drop_front(1 + outputs)))
    mapping.map(argument, carried);
  for (Operation &inner : step.without_terminator())
    ops.b.clone(inner, mapping);
  SmallVector<Value> next = {ops.op<AddOp>(turn, one)};
  for (auto [i, value] : llvm::enumerate(step.getTerminator()->getOperands())) {
    Value given = mapping.lookupOrDefault(value);
    if (i < outputs) {
      Value whole = body.getArgument(1 + i);
      SmallVector<int64_t> sizes(Ops::typeOf(whole).getShape());
      sizes[dim] = 1;
      given = DynamicUpdateSliceOp::create(ops.b, whole.getType(), whole,
                                           ops.reshape(given, sizes),
                                           startsOf(Ops::typeOf(whole)));
    }
    next.push_back(given);
  }
  ReturnOp::create(ops.b, next);
  replace(op, loop.getResults().drop_front());
  return success();
}

//===----------------------------------------------------------------------===//
// Tuples and tokens
//===----------------------------------------------------------------------===//

static LogicalResult decompose(GetTupleElementOp op) {
  auto tuple = op.getOperand().getDefiningOp<TupleOp>();
  if (!tuple || op.getIndex() >= tuple.getVal().size())
    return emitUnsupported(op, "'")
           << op->getName() << "' at " << userLocation(op.getLoc())
           << " takes a value out of a tuple that is not made beside it";
  replace(op, tuple.getVal()[op.getIndex()]);
  return success();
}

/// Tokens order side effects, which the order of ops does as well.
static void dropUnused(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<TupleOp, AfterAllOp, CreateTokenOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
}

static llvm::BitVector areTokens(TypeRange types) {
  llvm::BitVector tokens(types.size());
  for (auto [i, type] : llvm::enumerate(types))
    tokens[i] = isa<TokenType>(type);
  return tokens;
}

/// The shardings of values that are not `tokens`.
static sdy::TensorShardingPerValueAttr
withoutTokens(sdy::TensorShardingPerValueAttr shardings,
              const llvm::BitVector &tokens) {
  SmallVector<sdy::TensorShardingAttr> kept;
  for (auto [i, sharding] : llvm::enumerate(shardings.getShardings()))
    if (!tokens[i])
      kept.push_back(sharding);
  return sdy::TensorShardingPerValueAttr::get(shardings.getContext(), kept);
}

/// Takes tokens out of what loops carry, branches yield, and manual regions
/// take and give: nobody who could read them is left but ops of the same kind,
/// and @main's end. Innermost first.
static void dropCarriedTokens(Operation *op) {
  llvm::BitVector results = areTokens(op->getResultTypes()),
                  operands = areTokens(op->getOperandTypes());
  if (results.none() && operands.none())
    return;
  OpBuilder builder(op);
  // Whatever still reads one is refused for it.
  Value token;
  for (unsigned i : results.set_bits())
    if (!op->getResult(i).use_empty()) {
      if (!token)
        token = CreateTokenOp::create(builder, op->getLoc());
      op->getResult(i).replaceAllUsesWith(token);
    }
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op)) {
    manual.setInShardingsAttr(withoutTokens(manual.getInShardings(), operands));
    manual.setOutShardingsAttr(
        withoutTokens(manual.getOutShardings(), results));
  }
  bool takesThem = isa<WhileOp, sdy::ManualComputationOp>(op);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (takesThem)
        for (BlockArgument argument : block.getArguments())
          if (isa<TokenType>(argument.getType()) && !argument.use_empty()) {
            OpBuilder inside = OpBuilder::atBlockBegin(&block);
            argument.replaceAllUsesWith(
                CreateTokenOp::create(inside, op->getLoc()).getResult());
          }
      if (takesThem)
        block.eraseArguments(areTokens(block.getArgumentTypes()));
      block.getTerminator()->eraseOperands(
          areTokens(block.getTerminator()->getOperandTypes()));
    }
  if (takesThem)
    op->eraseOperands(operands);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    if (!isa<TokenType>(type))
      types.push_back(type);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), types);
  state.attributes = op->getDiscardableAttrDictionary();
  state.propertiesAttr = op->getPropertiesAsAttribute();
  // One sharding a result.
  if (auto shardings = dyn_cast_or_null<sdy::TensorShardingPerValueAttr>(
          state.attributes.get("sdy.sharding"));
      shardings && shardings.getShardings().size() == op->getNumResults())
    state.attributes.set("sdy.sharding", withoutTokens(shardings, results));
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *without = builder.create(state);
  unsigned next = 0;
  for (Value result : op->getResults())
    if (!isa<TokenType>(result.getType()))
      result.replaceAllUsesWith(without->getResult(next++));
  op->erase();
}

/// Takes tokens off @main that say in what order it runs its effects, as
/// programs with ordered callbacks have them. A token that something else reads
/// stays, and is refused.
static void dropTokens(func::FuncOp main) {
  if (!main || main.isExternal() || !main.getBody().hasOneBlock())
    return;
  Block &body = main.getBody().front();
  Operation *end = body.getTerminator();
  llvm::BitVector results = areTokens(end->getOperandTypes());
  if (results.any()) {
    (void)main.eraseResults(results);
    end->eraseOperands(results);
  }
  llvm::BitVector arguments = areTokens(body.getArgumentTypes());
  for (unsigned i : arguments.set_bits())
    if (!body.getArgument(i).use_empty())
      arguments.reset(i);
  if (arguments.any())
    (void)main.eraseArguments(arguments);
}

/// Takes tokens out of barriers, which then order values alone.
static LogicalResult decompose(OptimizationBarrierOp op) {
  auto isToken = [](Value value) { return isa<TokenType>(value.getType()); };
  if (llvm::none_of(op.getOperands(), isToken))
    return success();
  SmallVector<Value> kept;
  for (auto [operand, result] : llvm::zip(op.getOperands(), op.getResults()))
    if (isToken(operand))
      result.replaceAllUsesWith(operand);
    else
      kept.push_back(operand);
  OpBuilder builder(op);
  auto barrier = OptimizationBarrierOp::create(
      builder, op.getLoc(), TypeRange(ValueRange(kept)), kept);
  unsigned next = 0;
  for (auto [operand, result] : llvm::zip(op.getOperands(), op.getResults()))
    if (!isToken(operand))
      result.replaceAllUsesWith(barrier.getResult()[next++]);
  op.erase();
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

/// A product of complex numbers with a real result, or of floats with an
/// integer one: the whole sum is converted, as XLA does, and not what each rank
/// has of it. Floats narrower than f32 are summed in f32.
template <typename OpT> static void convertBehind(OpT op) {
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
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto type = cast<RankedTensorType>(op.getType());
  op.getResult().setType(type.clone(sum));
  auto converted =
      ConvertOp::create(builder, op.getLoc(), type, op.getResult());
  converted->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.getResult().replaceAllUsesExcept(converted, converted);
}

//===----------------------------------------------------------------------===//
// Windows that do not fit
//===----------------------------------------------------------------------===//

namespace {
struct IndexRange {
  int64_t low, high;
};
} // namespace

/// The least and the largest element of `indices`, or, with a `dim`, of those
/// at `coordinate` in it; none where the program does not say them.
static std::optional<IndexRange>
rangeOf(Value indices, std::optional<int64_t> dim, int64_t coordinate) {
  RankedTensorType type = Ops::typeOf(indices);
  DenseIntElementsAttr elements;
  if (matchPattern(indices, m_Constant(&elements))) {
    int64_t inner = 1, size = 1;
    if (dim) {
      size = type.getDimSize(*dim);
      for (int64_t behind : type.getShape().drop_front(*dim + 1))
        inner *= behind;
    }
    std::optional<IndexRange> range;
    for (auto [at, element] : llvm::enumerate(elements.getValues<APInt>())) {
      if (dim && static_cast<int64_t>(at) / inner % size != coordinate)
        continue;
      std::optional<int64_t> number = element.trySExtValue();
      if (type.getElementType().isUnsignedInteger())
        number = element.getActiveBits() < 64
                     ? std::optional<int64_t>(element.getZExtValue())
                     : std::nullopt;
      if (!number)
        return std::nullopt;
      range = range ? IndexRange{std::min(range->low, *number),
                                 std::max(range->high, *number)}
                    : IndexRange{*number, *number};
    }
    return range;
  }
  Operation *producer = indices.getDefiningOp();
  if (auto spread = dyn_cast_or_null<BroadcastInDimOp>(producer)) {
    std::optional<int64_t> from;
    for (auto [i, to] : llvm::enumerate(spread.getBroadcastDimensions()))
      if (dim && to == *dim &&
          Ops::typeOf(spread.getOperand()).getDimSize(i) ==
              type.getDimSize(*dim))
        from = i;
    return rangeOf(spread.getOperand(), from, coordinate);
  }
  if (auto join = dyn_cast_or_null<ConcatenateOp>(producer)) {
    if (!dim || static_cast<int64_t>(join.getDimension()) != *dim)
      return std::nullopt;
    for (Value part : join.getInputs()) {
      int64_t size = Ops::typeOf(part).getDimSize(*dim);
      if (coordinate < size)
        return rangeOf(part, dim, coordinate);
      coordinate -= size;
    }
    return std::nullopt;
  }
  if (auto clamp = dyn_cast_or_null<ClampOp>(producer)) {
    auto bound = [&](Value value) {
      bool isScalar = Ops::typeOf(value).getRank() == 0;
      return rangeOf(value, isScalar ? std::nullopt : dim, coordinate);
    };
    std::optional<IndexRange> low = bound(clamp.getMin()),
                              high = bound(clamp.getMax());
    if (low && high && low->high <= high->low)
      return IndexRange{low->low, high->high};
    return std::nullopt;
  }
  if (auto shape = dyn_cast_or_null<ReshapeOp>(producer))
    if (Ops::typeOf(shape.getOperand()).getNumElements() == 1)
      return rangeOf(shape.getOperand(), std::nullopt, 0);
  return std::nullopt;
}

/// A window of updates of which a part is outside is dropped whole, as XLA does
/// and JAX says; behind Import each element is judged for itself, as ranks have
/// parts of windows. So the index of such a window becomes one that is outside
/// with every element.
static LogicalResult decompose(ScatterOp op) {
  ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
  RankedTensorType type = Ops::typeOf(op.getInputs().front()),
                   updates = Ops::typeOf(op.getUpdates().front());
  if (!type.hasStaticShape() || !updates.hasStaticShape())
    return success();
  SmallVector<int64_t> window(type.getRank(), 1);
  auto sizes = numbers.getUpdateWindowDims().begin();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), dim) &&
        !llvm::is_contained(numbers.getInputBatchingDims(), dim))
      window[dim] = updates.getDimSize(*sizes++);

  Value indices = op.getScatterIndices();
  int64_t rank = Ops::typeOf(indices).getRank(),
          vectorDim = numbers.getIndexVectorDim();
  std::optional<int64_t> dim;
  if (vectorDim < rank)
    dim = vectorDim;
  // By coordinate of an index: the last place where the window fits, and the
  // first that is outside.
  ArrayRef<int64_t> moved = numbers.getScatterDimsToOperandDims();
  SmallVector<int64_t> last(moved.size()), outside(moved.size());
  SmallVector<bool> judged(moved.size());
  for (auto [i, to] : llvm::enumerate(moved)) {
    last[i] = type.getDimSize(to) - window[to];
    outside[i] = type.getDimSize(to);
    std::optional<IndexRange> range = rangeOf(indices, dim, i);
    judged[i] =
        window[to] > 1 && !(range && range->low >= 0 && range->high <= last[i]);
  }
  if (!llvm::is_contained(judged, true))
    return success();

  Ops ops(op);
  auto integer = cast<IntegerType>(Ops::typeOf(indices).getElementType());
  if (integer.getWidth() < 32) {
    integer = IntegerType::get(op.getContext(), 32);
    indices = ops.convert(indices, integer);
  }
  RankedTensorType indexType = Ops::typeOf(indices);
  unsigned width = integer.getWidth();
  APInt least = integer.isUnsigned() ? APInt::getZero(width)
                                     : APInt::getSignedMinValue(width),
        most = integer.isUnsigned() ? APInt::getMaxValue(width)
                                    : APInt::getSignedMaxValue(width);
  // One number a coordinate, `unjudged` where all indices may stay.
  auto numbersOf = [&](ArrayRef<int64_t> judgedNumbers, APInt unjudged) {
    SmallVector<APInt> each;
    for (auto [i, number] : llvm::enumerate(judgedNumbers))
      each.push_back(judged[i] ? APInt(width, number, /*isSigned=*/true)
                               : unjudged);
    RankedTensorType vector = RankedTensorType::get(
        dim ? ArrayRef<int64_t>{static_cast<int64_t>(each.size())}
            : ArrayRef<int64_t>{},
        integer);
    Value constant = ConstantOp::create(
        ops.b, DenseElementsAttr::get(vector, ArrayRef<APInt>(each)));
    return ops.broadcast(constant, indexType.getShape(),
                         dim ? ArrayRef<int64_t>(*dim) : ArrayRef<int64_t>{});
  };
  SmallVector<int64_t> first(moved.size(), 0);
  Value fits =
      ops.op<AndOp>(ops.compare("GE", indices, numbersOf(first, least)),
                    ops.compare("LE", indices, numbersOf(last, most)));
  op.getScatterIndicesMutable().assign(
      ops.select(fits, indices, numbersOf(outside, least)));
  return success();
}

namespace {
struct DecomposeOpsPass final
    : shardc::impl::DecomposeOpsPassBase<DecomposeOpsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    uint64_t drawn = 0;
    bool alone = isForOneDevice(getOperation());
    for (Operation *op : ops) {
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<BatchNormInferenceOp, BatchNormTrainingOp, BatchNormGradOp,
                    RngBitGeneratorOp, MapOp, DotOp, BroadcastOp,
                    GetTupleElementOp, OptimizationBarrierOp, EinsumOp,
                    UnaryEinsumOp, TorchIndexSelectOp, BitcastConvertOp,
                    ScatterOp, chlo::ScanOp>(
                  [](auto op) { return decompose(op); })
              .Case([](MinOp op) { return decomposeOrder(op, "LT"); })
              .Case([](MaxOp op) { return decomposeOrder(op, "GT"); })
              .Case<DotGeneralOp, ConvolutionOp>([](auto op) {
                convertBehind(op);
                return success();
              })
              .Case([](chlo::RaggedDotOp op) { return decomposeRaggedDot(op); })
              .Case([](chlo::MulhiOp op) { return decomposeMulhi(op); })
              .Case([&](RngOp op) { return decompose(op, ++drawn); })
              .Case([&](CollectiveBroadcastOp op) {
                if (alone && dropExchange(op))
                  return success();
                return decompose(op);
              })
              .Case<AllGatherOp, AllReduceOp, ReduceScatterOp, AllToAllOp,
                    CollectivePermuteOp, PartitionIdOp, ReplicaIdOp>(
                  [&](auto op) {
                    if (alone)
                      (void)dropExchange(op);
                    return success();
                  })
              .Default(success());
      if (failed(result))
        return signalPassFailure();
    }
    ops.clear();
    getOperation().walk([&](Operation *op) {
      if (isa<WhileOp, CaseOp, IfOp, sdy::ManualComputationOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      dropCarriedTokens(op);
    dropTokens(getOperation().lookupSymbol<func::FuncOp>("main"));
    dropUnused(getOperation());
    // What those that went read.
    dropTokens(getOperation().lookupSymbol<func::FuncOp>("main"));
  }
};
} // namespace

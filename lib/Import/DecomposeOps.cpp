//===- DecomposeOps.cpp - Rare ops in common ones -------------------------===//
//
// What stands here needs no rule and no lowering of its own: normalisations,
// random numbers, maps, older forms of products and broadcasts, tuples, tokens.
//
//===----------------------------------------------------------------------===//
#include "RaggedDot.h"
#include "RandomBits.h"
#include "mlir/IR/IRMapping.h"
#include "shardc/Import/Passes.h"
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
  Value normalised =
      f.ops.op<DivOp>(centered, f.deviation(variance, epsilon));
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
  Value centered =
      ops.op<SubtractOp>(op.getOperand(), f.spread(op.getMean()));
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
  Value factor = ops.op<DivOp>(
      ops.op<DivOp>(f.spread(op.getScale()), deviation), count);
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
           << (threeFry ? "tensor<2xui64>" : "tensor<2xui64> or tensor<3xui64>");
  Type element = result.getElementType();
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (width < 8 || width > 64)
    return op.emitOpError("unsupported for elements of type ") << element;
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
    return op.emitOpError("unsupported for elements of type ") << element;
  Ops ops(op);
  auto stateType = RankedTensorType::get(
      {2}, IntegerType::get(ops.b.getContext(), 64, IntegerType::Unsigned));
  APInt words[] = {APInt(64, place), APInt(64, 0)};
  Value state =
      ConstantOp::create(ops.b, DenseElementsAttr::get(stateType, ArrayRef<APInt>(words)));
  Value low = ops.broadcast(op.getA(), type.getShape(), {}),
        high = ops.broadcast(op.getB(), type.getShape(), {});
  if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned width = integer.getWidth();
    RandomBits random =
        threeFryBits(ops, state, type.getShape(), std::max(width, 8u));
    if (width == 1) {
      Value one = ops.splatBits(Ops::typeOf(random.bits), 1);
      Value bit = ops.compare(
          "EQ", ops.op<AndOp>(random.bits, one), one);
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
    Value number = BitcastConvertOp::create(
        ops.b, type.clone(real), ops.op<OrOp>(mantissa, one));
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
    Value size = ops.op<SqrtOp>(
        ops.op<MulOp>(ops.splat(reals, -2),
                      ops.op<LogOp>(ops.op<SubtractOp>(ops.splat(reals, 1), u))));
    Value turn = ops.op<CosineOp>(
        ops.op<MulOp>(ops.splat(reals, 6.283185307179586), v));
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
  auto dims = DotDimensionNumbersAttr::get(op.getContext(), {}, {},
                                           {left - 1}, {0});
  Value product = DotGeneralOp::create(
      ops.b, op.getType(), op.getLhs(), op.getRhs(), dims,
      op.getPrecisionConfigAttr(), DotAlgorithmAttr());
  replace(op, product);
  return success();
}

static LogicalResult decompose(BroadcastOp op) {
  Ops ops(op);
  int64_t before = op.getBroadcastSizes().size();
  int64_t rank = Ops::typeOf(op.getOperand()).getRank();
  Value spread = ops.broadcast(
      op.getOperand(), Ops::typeOf(op.getResult()).getShape(),
      llvm::to_vector(llvm::seq<int64_t>(before, before + rank)));
  replace(op, spread);
  return success();
}

//===----------------------------------------------------------------------===//
// Tuples and tokens
//===----------------------------------------------------------------------===//

static LogicalResult decompose(GetTupleElementOp op) {
  auto tuple = op.getOperand().getDefiningOp<TupleOp>();
  if (!tuple || op.getIndex() >= tuple.getVal().size())
    return op.emitError("unsupported: '")
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

/// Takes tokens out of what loops carry and branches yield: nobody who could read
/// them is left but ops of the same kind, and @main's end. Innermost first.
static void dropCarriedTokens(Operation *op) {
  llvm::BitVector results = areTokens(op->getResultTypes());
  if (results.none())
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
  bool isLoop = isa<WhileOp>(op);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (isLoop)
        for (BlockArgument argument : block.getArguments())
          if (isa<TokenType>(argument.getType()) && !argument.use_empty()) {
            OpBuilder inside = OpBuilder::atBlockBegin(&block);
            argument.replaceAllUsesWith(
                CreateTokenOp::create(inside, op->getLoc()).getResult());
          }
      if (isLoop)
        block.eraseArguments(areTokens(block.getArgumentTypes()));
      block.getTerminator()->eraseOperands(
          areTokens(block.getTerminator()->getOperandTypes()));
    }
  if (isLoop)
    op->eraseOperands(areTokens(op->getOperandTypes()));
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
      shardings && shardings.getShardings().size() == op->getNumResults()) {
    SmallVector<sdy::TensorShardingAttr> kept;
    for (auto [i, sharding] : llvm::enumerate(shardings.getShardings()))
      if (!results[i])
        kept.push_back(sharding);
    state.attributes.set("sdy.sharding", sdy::TensorShardingPerValueAttr::get(
                                             op->getContext(), kept));
  }
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *without = builder.create(state);
  unsigned next = 0;
  for (Value result : op->getResults())
    if (!isa<TokenType>(result.getType()))
      result.replaceAllUsesWith(without->getResult(next++));
  op->erase();
}

/// Takes tokens off @main that say in what order it runs its effects, as programs
/// with ordered callbacks have them. A token that something else reads stays, and
/// is refused.
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

/// A product of complex numbers with a real result, or of floats with an integer
/// one: the whole sum is converted, as XLA does, and not what each rank has of it.
/// Floats narrower than f32 are summed in f32.
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
  auto converted = ConvertOp::create(builder, op.getLoc(), type, op.getResult());
  converted->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.getResult().replaceAllUsesExcept(converted, converted);
}

namespace {
struct DecomposeOpsPass final
    : shardc::impl::DecomposeOpsPassBase<DecomposeOpsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    uint64_t drawn = 0;
    for (Operation *op : ops) {
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<BatchNormInferenceOp, BatchNormTrainingOp, BatchNormGradOp,
                    RngBitGeneratorOp, MapOp, DotOp, BroadcastOp,
                    GetTupleElementOp, OptimizationBarrierOp>(
                  [](auto op) { return decompose(op); })
              .Case<DotGeneralOp, ConvolutionOp>([](auto op) {
                convertBehind(op);
                return success();
              })
              .Case([](chlo::RaggedDotOp op) { return decomposeRaggedDot(op); })
              .Case([](chlo::MulhiOp op) { return decomposeMulhi(op); })
              .Case([&](RngOp op) { return decompose(op, ++drawn); })
              .Default(success());
      if (failed(result))
        return signalPassFailure();
    }
    ops.clear();
    getOperation().walk([&](Operation *op) {
      if (isa<WhileOp, CaseOp, IfOp>(op))
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

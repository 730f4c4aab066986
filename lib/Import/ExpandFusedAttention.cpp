//===- ExpandFusedAttention.cpp - cuDNN's attention as ops ----------------===//
//
// As JAX writes the calls: queries (batch, query, head, depth), keys and values
// (batch, key, key head, depth), results (batch, head, query, depth). Heads of
// queries are groups of the heads of keys.
//
//     forward   query, key, value, [bias], [lengths of queries, of keys]
//               -> out, [lse], workspace
//     backward  query, key, value, lse, dout, [bias], out, [lengths, lengths]
//               -> dquery, dkey, dvalue, [dbias], workspace
//
//===----------------------------------------------------------------------===//
#include "ExpandFusedAttention.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Support/Refusal.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace shardc;
using stablehlo::CustomCallOp;

bool shardc::isFusedAttention(StringRef name) {
  return name.starts_with("__cudnn$fmha");
}

static RankedTensorType typeOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

namespace {
/// What a call's options and name say.
struct Options {
  double scale = 1;
  bool hasBias = false, isBackward = false, isCausal = false,
       hasLengths = false;
  int64_t window = 0; ///< keys up to and with the query's own; 0: all
};

/// Builds the op for one call. Dims are (batch, key head, group, query, key,
/// depth, feature).
class FusedAttention {
public:
  FusedAttention(CustomCallOp call, const Options &options)
      : call(call), options(options), b(call.getLoc(), call) {}
  LogicalResult build();

private:
  LogicalResult readShapes();
  void buildForward();
  void buildBackward();

  /// Adds `value` as an operand, its dims as numbered; dims of one element that
  /// are not in `dims` (-1) go, and a dim of heads becomes (key head, group).
  Value arrange(Value value, ArrayRef<int64_t> dims);
  AffineMapAttr map(ArrayRef<int64_t> dims);
  void addOperand(Value value, ArrayRef<int64_t> dims) {
    operands.push_back(arrange(value, dims));
  }
  /// Bias and lengths, with their maps.
  void addExtras(Value bias, Value queryLengths, Value keyLengths);
  /// The type of a result (batch, head, row, depth), split as arrange() does.
  RankedTensorType splitType(Type type);
  Value join(Value value, Type type);
  void fillScore(Region &region);
  void fillWeight(Region &region);
  void fillSlope(Region &region, bool withBias);
  /// The block of `region`: `values` of f32, extras, positions.
  Block *addBlock(Region &region, unsigned values);
  Value constant(Type type, double value);
  Value emptyWorkspace(Type type);
  template <typename OpT> Value binary(Value lhs, Value rhs) {
    return OpT::create(b, lhs.getType(), lhs, rhs);
  }
  Value compare(Value lhs, Value rhs, stablehlo::ComparisonDirection how) {
    return stablehlo::CompareOp::create(
        b, RankedTensorType::get({}, b.getI1Type()), lhs, rhs,
        stablehlo::ComparisonDirectionAttr::get(b.getContext(), how), nullptr);
  }

  static constexpr int64_t kBatch = 0, kHead = 1, kGroup = 2, kQuery = 3,
                           kKey = 4, kDepth = 5, kFeature = 6, kHeads = 7;

  CustomCallOp call;
  const Options &options;
  ImplicitLocOpBuilder b;
  int64_t batch = 0, heads = 0, groups = 1, queries = 0, keys = 0;
  SmallVector<Value> operands, extras;
  SmallVector<Attribute> maps, extraMaps;
  /// Places among the extras; -1: not there.
  int64_t biasPlace = -1, queryLengthPlace = -1, keyLengthPlace = -1;
  SmallVector<int64_t> biasDims;
};
} // namespace

static InFlightDiagnostic refuse(CustomCallOp call) {
  return call.emitError("custom call @") << call.getCallTargetName() << " ";
}

//===----------------------------------------------------------------------===//
// Reading a call
//===----------------------------------------------------------------------===//

static FailureOr<Options> readOptions(CustomCallOp call) {
  Options options;
  StringRef name =
      call.getCallTargetName().substr(StringRef("__cudnn$fmha").size());
  options.hasBias = name.consume_front("ScaleBias");
  bool isKnown = name.consume_front("Softmax");
  if (name.consume_front("Dropout")) {
    emitUnsupported(call)
        << "attention with dropout in custom call @" << call.getCallTargetName()
        << ", whose random numbers are cuDNN's own; make the mask in the "
           "program";
    return failure();
  }
  options.isBackward = name.consume_front("Backward");
  if (!isKnown || !name.empty()) {
    emitUnsupported(call)
        << "custom call @" << call.getCallTargetName()
        << "; use jax.nn.dot_product_attention with implementation=\"xla\"";
    return failure();
  }
  auto text =
      dyn_cast_or_null<StringAttr>(call.getBackendConfig().value_or(nullptr));
  llvm::Expected<llvm::json::Value> parsed =
      llvm::json::parse(text ? text.getValue() : StringRef());
  if (!parsed) {
    refuse(call) << "has a configuration that is no JSON: "
                 << llvm::toString(parsed.takeError());
    return failure();
  }
  const llvm::json::Object *object = parsed->getAsObject();
  const llvm::json::Object *config =
      object ? object->getObject("cudnn_fmha_backend_config") : nullptr;
  std::optional<double> scale =
      config ? config->getNumber("fmha_scale") : std::nullopt;
  std::optional<StringRef> mask =
      config ? config->getString("mask_type") : std::nullopt;
  if (!scale || !mask) {
    refuse(call)
        << "has no cudnn_fmha_backend_config with fmha_scale and mask_type";
    return failure();
  }
  options.scale = *scale;
  options.isCausal = *mask == "CAUSAL" || *mask == "PADDING_CAUSAL";
  options.hasLengths = *mask == "PADDING" || *mask == "PADDING_CAUSAL";
  if (!options.isCausal && !options.hasLengths && *mask != "NO_MASK") {
    emitUnsupported(call) << "mask type '" << *mask << "' of custom call @"
                          << call.getCallTargetName();
    return failure();
  }
  options.window = config->getInteger("sliding_window_length").value_or(0);
  if (config->getNumber("dropout_rate").value_or(0) != 0 ||
      config->getBoolean("is_paged_attention").value_or(false) ||
      config->getInteger("max_seg_per_batch").value_or(1) > 1) {
    emitUnsupported(call)
        << "dropout, paged or packed sequences in custom call @"
        << call.getCallTargetName();
    return failure();
  }
  return options;
}

LogicalResult FusedAttention::readShapes() {
  size_t wanted = options.isBackward ? 6 : 3;
  wanted += (options.hasBias ? 1 : 0) + (options.hasLengths ? 2 : 0);
  if (call.getInputs().size() != wanted)
    return refuse(call) << "has " << call.getInputs().size()
                        << " operands, expected " << wanted;
  for (Value operand : call.getInputs())
    if (!typeOf(operand) || !typeOf(operand).hasStaticShape())
      return refuse(call) << "has an operand of type " << operand.getType()
                          << ", expected a static shape";
  size_t results = (options.isBackward ? 4 + options.hasBias : 2);
  bool hasLse = !options.isBackward && call.getNumResults() == 3;
  if (call.getNumResults() != results + hasLse)
    return refuse(call) << "has " << call.getNumResults()
                        << " results, expected " << results
                        << (options.isBackward
                                ? ""
                                : ", or one more for the log-sum-exp");
  auto query = typeOf(call.getInputs()[0]), key = typeOf(call.getInputs()[1]),
       value = typeOf(call.getInputs()[2]);
  if (query.getRank() != 4 || key.getRank() != 4 || value.getRank() != 4 ||
      key.getDimSize(2) == 0 || query.getDimSize(2) % key.getDimSize(2) != 0 ||
      query.getDimSize(3) != key.getDimSize(3) ||
      query.getDimSize(0) != key.getDimSize(0) ||
      value.getShape().drop_back() != key.getShape().drop_back())
    return refuse(call) << "has queries " << query << ", keys " << key
                        << " and values " << value
                        << ", expected (batch, row, head, depth), the heads of "
                           "queries a multiple of those of keys";
  batch = query.getDimSize(0);
  queries = query.getDimSize(1);
  keys = key.getDimSize(1);
  heads = key.getDimSize(2);
  groups = query.getDimSize(2) / heads;
  return success();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

AffineMapAttr FusedAttention::map(ArrayRef<int64_t> dims) {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : dims) {
    if (dim < 0)
      continue;
    exprs.push_back(b.getAffineDimExpr(dim == kHeads ? kHead : dim));
    if (dim == kHeads)
      exprs.push_back(b.getAffineDimExpr(kGroup));
  }
  return AffineMapAttr::get(AffineMap::get(7, 0, exprs, b.getContext()));
}

Value FusedAttention::arrange(Value value, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim < 0)
      continue;
    if (dim == kHeads)
      shape.append({heads, groups});
    else
      shape.push_back(typeOf(value).getDimSize(i));
  }
  auto type = typeOf(value).clone(shape);
  return type == value.getType()
             ? value
             : Value(stablehlo::ReshapeOp::create(b, type, value));
}

void FusedAttention::addExtras(Value bias, Value queryLengths,
                               Value keyLengths) {
  auto add = [&](Value value, ArrayRef<int64_t> dims) -> int64_t {
    extras.push_back(arrange(value, dims));
    extraMaps.push_back(map(dims));
    return extras.size() - 1;
  };
  if (bias) {
    // Dims of one element are repeated.
    int64_t names[] = {kBatch, kHeads, kQuery, kKey},
            sizes[] = {batch, heads * groups, queries, keys};
    for (auto [i, name] : llvm::enumerate(names))
      biasDims.push_back(
          typeOf(bias).getDimSize(i) == 1 && sizes[i] != 1 ? -1 : name);
    biasPlace = add(bias, biasDims);
  }
  if (queryLengths) {
    queryLengthPlace = add(queryLengths, {kBatch});
    keyLengthPlace = add(keyLengths, {kBatch});
  }
}

RankedTensorType FusedAttention::splitType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  ArrayRef<int64_t> shape = tensor.getShape();
  return tensor.clone({shape[0], heads, shape[1] / heads, shape[2], shape[3]});
}

Value FusedAttention::join(Value value, Type type) {
  return value.getType() == type
             ? value
             : Value(stablehlo::ReshapeOp::create(b, type, value));
}

Value FusedAttention::constant(Type type, double value) {
  return stablehlo::ConstantOp::create(
      b, cast<ElementsAttr>(Attribute(DenseElementsAttr::get(
             RankedTensorType::get({}, type),
             isa<FloatType>(type)
                 ? Attribute(b.getFloatAttr(type, value))
                 : Attribute(b.getIntegerAttr(type, int64_t(value)))))));
}

Value FusedAttention::emptyWorkspace(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto element = cast<IntegerType>(tensor.getElementType());
  return stablehlo::ConstantOp::create(
      b, cast<ElementsAttr>(Attribute(
             DenseElementsAttr::get(tensor, APInt(element.getWidth(), 0)))));
}

Block *FusedAttention::addBlock(Region &region, unsigned values) {
  Block *block = b.createBlock(&region);
  Location loc = call.getLoc();
  for (unsigned i = 0; i < values; ++i)
    block->addArgument(RankedTensorType::get({}, b.getF32Type()), loc);
  for (Value extra : extras)
    block->addArgument(
        RankedTensorType::get({}, typeOf(extra).getElementType()), loc);
  for (int64_t dim = kBatch; dim <= kKey; ++dim)
    block->addArgument(RankedTensorType::get({}, b.getI32Type()), loc);
  return block;
}

void FusedAttention::fillScore(Region &region) {
  OpBuilder::InsertionGuard guard(b);
  Block *block = addBlock(region, 1);
  auto extra = [&](int64_t place) { return block->getArgument(1 + place); };
  auto position = [&](int64_t dim) {
    return block->getArgument(1 + extras.size() + dim);
  };
  Value score = binary<stablehlo::MulOp>(
      block->getArgument(0), constant(b.getF32Type(), options.scale));
  if (biasPlace >= 0) {
    Value bias =
        stablehlo::ConvertOp::create(b, score.getType(), extra(biasPlace));
    score = binary<stablehlo::AddOp>(score, bias);
  }
  Value keep;
  auto require = [&](Value condition) {
    keep = keep ? binary<stablehlo::AndOp>(keep, condition) : condition;
  };
  using Direction = stablehlo::ComparisonDirection;
  if (options.isCausal)
    require(compare(position(kQuery), position(kKey), Direction::GE));
  if (options.window > 0) {
    Value first = binary<stablehlo::SubtractOp>(
        position(kQuery), constant(b.getI32Type(), double(options.window)));
    require(compare(position(kKey), first, Direction::GT));
  }
  if (keyLengthPlace >= 0)
    require(compare(position(kKey), extra(keyLengthPlace), Direction::LT));
  if (keep)
    score = stablehlo::SelectOp::create(b, score.getType(), keep, score,
                                        constant(b.getF32Type(), -INFINITY));
  spmd::YieldOp::create(b, ValueRange{score});
}

/// Queries past their number give zero.
void FusedAttention::fillWeight(Region &region) {
  if (queryLengthPlace < 0)
    return;
  OpBuilder::InsertionGuard guard(b);
  Block *block = addBlock(region, 1);
  Value isThere = compare(block->getArgument(1 + extras.size() + kQuery),
                          block->getArgument(1 + queryLengthPlace),
                          stablehlo::ComparisonDirection::LT);
  Value p = block->getArgument(0);
  Value weight = stablehlo::SelectOp::create(b, p.getType(), isThere, p,
                                             constant(b.getF32Type(), 0));
  spmd::YieldOp::create(b, ValueRange{weight});
}

void FusedAttention::fillSlope(Region &region, bool withBias) {
  OpBuilder::InsertionGuard guard(b);
  Block *block = addBlock(region, 2);
  Value ds = block->getArgument(0);
  SmallVector<Value> slopes = {
      binary<stablehlo::MulOp>(ds, constant(b.getF32Type(), options.scale))};
  if (withBias)
    slopes.push_back(ds);
  spmd::YieldOp::create(b, slopes);
}

void FusedAttention::buildForward() {
  OperandRange in = call.getInputs();
  SmallVector<int64_t> query = {kBatch, kQuery, kHeads, kDepth},
                       key = {kBatch, kKey, kHead, kDepth},
                       value = {kBatch, kKey, kHead, kFeature};
  addOperand(in[0], query);
  addOperand(in[1], key);
  addOperand(in[2], value);
  size_t next = 3;
  Value bias = options.hasBias ? in[next++] : Value();
  addExtras(bias, options.hasLengths ? in[next] : Value(),
            options.hasLengths ? in[next + 1] : Value());
  maps = {map(query), map(key), map(value)};
  llvm::append_range(maps, extraMaps);
  maps.push_back(map({kBatch, kHead, kGroup, kQuery, kFeature}));
  maps.append(2, map({kBatch, kHead, kGroup, kQuery}));
  Type rows =
      RankedTensorType::get({batch, heads, groups, queries}, b.getF32Type());
  // Keys of other samples may all be masked by their length: the band is not
  // all.
  bool isBand = options.isCausal && queries <= keys;
  auto bound = [&](bool there, int64_t value) {
    return there ? b.getI64IntegerAttr(value) : IntegerAttr();
  };
  auto op = spmd::AllPairsOp::create(
      b, TypeRange{splitType(call.getResult(0).getType()), rows, rows},
      spmd::PairCombine::Softmax,
      /*unnormalized=*/false, operands[0], operands[1], operands[2], extras,
      b.getArrayAttr(maps),
      bound(isBand && options.window > 0, 1 - options.window), bound(isBand, 0),
      /*query_order=*/{}, /*key_order=*/{}, /*query_formula=*/{},
      /*key_formula=*/{});
  fillScore(op.getScore());
  fillWeight(op.getWeight());
  SmallVector<Value> results = {
      join(op.getResult(0), call.getResult(0).getType())};
  if (call.getNumResults() == 3) {
    Value logarithm = stablehlo::LogOp::create(b, rows, op.getResult(2)),
          most = op.getResult(1);
    results.push_back(join(binary<stablehlo::AddOp>(most, logarithm),
                           call.getResult(1).getType()));
  }
  results.push_back(emptyWorkspace(call.getResults().back().getType()));
  call.replaceAllUsesWith(results);
}

/// The maximum and the sum that a forward call, expanded already, has made
/// `lse` of; null if it is anything else.
static std::pair<Value, Value> largestAndSumOf(Value lse) {
  if (auto reshape = lse.getDefiningOp<stablehlo::ReshapeOp>())
    lse = reshape.getOperand();
  auto add = lse.getDefiningOp<stablehlo::AddOp>();
  auto log = add ? add.getRhs().getDefiningOp<stablehlo::LogOp>() : nullptr;
  auto forward = add ? add.getLhs().getDefiningOp<spmd::AllPairsOp>() : nullptr;
  if (!log || !forward || add.getLhs() != forward.getResult(1) ||
      log.getOperand() != forward.getResult(2))
    return {};
  return {add.getLhs(), log.getOperand()};
}

void FusedAttention::buildBackward() {
  OperandRange in = call.getInputs();
  Value lse = in[3], dout = in[4];
  size_t next = 5;
  Value bias = options.hasBias ? in[next++] : Value();
  Value out = in[next++];
  addExtras(bias, options.hasLengths ? in[next] : Value(),
            options.hasLengths ? in[next + 1] : Value());
  SmallVector<int64_t> query = {kBatch, kQuery, kHeads, kDepth},
                       key = {kBatch, kKey, kHead, kDepth},
                       value = {kBatch, kKey, kHead, kFeature},
                       rows = {kBatch, kHeads, kQuery},
                       result = {kBatch, kQuery, kHeads, kFeature};
  // delta = Σ dout out, along (batch, head, query). Where rows are known by
  // maximum and sum, dout is divided by this; one that is known by the
  // logarithm of its sum alone has no more to divide by.
  auto wide = [&](Value v) -> Value {
    return stablehlo::ConvertOp::create(b, typeOf(v).clone(b.getF32Type()), v);
  };
  Value most = lse;
  if (auto [largest, sum] = largestAndSumOf(lse); sum) {
    most = join(largest, lse.getType());
    dout = wide(dout);
    Value sums = stablehlo::BroadcastInDimOp::create(
        b, dout.getType(), join(sum, lse.getType()),
        b.getDenseI64ArrayAttr({0, 2, 1}));
    dout = binary<stablehlo::DivOp>(dout, sums);
  }
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      b.getContext(), {0, 2, 1}, {0, 2, 1}, {3}, {3});
  Value wideDout = wide(dout), wideOut = wide(out);
  Value delta = stablehlo::DotGeneralOp::create(b, lse.getType(), wideDout,
                                                wideOut, numbers, ArrayAttr(),
                                                stablehlo::DotAlgorithmAttr());
  addOperand(in[0], query);
  addOperand(in[1], key);
  addOperand(in[2], value);
  addOperand(most, rows);
  addOperand(delta, rows);
  addOperand(dout, result);
  maps = {map(query), map(key), map(value), map(rows), map(rows), map(result)};
  llvm::append_range(maps, extraMaps);
  SmallVector<int64_t> dquery = {kBatch, kHead, kGroup, kQuery, kDepth},
                       dkey = {kBatch, kHead, kKey, kDepth},
                       dvalue = {kBatch, kHead, kKey, kFeature};
  maps.append({map(dquery), map(dkey), map(dvalue)});
  SmallVector<Type> biasTypes;
  if (bias) {
    maps.push_back(map(biasDims));
    biasTypes.push_back(cast<RankedTensorType>(call.getResult(3).getType())
                            .clone(typeOf(extras[biasPlace]).getShape()));
  }
  bool isBand = options.isCausal && queries <= keys;
  auto bound = [&](bool there, int64_t value) {
    return there ? b.getI64IntegerAttr(value) : IntegerAttr();
  };
  auto op = spmd::AttentionBackwardOp::create(
      b, splitType(call.getResult(0).getType()), call.getResult(1).getType(),
      call.getResult(2).getType(), biasTypes, operands[0], operands[1],
      operands[2], operands[3], operands[4], operands[5], extras,
      b.getArrayAttr(maps),
      bound(isBand && options.window > 0, 1 - options.window), bound(isBand, 0),
      /*query_order=*/ArrayRef<int64_t>(), /*key_order=*/ArrayRef<int64_t>(),
      /*query_formula=*/{},
      /*key_formula=*/{});
  fillScore(op.getScore());
  fillWeight(op.getWeight());
  fillSlope(op.getSlope(), bias != nullptr);
  SmallVector<Value> results = {
      join(op.getDquery(), call.getResult(0).getType()), op.getDkey(),
      op.getDvalue()};
  if (bias)
    results.push_back(join(op.getDextras()[0], call.getResult(3).getType()));
  results.push_back(emptyWorkspace(call.getResults().back().getType()));
  call.replaceAllUsesWith(results);
}

LogicalResult FusedAttention::build() {
  if (failed(readShapes()))
    return failure();
  auto workspace =
      dyn_cast<RankedTensorType>(call.getResults().back().getType());
  if (!workspace || !workspace.hasStaticShape() ||
      !isa<IntegerType>(workspace.getElementType()))
    return refuse(call) << "has a workspace of type "
                        << call.getResults().back().getType()
                        << ", expected bytes";
  if (options.isBackward)
    buildBackward();
  else
    buildForward();
  call.erase();
  return success();
}

LogicalResult shardc::expandFusedAttention(CustomCallOp call) {
  FailureOr<Options> options = readOptions(call);
  if (failed(options))
    return failure();
  return FusedAttention(call, *options).build();
}

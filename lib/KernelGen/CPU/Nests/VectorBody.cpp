//===- VectorBody.cpp - A linalg body on vectors --------------------------===//
//
// Scalars stay scalars until they are combined with a vector, so what is the
// same for all lanes is computed once.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "shardc/Support/KernelAttributes.h"

using namespace mlir;

namespace shardc::cpu {

Value splat(OpBuilder &builder, Location loc, Value value, int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get({lanes}, value.getType()), value);
}

void transpose(OpBuilder &builder, Location loc,
               MutableArrayRef<Value> vectors) {
  int64_t count = vectors.size();
  // Each step swaps one bit of the place among vectors with that of the lane.
  for (int64_t bit = count / 2; bit > 0; bit /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane : llvm::seq(count)) {
      low.push_back(lane & bit ? count + lane - bit : lane);
      high.push_back(lane & bit ? count + lane : lane + bit);
    }
    for (int64_t i : llvm::seq(count)) {
      if (i & bit)
        continue;
      Value x = vectors[i], y = vectors[i + bit];
      vectors[i] = vector::ShuffleOp::create(builder, loc, x, y, low);
      vectors[i + bit] = vector::ShuffleOp::create(builder, loc, x, y, high);
    }
  }
}

/// True if elements of `type` anywhere are one instruction for a vector of 512
/// bits, and it is known how far apart they are.
static bool hasGather(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return (isa<Float32Type, Float64Type>(type.getElementType()) ||
          type.getElementType().isInteger(32) ||
          type.getElementType().isInteger(64)) &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         !ShapedType::isDynamic(offset) && !ShapedType::isDynamicShape(strides);
}

/// Elements at other places in every lane, anywhere.
static Value gatherAnywhere(OpBuilder &builder, memref::LoadOp load,
                            ArrayRef<Value> indices, int64_t lanes,
                            Value mask) {
  Location loc = load.getLoc();
  Arith arith(builder, loc);
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)load.getMemRefType().getStridesAndOffset(strides, offset);
  Value place;
  for (auto [index, stride] : llvm::zip_equal(indices, strides)) {
    Value distance =
        arith::MulIOp::create(builder, loc, splat(builder, loc, index, lanes),
                              splat(builder, loc, arith.index(stride), lanes));
    if (place)
      distance = arith::AddIOp::create(builder, loc, place, distance);
    place = distance;
  }
  auto type = VectorType::get({lanes}, load.getType());
  place = arith::IndexCastOp::create(
      builder, loc, VectorType::get({lanes}, builder.getI64Type()), place);
  Value base =
      pointerOf(arith, load.getMemRef(), Quantity::of(offset), load.getType());
  Value places = LLVM::GEPOp::create(builder, loc,
                                     VectorType::get({lanes}, base.getType()),
                                     load.getType(), base, ValueRange{place});
  if (!mask)
    mask = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(VectorType::get({lanes}, builder.getI1Type()),
                               true));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return LLVM::masked_gather::create(builder, loc, type, places, mask,
                                     ValueRange{zero},
                                     elementBytes(load.getType()));
}

/// A load at other places in every lane, side by side or anywhere. With `mask`,
/// of its lanes alone.
static Value gather(OpBuilder &builder, memref::LoadOp load,
                    ArrayRef<Value> indices, int64_t lanes, Value mask,
                    bool isSideBySide) {
  Location loc = load.getLoc();
  if (isSideBySide) {
    SmallVector<Value> at(indices);
    at.back() = vector::ExtractOp::create(builder, loc, at.back(), 0);
    auto type = VectorType::get({lanes}, load.getType());
    if (!mask)
      return vector::LoadOp::create(builder, loc, type, load.getMemRef(), at);
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    return vector::MaskedLoadOp::create(builder, loc, type, load.getMemRef(),
                                        at, mask, zero);
  }
  if (hasGather(load.getMemRefType()))
    return gatherAnywhere(builder, load, indices, lanes, mask);
  assert(!mask && "lanes past the end have no place to load from");
  SmallVector<Value> elements;
  for (int64_t lane : llvm::seq(lanes)) {
    SmallVector<Value> at;
    for (Value index : indices)
      at.push_back(isa<VectorType>(index.getType())
                       ? vector::ExtractOp::create(builder, loc, index, lane)
                       : index);
    elements.push_back(
        memref::LoadOp::create(builder, loc, load.getMemRef(), at));
  }
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({lanes}, load.getType()), elements);
}

/// True if `value` in the nest's body differs between neighbours along `dim`.
static bool varies(const Nest &nest, Value value, int dim) {
  linalg::GenericOp op = nest.main;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBody())
      return false;
    unsigned i = argument.getArgNumber();
    return i >= nest.inputs.size() || nest.inputs[i].usesDim(dim);
  }
  Operation *producer = value.getDefiningOp();
  if (producer->getBlock() != op.getBody())
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(producer))
    return int(index.getDim()) == dim;
  return llvm::any_of(producer->getOperands(), [&](Value operand) {
    return varies(nest, operand, dim);
  });
}

/// True if `value` grows by one from neighbour to neighbour along `dim`.
static bool counts(const Nest &nest, Value value, int dim) {
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return int(index.getDim()) == dim;
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return (counts(nest, sum.getLhs(), dim) &&
            !varies(nest, sum.getRhs(), dim)) ||
           (counts(nest, sum.getRhs(), dim) &&
            !varies(nest, sum.getLhs(), dim));
  return false;
}

bool loadsAlong(const Nest &nest, memref::LoadOp load, int dim) {
  auto type = load.getMemRefType();
  return !load.getIndices().empty() && type.isLastDimUnitStride() &&
         type.getElementType().isIntOrFloat() &&
         type.getElementTypeBitWidth() >= 8 &&
         llvm::none_of(load.getIndices().drop_back(),
                       [&](Value index) { return varies(nest, index, dim); }) &&
         counts(nest, load.getIndices().back(), dim);
}

bool canLoad(const Nest &nest, int dim, bool gathers) {
  linalg::GenericOp op = nest.main;
  return llvm::all_of(op.getBody()->getOps<memref::LoadOp>(),
                      [&](memref::LoadOp load) {
                        return !varies(nest, load.getResult(), dim) ||
                               loadsAlong(nest, load, dim) ||
                               (gathers && hasGather(load.getMemRefType()));
                      });
}

SmallVector<Value>
evaluateBody(OpBuilder &builder, Block &body, ArrayRef<Value> arguments,
             int64_t lanes, llvm::function_ref<Value(int64_t)> index,
             Value mask,
             llvm::function_ref<bool(memref::LoadOp)> isSideBySide) {
  IRMapping map;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    map.map(argument, value);
  for (Operation &op : body.without_terminator()) {
    if (auto position = dyn_cast<linalg::IndexOp>(op)) {
      map.map(position.getResult(), index(position.getDim()));
      continue;
    }
    SmallVector<Value> operands;
    bool isVector = false;
    for (Value operand : op.getOperands()) {
      operands.push_back(map.lookupOrDefault(operand));
      isVector |= isa<VectorType>(operands.back().getType());
    }
    if (auto load = dyn_cast<memref::LoadOp>(op); load && isVector) {
      map.map(load.getResult(),
              gather(builder, load, ArrayRef(operands).drop_front(), lanes,
                     mask, isSideBySide && isSideBySide(load)));
      continue;
    }
    // A number that is wide already.
    if (isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op) &&
        getElementTypeOrSelf(operands[0].getType()) ==
            op.getResult(0).getType()) {
      map.map(op.getResult(0), operands[0]);
      continue;
    }
    if (!isVector || lanes == 1) {
      builder.clone(op, map);
      continue;
    }
    for (Value &operand : operands)
      operand = splat(builder, op.getLoc(), operand, lanes);
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(VectorType::get({lanes}, type));
    OperationState state(op.getLoc(), op.getName(), operands, types,
                         op.getAttrs());
    state.propertiesAttr = op.getPropertiesAsAttribute();
    Operation *copy = builder.create(state);
    map.map(op.getResults(), copy->getResults());
  }
  SmallVector<Value> yields;
  for (Value value : body.getTerminator()->getOperands())
    yields.push_back(map.lookupOrDefault(value));
  return yields;
}

} // namespace shardc::cpu

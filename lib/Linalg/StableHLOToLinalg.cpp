//===- StableHLOToLinalg.cpp - The walk, and what all families share ------===//
//
// Source IR stays untouched while its meaning is emitted beside it; the old
// body is dropped at the end. So a lowering may look at the ops that define
// its operands (broadcasts, constants) whatever has become of them.
//
//===----------------------------------------------------------------------===//
#include "StableHLOToLinalg.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Support/Refusal.h"
#include <limits>

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type shardc::lowering::signlessType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return RankedTensorType::get(tensor.getShape(),
                                 signlessType(tensor.getElementType()));
  if (auto function = dyn_cast<FunctionType>(type)) {
    SmallVector<Type> inputs =
        llvm::map_to_vector(function.getInputs(), signlessType);
    SmallVector<Type> results =
        llvm::map_to_vector(function.getResults(), signlessType);
    return FunctionType::get(type.getContext(), inputs, results);
  }
  return type;
}

Type shardc::lowering::elementType(Type type) {
  auto tensor = dyn_cast<ShapedType>(type);
  return tensor ? tensor.getElementType() : type;
}

bool shardc::lowering::isUnsigned(Type type) {
  Type element = elementType(type);
  return element.isUnsignedInteger() || element.isInteger(1);
}

AffineMap shardc::lowering::leadingDims(unsigned loops, unsigned count,
                                        MLIRContext *ctx) {
  SmallVector<AffineExpr> exprs;
  for (unsigned dim = 0; dim < count; ++dim)
    exprs.push_back(getAffineDimExpr(dim, ctx));
  return AffineMap::get(loops, 0, exprs, ctx);
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult Lowerer::lowerFunction(func::FuncOp func) {
  Type oldType = func.getFunctionType();
  auto newType = cast<FunctionType>(signlessType(oldType));
  if (func.isExternal()) {
    func.setType(newType);
    return success();
  }
  if (!func.getBody().hasOneBlock())
    return emitOpUnsupported(func, ": its body has branches between blocks; "
                                   "StableHLO's control flow has regions");
  Block &source = func.getBody().front();
  Block *target = new Block();
  func.getBody().push_back(target);
  b.setInsertionPointToEnd(target);
  for (BlockArgument arg : source.getArguments()) {
    Value twin = target->addArgument(signlessType(arg.getType()), arg.getLoc());
    lowered[arg] = twin;
  }
  LogicalResult result = lowerOps(source);
  if (succeeded(result)) {
    Operation *end = source.getTerminator();
    b.setLoc(end->getLoc());
    SmallVector<Value> values = llvm::map_to_vector(
        end->getOperands(), [&](Value v) { return tensor(v); });
    func::ReturnOp::create(b, values);
  }
  if (failed(result)) {
    target->dropAllReferences();
    target->erase();
    return failure();
  }
  source.dropAllReferences();
  source.dropAllUses();
  source.erase();
  func.setType(newType);
  return success();
}

LogicalResult Lowerer::lowerOps(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (failed(lowerOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult Lowerer::lowerOp(Operation *op) {
  b.setLoc(op->getLoc());
  TypeID kind = op->getName().getTypeID();
  StringRef dialect = op->getName().getDialectNamespace();
  bool isForeign = llvm::is_contained({"stablehlo", "chlo", "solver"}, dialect);
  // Results without elements need no computing, and linalg could not always
  // say it: its loops come from shapes.
  if (isForeign && op->getNumResults() &&
      llvm::all_of(op->getResultTypes(), [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return tensor && tensor.hasStaticShape() &&
               tensor.getNumElements() == 0;
      })) {
    for (Value result : op->getResults()) {
      auto type = cast<RankedTensorType>(signlessType(result.getType()));
      set(result,
          tensor::EmptyOp::create(b, type.getShape(), type.getElementType()));
    }
    return success();
  }
  if (auto it = table.ops.find(kind); it != table.ops.end())
    return it->second(*this, op);
  if (const ScalarLowering *lower = scalarLowering(op))
    return lowerElementwise(op, *lower);
  if (dialect == "stablehlo" || dialect == "chlo" || dialect == "sdy")
    return emitOpUnsupported(op, ": it has no lowering to linalg");
  return cloneOther(op);
}

// An op of another dialect stays as it is, on signless types. Rank-0 tensors
// stay tensors here.
LogicalResult Lowerer::cloneOther(Operation *op) {
  SmallVector<Value> operands = llvm::map_to_vector(
      op->getOperands(), [&](Value v) { return tensor(v); });
  SmallVector<Type> types =
      llvm::map_to_vector(op->getResultTypes(), signlessType);
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       op->getAttrs(), op->getSuccessors());
  // Shardings have done their work, and would no longer fit the types.
  state.attributes.erase(spmd::contract::Shardings::name());
  state.attributes.erase(spmd::contract::Factors::name());
  for (size_t i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *twin = b.create(state);
  for (auto [from, to] : llvm::zip(op->getRegions(), twin->getRegions())) {
    for (Block &block : from) {
      OpBuilder::InsertionGuard guard(b);
      Block *copy = new Block();
      to.push_back(copy);
      b.setInsertionPointToEnd(copy);
      for (BlockArgument arg : block.getArguments())
        lowered[arg] =
            copy->addArgument(signlessType(arg.getType()), arg.getLoc());
      if (failed(lowerOps(block)))
        return failure();
      if (block.mightHaveTerminator() &&
          failed(cloneOther(block.getTerminator())))
        return failure();
    }
  }
  for (auto [from, to] : llvm::zip(op->getResults(), twin->getResults()))
    set(from, to);
  b.setLoc(op->getLoc());
  return success();
}

const ScalarLowering *Lowerer::scalarLowering(Operation *op) const {
  auto it = table.scalars.find(op->getName().getTypeID());
  return it == table.scalars.end() ? nullptr : &it->second;
}

SmallVector<Value> Lowerer::scalarRegion(Region &region, ValueRange args) {
  Block &block = region.front();
  for (auto [arg, value] : llvm::zip(block.getArguments(), args))
    lowered[arg] = value;
  Location loc = b.getLoc();
  if (failed(lowerOps(block)))
    return {};
  b.setLoc(loc);
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value v) { return scalar(v); });
}

//===----------------------------------------------------------------------===//
// Source values
//===----------------------------------------------------------------------===//

Value Lowerer::tensor(Value source) {
  Value value = lowered.lookup(source);
  assert(value && "operands are lowered before their users");
  auto type = dyn_cast<RankedTensorType>(source.getType());
  if (!type || isa<RankedTensorType>(value.getType()))
    return value;
  Type wanted = signlessType(type);
  Attribute known;
  if (matchPattern(value, m_Constant(&known)) &&
      !isa<ComplexType>(type.getElementType()))
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<RankedTensorType>(wanted), known));
  return tensor::FromElementsOp::create(b, wanted, value);
}

Value Lowerer::scalar(Value source) {
  Value value = lowered.lookup(source);
  assert(value && "operands are lowered before their users");
  if (!isa<RankedTensorType>(value.getType()))
    return value;
  return tensor::ExtractOp::create(b, value, ValueRange());
}

static bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

Value Lowerer::carried(Value source) {
  return isScalar(source.getType()) ? scalar(source) : tensor(source);
}

Type Lowerer::carriedType(Value source) {
  Type type = signlessType(source.getType());
  return isScalar(type) ? elementType(type) : type;
}

void Lowerer::set(Value source, Value value) {
  Type wanted = signlessType(source.getType());
  if (isa<RankedTensorType>(value.getType()) && value.getType() != wanted)
    value = tensor::CastOp::create(b, wanted, value);
  lowered[source] = value;
}

//===----------------------------------------------------------------------===//
// Constants and sizes
//===----------------------------------------------------------------------===//

Value Lowerer::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value Lowerer::constant(TypedAttr value) {
  return arith::ConstantOp::create(b, value);
}

Value shardc::lowering::numberConstant(ImplicitLocOpBuilder &b, Type type,
                                       double value) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    auto parts =
        b.getArrayAttr({b.getFloatAttr(part, value), b.getFloatAttr(part, 0)});
    return complex::ConstantOp::create(b, complex, parts);
  }
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(type, static_cast<int64_t>(value)));
}

Value Lowerer::number(Type type, double value) {
  return numberConstant(b, type, value);
}
Value Lowerer::zero(Type type) { return numberConstant(b, type, 0); }

Value Lowerer::value(OpFoldResult size) {
  if (auto known = dyn_cast<Attribute>(size))
    return index(cast<IntegerAttr>(known).getInt());
  return cast<Value>(size);
}

OpFoldResult Lowerer::size(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return b.getIndexAttr(type.getDimSize(dim));
  Operation *def = tensor.getDefiningOp();
  if (auto dest = dyn_cast_or_null<DestinationStyleOpInterface>(def))
    return size(dest.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(def))
    return empty.getMixedSizes()[dim];
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(def))
    return size(cast.getSource(), dim);
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(def))
    return expand.getMixedOutputShape()[dim];
  if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(def))
    return size(insert.getDest(), dim);
  if (auto extract = dyn_cast_or_null<tensor::ExtractSliceOp>(def))
    if (extract.getSourceType().getRank() == type.getRank())
      return extract.getMixedSizes()[dim];
  return OpFoldResult(tensor::DimOp::create(b, tensor, dim).getResult());
}

SmallVector<OpFoldResult> Lowerer::sizes(Value tensor) {
  SmallVector<OpFoldResult> result;
  for (int64_t dim = 0;
       dim < cast<RankedTensorType>(tensor.getType()).getRank(); ++dim)
    result.push_back(size(tensor, dim));
  return result;
}

Value Lowerer::empty(ArrayRef<OpFoldResult> sizes, Type type) {
  return tensor::EmptyOp::create(b, sizes, type);
}

Value Lowerer::filled(ArrayRef<OpFoldResult> sizes, Value element) {
  Value destination = empty(sizes, element.getType());
  return linalg::FillOp::create(b, element, destination).getResult(0);
}

static bool isEmpty(ArrayRef<OpFoldResult> sizes) {
  return llvm::any_of(
      sizes, [](OpFoldResult size) { return isConstantIntValue(size, 0); });
}

/// The sizes as a shape, `?` where they are not known.
static SmallVector<int64_t> shapeOf(ArrayRef<OpFoldResult> sizes) {
  return llvm::map_to_vector(sizes, [](OpFoldResult size) {
    return getConstantIntValue(size).value_or(ShapedType::kDynamic);
  });
}

/// MLIR 22, once an offset is known, takes the first dims of one element to be
/// those that a slice of lower rank lacks. Whether there are others.
static bool lacksOthers(ArrayRef<OpFoldResult> sizes, RankedTensorType type) {
  int64_t lacking = int64_t(sizes.size()) - type.getRank();
  int64_t ones = llvm::count_if(
      sizes, [](OpFoldResult size) { return isConstantIntValue(size, 1); });
  return lacking > 0 && ones > lacking;
}

Value Lowerer::slice(Value tensor, ArrayRef<OpFoldResult> offsets,
                     ArrayRef<OpFoldResult> sizes,
                     ArrayRef<OpFoldResult> strides, RankedTensorType type) {
  // A slice of nothing may start at the end, where extract_slice may not.
  if (isEmpty(sizes)) {
    SmallVector<OpFoldResult> kept(sizes);
    if (type && type.getRank() != static_cast<int64_t>(sizes.size())) {
      kept.clear();
      SmallVector<int64_t> shape = shapeOf(sizes);
      llvm::SmallDenseSet<unsigned> dropped =
          *computeRankReductionMask(shape, type.getShape());
      for (auto [i, size] : llvm::enumerate(sizes))
        if (!dropped.contains(i))
          kept.push_back(size);
    }
    return empty(kept, elementType(tensor.getType()));
  }
  if (type && lacksOthers(sizes, type))
    if (auto groups = getReassociationIndicesForReshape(
            type.clone(shapeOf(sizes)), type)) {
      Value whole =
          tensor::ExtractSliceOp::create(b, tensor, offsets, sizes, strides);
      return tensor::CollapseShapeOp::create(b, type, whole, *groups);
    }
  return type ? tensor::ExtractSliceOp::create(b, type, tensor, offsets, sizes,
                                               strides)
              : tensor::ExtractSliceOp::create(b, tensor, offsets, sizes,
                                               strides);
}

Value Lowerer::insert(Value update, Value tensor,
                      ArrayRef<OpFoldResult> offsets,
                      ArrayRef<OpFoldResult> sizes,
                      ArrayRef<OpFoldResult> strides) {
  if (isEmpty(sizes))
    return tensor;
  // MLIR 22 folds the insertion of a pad into a fill of the same value without
  // a look at the strides: a fill under strides is no linalg.fill.
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  if (fill && !llvm::all_of(strides, [](OpFoldResult s) {
        return isConstantIntValue(s, 1);
      })) {
    auto type = cast<RankedTensorType>(tensor.getType());
    AffineMap scalar = AffineMap::get(type.getRank(), 0, b.getContext());
    SmallVector<utils::IteratorType> parallel(type.getRank(),
                                              utils::IteratorType::parallel);
    tensor = linalg::GenericOp::create(
                 b, type, fill.value(), fill.output(),
                 ArrayRef{scalar, b.getMultiDimIdentityMap(type.getRank())},
                 parallel,
                 [](OpBuilder &at, Location loc, ValueRange args) {
                   linalg::YieldOp::create(at, loc, args[0]);
                 })
                 .getResult(0);
  }
  auto type = cast<RankedTensorType>(update.getType());
  // Nothing to insert; and no offset is within a dim of no elements.
  if (llvm::is_contained(type.getShape(), 0))
    return tensor;
  if (lacksOthers(sizes, type)) {
    RankedTensorType full = type.clone(shapeOf(sizes));
    if (auto groups = getReassociationIndicesForReshape(type, full))
      update = tensor::ExpandShapeOp::create(b, full, update, *groups, sizes);
  }
  return tensor::InsertSliceOp::create(b, update, tensor, offsets, sizes,
                                       strides);
}

Value Lowerer::toIndex(Value scalar, Type sourceType) {
  if (scalar.getType().isIndex())
    return scalar;
  if (isUnsigned(sourceType)) {
    // Above all i64 it is beyond any end, not before 0.
    if (scalar.getType().isInteger(64))
      scalar = arith::MinUIOp::create(
          b, scalar,
          arith::ConstantIntOp::create(b, std::numeric_limits<int64_t>::max(),
                                       64));
    return arith::IndexCastUIOp::create(b, b.getIndexType(), scalar);
  }
  return arith::IndexCastOp::create(b, b.getIndexType(), scalar);
}

OpFoldResult Lowerer::affine(AffineExpr expr, ArrayRef<OpFoldResult> symbols) {
  auto map = AffineMap::get(0, symbols.size(), expr);
  SmallVector<Attribute> known;
  for (OpFoldResult symbol : symbols)
    if (auto attr = dyn_cast<Attribute>(symbol))
      known.push_back(attr);
  SmallVector<Attribute> folded;
  if (known.size() == symbols.size() &&
      succeeded(map.constantFold(known, folded)))
    return OpFoldResult(b.getIndexAttr(cast<IntegerAttr>(folded[0]).getInt()));
  SmallVector<Value> operands =
      llvm::map_to_vector(symbols, [&](OpFoldResult s) { return value(s); });
  // Plain arith: a size is read inside scf loops, where affine symbols do not
  // verify.
  auto values = affine::expandAffineMap(b, b.getLoc(), map, operands);
  assert(values && "sizes divide by positive constants");
  return OpFoldResult(values->front());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> identityDims(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

// Operand dim i is at result dim dims[i]; of size one and stretched: -1.
static SmallVector<int64_t> broadcastDims(RankedTensorType operand,
                                          RankedTensorType result,
                                          ArrayRef<int64_t> dims,
                                          ArrayRef<int64_t> stretched) {
  SmallVector<int64_t> map;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    bool one = operand.getDimSize(i) == 1 && result.getDimSize(dim) != 1;
    map.push_back(one || llvm::is_contained(stretched, i) ? -1 : dim);
  }
  return map;
}

// A reshape that only adds or removes dims of size one: for each operand dim
// its result dim, or -1; nothing if it is another reshape.
static std::optional<SmallVector<int64_t>>
unitReshapeDims(RankedTensorType operand, RankedTensorType result) {
  SmallVector<int64_t> map(operand.getRank(), -1);
  int64_t at = 0;
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    int64_t extent = operand.getDimSize(i);
    if (extent == 1)
      continue;
    while (at < result.getRank() && result.getDimSize(at) == 1)
      ++at;
    if (at == result.getRank() || result.getDimSize(at) != extent)
      return std::nullopt;
    map[i] = at++;
  }
  while (at < result.getRank() && result.getDimSize(at) == 1)
    ++at;
  if (at != result.getRank())
    return std::nullopt;
  return map;
}

// One step towards the base of `source`: its operand and, for each dim of that,
// the dim of `source`.
static std::optional<View> viewStep(Value source, bool throughBroadcasts) {
  Operation *op = source.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(source.getType());
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    SmallVector<int64_t> dims(type.getRank());
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      dims[from] = to;
    return View{transpose.getOperand(), dims};
  }
  if (!throughBroadcasts)
    return std::nullopt;
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return View{
        broadcast.getOperand(),
        broadcastDims(cast<RankedTensorType>(broadcast.getOperand().getType()),
                      type, broadcast.getBroadcastDimensions(), {})};
  if (auto broadcast = dyn_cast<stablehlo::DynamicBroadcastInDimOp>(op))
    return View{
        broadcast.getOperand(),
        broadcastDims(cast<RankedTensorType>(broadcast.getOperand().getType()),
                      type, broadcast.getBroadcastDimensions(),
                      broadcast.getKnownExpandingDimensions().value_or(
                          ArrayRef<int64_t>()))};
  if (auto broadcast = dyn_cast<stablehlo::BroadcastOp>(op)) {
    SmallVector<int64_t> dims;
    int64_t added = broadcast.getBroadcastSizes().size();
    for (int64_t i = added; i < type.getRank(); ++i)
      dims.push_back(i);
    return View{broadcast.getOperand(), dims};
  }
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op))
    if (auto dims = unitReshapeDims(
            cast<RankedTensorType>(reshape.getOperand().getType()), type))
      return View{reshape.getOperand(), *dims};
  return std::nullopt;
}

View Lowerer::view(Value source, bool throughBroadcasts) {
  View view{source,
            identityDims(cast<RankedTensorType>(source.getType()).getRank())};
  while (std::optional<View> step = viewStep(view.base, throughBroadcasts)) {
    for (int64_t &dim : step->dims)
      dim = dim < 0 ? -1 : view.dims[dim];
    view = *step;
  }
  return view;
}

// Reassociation that drops the dims whose entry is -1 (all of size one).
static SmallVector<ReassociationIndices> dropDims(ArrayRef<int64_t> dims) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim >= 0) {
      groups.push_back(leading);
      leading.clear();
    }
    (groups.empty() ? leading : groups.back()).push_back(i);
  }
  return groups;
}

Value Lowerer::viewBase(View &view) {
  Value base = tensor(view.base);
  if (!llvm::is_contained(view.dims, -1))
    return base;
  SmallVector<int64_t> kept =
      llvm::filter_to_vector(view.dims, [](int64_t d) { return d >= 0; });
  auto type = cast<RankedTensorType>(base.getType());
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups = dropDims(view.dims);
  // A dim that is stretched but `?` is one when the program runs: take its
  // element 0.
  SmallVector<OpFoldResult> extents = sizes(base);
  bool dynamicOne = false;
  for (auto [i, dim] : llvm::enumerate(view.dims))
    if (dim >= 0) {
      shape.push_back(type.getDimSize(i));
    } else if (type.getDimSize(i) != 1) {
      dynamicOne = true;
      extents[i] = b.getIndexAttr(1);
    }
  if (dynamicOne) {
    SmallVector<OpFoldResult> zeros(type.getRank(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1));
    base = slice(base, zeros, extents, ones);
  }
  view.dims = kept;
  if (kept.empty())
    groups.clear();
  return tensor::CollapseShapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), base, groups);
}

Value Lowerer::splat(Value source) {
  View base = view(source);
  DenseElementsAttr dense;
  if (auto op = base.base.getDefiningOp<stablehlo::ConstantOp>())
    dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense || !dense.isSplat())
    return isScalar(base.base.getType()) && !dense ? scalar(base.base)
                                                   : nullptr;
  Type type = signlessType(dense.getElementType());
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex::ConstantOp::create(b, complex,
                                       dense.getSplatValue<ArrayAttr>());
  if (auto integer = dyn_cast<IntegerType>(type))
    return constant(b.getIntegerAttr(integer, dense.getSplatValue<APInt>()));
  return constant(cast<TypedAttr>(dense.getSplatValue<Attribute>()));
}

//===----------------------------------------------------------------------===//
// linalg.generic and loops
//===----------------------------------------------------------------------===//

SmallVector<Value> Lowerer::generic(ValueRange ins, ValueRange outs,
                                    ArrayRef<AffineMap> maps,
                                    ArrayRef<utils::IteratorType> iterators,
                                    Body body) {
  auto op = linalg::GenericOp::create(
      b, TypeRange(outs), ins, outs, maps, iterators,
      [&](OpBuilder &nested, Location, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        linalg::YieldOp::create(b, body(args));
      });
  return llvm::to_vector_of<Value>(op.getResults());
}

Value Lowerer::map(ValueRange ins, Value out, Body body) {
  int64_t rank = cast<RankedTensorType>(out.getType()).getRank();
  SmallVector<AffineMap> maps(ins.size() + 1, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return generic(ins, out, maps, iterators, body).front();
}

SmallVector<Value> Lowerer::loops(ArrayRef<OpFoldResult> sizes,
                                  ValueRange carried, LoopBody body) {
  SmallVector<Value> ivs;
  auto nest = [&](auto &self, size_t depth,
                  ValueRange values) -> SmallVector<Value> {
    if (depth == sizes.size())
      return body(ivs, values);
    Value from = index(0), to = value(sizes[depth]), step = index(1);
    auto loop = scf::ForOp::create(b, from, to, step, values);
    OpBuilder::InsertionGuard guard(b);
    // A loop without carried values is built with its terminator.
    if (values.empty())
      b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      b.setInsertionPointToEnd(loop.getBody());
    ivs.push_back(loop.getInductionVar());
    SmallVector<Value> next = self(self, depth + 1, loop.getRegionIterArgs());
    ivs.pop_back();
    if (!values.empty())
      scf::YieldOp::create(b, next);
    return llvm::to_vector_of<Value>(loop.getResults());
  };
  return nest(nest, 0, carried);
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

// One generic: broadcasts and transposes of operands are in its maps, splat
// operands in its body.
LogicalResult Lowerer::lowerElementwise(Operation *op,
                                        const ScalarLowering &lower) {
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  if (type.getRank() == 0) {
    SmallVector<Value> args = llvm::map_to_vector(
        op->getOperands(), [&](Value v) { return scalar(v); });
    Value element = lower(b, op, args);
    if (!element)
      return failure();
    lowered[result] = element;
    return success();
  }

  // Where the result's sizes are not all known, some operand must show them.
  SmallVector<OpFoldResult> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    OpFoldResult extent = b.getIndexAttr(type.getDimSize(dim));
    if (type.isDynamicDim(dim))
      for (Value operand : op->getOperands())
        if (!isScalar(operand.getType())) {
          extent = size(tensor(operand), dim);
          if (isa<Attribute>(extent))
            break;
        }
    extents.push_back(extent);
  }

  MLIRContext *ctx = b.getContext();
  SmallVector<Value> ins, args(op->getNumOperands());
  SmallVector<AffineMap> maps;
  SmallVector<int> position(op->getNumOperands(), -1);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if ((args[i] = splat(operand)))
      continue;
    View seen = view(operand);
    Value base = viewBase(seen);
    SmallVector<AffineExpr> exprs;
    for (int64_t dim : seen.dims)
      exprs.push_back(getAffineDimExpr(dim, ctx));
    AffineMap map = AffineMap::get(type.getRank(), 0, exprs, ctx);
    // The same view twice is one operand.
    for (size_t j = 0; j < ins.size(); ++j)
      if (ins[j] == base && maps[j] == map)
        position[i] = j;
    if (position[i] >= 0)
      continue;
    position[i] = ins.size();
    ins.push_back(base);
    maps.push_back(map);
  }
  maps.push_back(b.getMultiDimIdentityMap(type.getRank()));
  Value out = empty(extents, signlessType(type.getElementType()));
  if (ins.empty()) {
    Value element = lower(b, op, args);
    if (!element)
      return failure();
    set(result, linalg::FillOp::create(b, element, out).getResult(0));
    return success();
  }
  bool ok = true;
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  SmallVector<Value> results =
      generic(ins, out, maps, iterators,
              [&](ValueRange elements) -> SmallVector<Value> {
                for (size_t i = 0; i < args.size(); ++i)
                  if (position[i] >= 0)
                    args[i] = elements[position[i]];
                Value element = lower(b, op, args);
                ok = element != nullptr;
                return {ok ? element : elements.back()};
              });
  set(result, results.front());
  return success(ok);
}

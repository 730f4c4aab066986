//===- Nest.cpp - Describe a linalg op as a loop nest ---------------------===//
//
// Indexing maps and strides become one linear form an access; dims that are
// stepped through together become one.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Support/Strides.h"

using namespace mlir;

namespace shardc::cpu {

Quantity Quantity::of(Value value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return of(*number);
  return {std::nullopt, value};
}

Quantity Quantity::of(OpFoldResult size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return of(*number);
  return of(cast<Value>(size));
}

/// Sizes of which nothing is known are taken to be large. [guess]
static constexpr int64_t kUnknownSize = 512;

std::optional<int64_t> Quantity::estimate() const {
  if (fixed)
    return *fixed;
  return value ? factsOf(value).estimate : std::nullopt;
}

int64_t Quantity::guess() const { return estimate().value_or(kUnknownSize); }

llvm::SmallVector<int64_t> Quantity::entries() const {
  if (fixed)
    return {*fixed};
  auto lookup =
      value ? value.getDefiningOp<spmd::LookupOp>() : spmd::LookupOp();
  return lookup && !lookup.getFormula()
             ? llvm::SmallVector<int64_t>(lookup.getTable())
             : llvm::SmallVector<int64_t>();
}

int64_t Quantity::multiple() const {
  if (fixed)
    return std::max<int64_t>(*fixed, 1);
  return value ? factsOf(value).multiple : 1;
}

Value Arith::index(int64_t number) {
  return arith::ConstantIndexOp::create(b, loc, number);
}
Value Arith::get(const Quantity &quantity) {
  return quantity.fixed ? index(*quantity.fixed) : quantity.value;
}
Quantity Arith::add(const Quantity &x, const Quantity &y) {
  if (x.fixed && y.fixed)
    return Quantity::of(*x.fixed + *y.fixed);
  if (x.is(0))
    return y;
  if (y.is(0))
    return x;
  return {std::nullopt, arith::AddIOp::create(b, loc, get(x), get(y))};
}
Quantity Arith::sub(const Quantity &x, const Quantity &y) {
  if (x.fixed && y.fixed)
    return Quantity::of(*x.fixed - *y.fixed);
  if (y.is(0))
    return x;
  return {std::nullopt, arith::SubIOp::create(b, loc, get(x), get(y))};
}
Quantity Arith::mul(const Quantity &x, const Quantity &y) {
  if (x.fixed && y.fixed)
    return Quantity::of(*x.fixed * *y.fixed);
  if (x.is(0) || y.is(0))
    return Quantity::of(0);
  if (x.is(1))
    return y;
  if (y.is(1))
    return x;
  return {std::nullopt, arith::MulIOp::create(b, loc, get(x), get(y))};
}
Quantity Arith::upTo(const Quantity &x, int64_t most) {
  if (x.fixed)
    return Quantity::of(std::clamp<int64_t>(*x.fixed, 0, most));
  Value least = arith::MinSIOp::create(b, loc, get(x), index(most));
  return {std::nullopt, arith::MaxSIOp::create(b, loc, least, index(0))};
}
Quantity Arith::roundDown(const Quantity &x, int64_t factor) {
  if (x.fixed)
    return Quantity::of(*x.fixed / factor * factor);
  Value rest = arith::RemUIOp::create(b, loc, get(x), index(factor));
  return sub(x, Quantity::of(rest));
}
Quantity Arith::roundUp(const Quantity &x, int64_t factor) {
  if (x.fixed)
    return Quantity::of(llvm::alignTo(*x.fixed, factor));
  Value units = arith::CeilDivSIOp::create(b, loc, get(x), index(factor));
  return {std::nullopt, arith::MulIOp::create(b, loc, units, index(factor))};
}

/// Adds `expr` times `scale` to coefs and constant; false if it is not linear.
static bool linearise(AffineExpr expr, int64_t scale,
                      MutableArrayRef<int64_t> coef, int64_t &constant) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    constant += scale * number.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coef[dim.getPosition()] += scale;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return linearise(binary.getLHS(), scale, coef, constant) &&
           linearise(binary.getRHS(), scale, coef, constant);
  if (binary.getKind() != AffineExprKind::Mul)
    return false;
  if (auto number = dyn_cast<AffineConstantExpr>(binary.getRHS()))
    return linearise(binary.getLHS(), scale * number.getValue(), coef,
                     constant);
  if (auto number = dyn_cast<AffineConstantExpr>(binary.getLHS()))
    return linearise(binary.getRHS(), scale * number.getValue(), coef,
                     constant);
  return false;
}

static bool isLinear(AffineMap map) {
  SmallVector<int64_t> coef(map.getNumDims(), 0);
  int64_t constant = 0;
  return map.getNumSymbols() == 0 &&
         llvm::all_of(map.getResults(), [&](AffineExpr expr) {
           return linearise(expr, 1, coef, constant);
         });
}

static bool isElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         type.isIndex();
}

bool canDescribe(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() == 0)
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    Type type = operand.get().getType();
    auto memref = dyn_cast<MemRefType>(type);
    if (!isElementType(memref ? memref.getElementType() : type) ||
        !isLinear(op.getMatchingIndexingMap(&operand)))
      return false;
    if (memref && !memref.isStrided())
      return false;
  }
  for (utils::IteratorType kind : op.getIteratorTypesArray())
    if (kind != utils::IteratorType::parallel &&
        kind != utils::IteratorType::reduction)
      return false;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    // Every output element belongs to one point of the parallel dims.
    AffineMap map = op.getMatchingIndexingMap(&init);
    SmallVector<int64_t> coef(map.getNumDims(), 0);
    int64_t constant = 0;
    for (AffineExpr expr : map.getResults())
      (void)linearise(expr, 1, coef, constant);
    for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if ((kind == utils::IteratorType::reduction) != (coef[dim] == 0))
        return false;
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<linalg::IndexOp, memref::LoadOp>(inner))
      continue;
    if (inner.getNumRegions() || !OpTrait::hasElementwiseMappableTraits(&inner))
      return false;
    if (!llvm::all_of(inner.getResultTypes(), isElementType))
      return false;
  }
  return true;
}

Value pointerOf(Arith &arith, Value memref, Quantity offset, Type element) {
  OpBuilder &b = arith.b;
  Location loc = arith.loc;
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref);
  address = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value result = LLVM::IntToPtrOp::create(b, loc, pointer, address);
  if (offset.is(0))
    return result;
  Type stored = element.isInteger(1) ? b.getI8Type()
                : element.isIndex()  ? b.getI64Type()
                                     : element;
  Value at =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), arith.get(offset));
  return LLVM::GEPOp::create(b, loc, pointer, stored, result, ValueRange{at});
}

/// The stride of dim `dim` of `memref`, as the product of sizes that it is;
/// null where that is not seen.
static OpFoldResult strideOf(Value memref, int64_t dim, ShardSizes &sizes) {
  auto type = cast<MemRefType>(memref.getType());
  auto [strides, offset] = stridesAndOffset(type);
  Builder b(type.getContext());
  if (!ShapedType::isDynamic(strides[dim]))
    return b.getIndexAttr(strides[dim]);
  if (type.getLayout().isIdentity()) {
    OpFoldResult stride = b.getIndexAttr(1);
    for (int64_t inner = type.getRank(); --inner > dim && stride;) {
      OpFoldResult size = sizes.of(memref, inner);
      stride = size ? sizes.product(stride, size) : OpFoldResult();
    }
    return stride;
  }
  auto part = memref.getDefiningOp<memref::SubViewOp>();
  if (!part)
    return {};
  llvm::SmallBitVector dropped = part.getDroppedDims();
  for (auto [i, step] : llvm::enumerate(part.getMixedStrides()))
    if (!dropped.test(i) && dim-- == 0) {
      OpFoldResult stride = strideOf(part.getSource(), i, sizes);
      return stride && isa<Attribute>(step) ? sizes.product(stride, step)
                                            : OpFoldResult();
    }
  return {};
}

Access accessOf(Arith &arith, Value memref, AffineMap map, ArrayRef<int> dims,
                size_t count, ShardSizes *sizes) {
  Access access;
  access.element = cast<MemRefType>(memref.getType()).getElementType();
  int64_t scale = 1, first = 0;
  if (std::optional<PartOfComplex> part = partOfComplex(memref)) {
    memref = part->memref;
    access.part = part->part;
    scale = part->part < 0 ? 1 : 2;
    first = std::max<int64_t>(part->part, 0);
  }
  auto type = cast<MemRefType>(memref.getType());
  access.coef.assign(count, Quantity::of(0));
  auto [strides, offset] = stridesAndOffset(type);
  Quantity start = Quantity::of(offset);
  SmallVector<Quantity> steps;
  bool isDynamic =
      ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, [](int64_t s) { return ShapedType::isDynamic(s); });
  memref::ExtractStridedMetadataOp metadata;
  if (isDynamic)
    metadata =
        memref::ExtractStridedMetadataOp::create(arith.b, arith.loc, memref);
  if (ShapedType::isDynamic(offset))
    start = Quantity::of(metadata.getOffset());
  for (auto [i, stride] : llvm::enumerate(strides)) {
    OpFoldResult known = sizes ? strideOf(memref, i, *sizes) : OpFoldResult();
    steps.push_back(known ? Quantity::of(known)
                    : ShapedType::isDynamic(stride)
                        ? Quantity{std::nullopt, metadata.getStrides()[i]}
                        : Quantity::of(stride));
  }
  for (auto [expr, step] : llvm::zip_equal(map.getResults(), steps)) {
    SmallVector<int64_t> coef(map.getNumDims(), 0);
    int64_t constant = 0;
    (void)linearise(expr, 1, coef, constant);
    start = arith.add(start, arith.mul(Quantity::of(constant), step));
    for (auto [dim, c] : llvm::enumerate(coef))
      if (c != 0)
        access.coef[dims[dim]] = arith.add(
            access.coef[dims[dim]], arith.mul(Quantity::of(scale * c), step));
  }
  start = arith.add(arith.mul(start, Quantity::of(scale)), Quantity::of(first));
  access.pointer = pointerOf(arith, memref, start, access.element);
  return access;
}

/// A scalar operand, or a memref's access.
static Access inputOf(Arith &arith, Value operand, AffineMap map,
                      ArrayRef<int> dims, size_t count, ShardSizes &sizes) {
  if (isa<MemRefType>(operand.getType()))
    return accessOf(arith, operand, map, dims, count, &sizes);
  Access access;
  access.element = operand.getType();
  access.coef.assign(count, Quantity::of(0));
  return access; // no pointer: the body takes the operand itself
}

Quantity sizeOf(Arith &arith, linalg::GenericOp op, unsigned dim,
                ArrayRef<int64_t> ranges, ShardSizes &sizes) {
  if (!ShapedType::isDynamic(ranges[dim]))
    return Quantity::of(ranges[dim]);
  Quantity found;
  for (OpOperand &operand : op->getOpOperands()) {
    Value memref = wholeOf(operand.get());
    if (!isa<MemRefType>(memref.getType()))
      continue;
    for (auto [i, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto position = dyn_cast<AffineDimExpr>(expr))
        if (position.getPosition() == dim) {
          OpFoldResult known = sizes.of(memref, i);
          if (!known && found.value)
            continue;
          if (!known)
            known = memref::DimOp::create(arith.b, arith.loc, memref, i)
                        .getResult();
          found = Quantity::of(known);
          if (found.fixed || factsOf(found.value).most)
            return found;
        }
  }
  return found;
}

FailureOr<Nest> describe(OpBuilder &builder, linalg::GenericOp main,
                         linalg::GenericOp epilogue, ArrayRef<Value> initial,
                         ShardSizes &sizes) {
  if (!canDescribe(main) || (epilogue && !canDescribe(epilogue)))
    return failure();
  Arith arith(builder, main.getLoc());
  Nest nest;
  nest.main = main;
  nest.epilogue = epilogue;
  nest.initial.assign(initial.begin(), initial.end());
  SmallVector<int64_t> ranges = main.getStaticLoopRanges();
  for (auto [dim, kind] : llvm::enumerate(main.getIteratorTypesArray())) {
    Quantity size = sizeOf(arith, main, dim, ranges, sizes);
    if (!size.fixed && !size.value)
      return failure();
    nest.dims.push_back({size, kind == utils::IteratorType::reduction});
  }
  size_t count = nest.dims.size();
  SmallVector<int> same = llvm::to_vector(llvm::seq<int>(0, count));
  for (OpOperand *input : main.getDpsInputOperands())
    nest.inputs.push_back(inputOf(arith, input->get(),
                                  main.getMatchingIndexingMap(input), same,
                                  count, sizes));
  for (OpOperand &output : main.getDpsInitsMutable()) {
    if (epilogue) {
      // It has no memory: only its dims matter.
      Access access;
      access.element =
          cast<MemRefType>(output.get().getType()).getElementType();
      access.coef.assign(count, Quantity::of(0));
      nest.outputs.push_back(access);
      continue;
    }
    nest.outputs.push_back(accessOf(arith, output.get(),
                                    main.getMatchingIndexingMap(&output), same,
                                    count, &sizes));
  }
  if (!epilogue)
    return nest;

  Value result = main.getDpsInits()[0];
  AffineMap mainMap = main.getMatchingIndexingMap(main.getDpsInitOperand(0));
  nest.epilogueDims.assign(epilogue.getNumLoops(), -1);
  for (auto [i, input] : llvm::enumerate(epilogue.getDpsInputOperands())) {
    if (input->get() != result)
      continue;
    nest.epilogueOperand = i;
    AffineMap map = epilogue.getMatchingIndexingMap(input);
    for (auto [ours, theirs] :
         llvm::zip_equal(mainMap.getResults(), map.getResults()))
      nest.epilogueDims[cast<AffineDimExpr>(theirs).getPosition()] =
          cast<AffineDimExpr>(ours).getPosition();
  }
  for (OpOperand *input : epilogue.getDpsInputOperands())
    nest.epilogueInputs.push_back(
        input->get() == result ? nest.outputs[0]
                               : inputOf(arith, input->get(),
                                         epilogue.getMatchingIndexingMap(input),
                                         nest.epilogueDims, count, sizes));
  for (OpOperand &output : epilogue.getDpsInitsMutable())
    nest.epilogueOutputs.push_back(
        accessOf(arith, output.get(), epilogue.getMatchingIndexingMap(&output),
                 nest.epilogueDims, count, &sizes));
  return nest;
}

static bool usesIndex(linalg::GenericOp op) {
  return op &&
         llvm::any_of(op.getBody()->without_terminator(), [](Operation &inner) {
           return isa<linalg::IndexOp>(inner);
         });
}

void collapseDims(OpBuilder &builder, Nest &nest, ShardSizes &sizes) {
  if (usesIndex(nest.main) || usesIndex(nest.epilogue))
    return;
  SmallVector<Access *> all;
  for (auto *list : {&nest.inputs, &nest.outputs, &nest.epilogueInputs,
                     &nest.epilogueOutputs})
    for (Access &access : *list)
      all.push_back(&access);
  Arith arith(builder, nest.main.getLoc());
  auto asSize = [&](const Quantity &quantity) {
    return quantity.fixed ? OpFoldResult(builder.getIndexAttr(*quantity.fixed))
                          : OpFoldResult(quantity.value);
  };
  auto merge = [&](size_t outer, size_t inner) {
    if (nest.dims[outer].reduces != nest.dims[inner].reduces)
      return false;
    // What is summed keeps its order: it must not follow from strides.
    if (nest.dims[inner].reduces && inner != outer + 1)
      return false;
    OpFoldResult size = asSize(nest.dims[inner].size);
    for (Access *access : all) {
      OpFoldResult whole = sizes.product(asSize(access->coef[inner]), size);
      if (!whole || whole != asSize(access->coef[outer]))
        return false;
    }
    OpFoldResult both = sizes.product(asSize(nest.dims[outer].size), size);
    nest.dims[inner].size =
        both ? Quantity::of(both)
             : arith.mul(nest.dims[outer].size, nest.dims[inner].size);
    nest.dims.erase(nest.dims.begin() + outer);
    for (Access *access : all)
      access->coef.erase(access->coef.begin() + outer);
    return true;
  };
  // Dims of one element are dropped on the way: any coef does for them.
  for (size_t dim = nest.dims.size(); dim-- > 0;) {
    if (!nest.dims[dim].size.is(1) || nest.dims.size() == 1)
      continue;
    // A reduction over one element still combines with the initial value.
    if (nest.dims[dim].reduces &&
        llvm::count_if(nest.dims, [](const Dim &d) { return d.reduces; }) == 1)
      continue;
    nest.dims.erase(nest.dims.begin() + dim);
    for (Access *access : all)
      access->coef.erase(access->coef.begin() + dim);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t outer = 0; outer < nest.dims.size() && !changed; ++outer)
      for (size_t inner = 0; inner < nest.dims.size() && !changed; ++inner)
        if (outer != inner)
          changed = merge(outer, inner);
  }
}

} // namespace shardc::cpu

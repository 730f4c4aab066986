//===- SplitComplex.cpp - Complex elements as two real ones ---------------===//
//
// Vectors have no complex elements. An op on complex buffers becomes one on
// their real and imaginary parts, two elements apart; one that only moves
// elements of two f32 moves integers of 64 bits. The buffers keep their types:
// an op reads them through a cast that accessOf looks through.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/Strides.h"

using namespace mlir;

namespace shardc::cpu {

std::optional<PartOfComplex> partOfComplex(Value memref) {
  auto cast = memref.getDefiningOp<UnrealizedConversionCastOp>();
  IntegerAttr part =
      cast ? spmd::contract::ComplexPart::get(cast) : IntegerAttr();
  if (!part)
    return std::nullopt;
  return PartOfComplex{cast.getInputs()[0], part.getInt()};
}

Value wholeOf(Value value) {
  std::optional<PartOfComplex> part = partOfComplex(value);
  return part ? part->memref : value;
}

namespace {
/// Of real and imaginary parts, or the whole as an integer. [format]
constexpr int64_t kWhole = -1;

struct Splitter {
  DenseMap<std::pair<Value, int64_t>, Value> casts;

  static ComplexType complexOf(Type type) {
    return dyn_cast<ComplexType>(getElementTypeOrSelf(type));
  }

  /// `memref` of complex elements as one of a part of them.
  Value part(Value memref, int64_t which) {
    Value &cast = casts[{memref, which}];
    if (cast)
      return cast;
    auto type = ::cast<MemRefType>(memref.getType());
    OpBuilder b(memref.getContext());
    b.setInsertionPointAfterValue(memref);
    Type element = which == kWhole ? Type(b.getI64Type())
                                   : complexOf(type).getElementType();
    auto [strides, offset] = stridesAndOffset(type);
    if (which != kWhole) {
      auto twice = [](int64_t number) {
        return ShapedType::isDynamic(number) ? number : 2 * number;
      };
      for (int64_t &stride : strides)
        stride = twice(stride);
      offset = ShapedType::isDynamic(offset) ? offset : 2 * offset + which;
    }
    auto made =
        MemRefType::get(type.getShape(), element,
                        StridedLayoutAttr::get(b.getContext(), offset, strides),
                        type.getMemorySpace());
    auto op =
        UnrealizedConversionCastOp::create(b, memref.getLoc(), made, memref);
    spmd::contract::ComplexPart::set(op, b.getI64IntegerAttr(which));
    return cast = op.getResult(0);
  }

  /// True if `op` only moves elements of two f32.
  static bool moves(linalg::GenericOp op) {
    Block *body = op.getBody();
    auto isOfBody = [&](Value value) { return value.getParentBlock() == body; };
    return body->without_terminator().empty() &&
           llvm::all_of(body->getTerminator()->getOperands(), isOfBody) &&
           llvm::all_of(op->getOperands(), [](Value operand) {
             ComplexType type = complexOf(operand.getType());
             return isa<MemRefType>(operand.getType()) && type &&
                    type.getElementType().isF32();
           });
  }

  static bool canSplit(linalg::GenericOp op) {
    if (!op.hasPureBufferSemantics() || op.getNumDpsInits() == 0)
      return false;
    bool any = false;
    for (Value operand : op->getOperands()) {
      ComplexType type = complexOf(operand.getType());
      if (!type)
        continue;
      any = true;
      auto memref = dyn_cast<MemRefType>(operand.getType());
      if (memref && !memref.isStrided())
        return false;
      if (!type.getElementType().isF32() && !type.getElementType().isF64())
        return false;
    }
    if (!any)
      return false;
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (isa<complex::ReOp, complex::ImOp, complex::CreateOp,
              complex::ConstantOp>(inner))
        continue;
      if (isa<arith::SelectOp>(inner) &&
          !isa<VectorType>(inner.getOperand(0).getType()))
        continue;
      auto isComplex = [](Type type) { return bool(complexOf(type)); };
      if (inner.getNumRegions() ||
          llvm::any_of(inner.getOperandTypes(), isComplex) ||
          llvm::any_of(inner.getResultTypes(), isComplex))
        return false;
    }
    return llvm::all_of(llvm::seq(op.getNumLoops()),
                        [&](unsigned dim) { return hasSize(op, dim); });
  }

  /// True if the size of dim `dim` is known, or a buffer is indexed by it
  /// alone.
  static bool hasSize(linalg::GenericOp op, unsigned dim) {
    if (!ShapedType::isDynamic(op.getStaticLoopRanges()[dim]))
      return true;
    AffineExpr index = getAffineDimExpr(dim, op.getContext());
    return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
      return isa<MemRefType>(operand.get().getType()) &&
             llvm::is_contained(
                 op.getMatchingIndexingMap(&operand).getResults(), index);
    });
  }

  struct Pair {
    Value re, im;
  };

  void split(linalg::GenericOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    bool whole = moves(op);
    SmallVector<Value> operands[2]; // inputs, outputs
    SmallVector<AffineMap> maps;
    for (OpOperand &operand : op->getOpOperands()) {
      SmallVector<Value> &list = operands[op.isDpsInit(&operand)];
      AffineMap map = op.getMatchingIndexingMap(&operand);
      Value value = operand.get();
      if (!complexOf(value.getType())) {
        list.push_back(value);
        maps.push_back(map);
        continue;
      }
      if (whole) {
        list.push_back(part(value, kWhole));
        maps.push_back(map);
        continue;
      }
      for (int64_t which : {0, 1}) {
        if (isa<MemRefType>(value.getType()))
          list.push_back(part(value, which));
        else if (which == 0)
          list.push_back(complex::ReOp::create(b, loc, value));
        else
          list.push_back(complex::ImOp::create(b, loc, value));
        maps.push_back(map);
      }
    }
    auto made = linalg::GenericOp::create(
        b, loc, TypeRange(), operands[0], operands[1], maps,
        op.getIteratorTypesArray(),
        [&](OpBuilder &inner, Location, ValueRange arguments) {
          fillBody(inner, op, arguments, whole);
        });
    if (!canDescribe(made)) {
      made.erase();
      return;
    }
    op.erase();
  }

  static void fillBody(OpBuilder &b, linalg::GenericOp op, ValueRange arguments,
                       bool whole) {
    Location loc = op.getLoc();
    IRMapping map;
    DenseMap<Value, Pair> pairs;
    for (BlockArgument argument : op.getBody()->getArguments()) {
      if (!complexOf(argument.getType()) || whole) {
        map.map(argument, arguments.front());
        arguments = arguments.drop_front();
        continue;
      }
      pairs[argument] = {arguments[0], arguments[1]};
      arguments = arguments.drop_front(2);
    }
    // A value from around the op has no pair yet.
    auto pairOf = [&](Value value) -> Pair {
      auto found = pairs.find(value);
      if (found != pairs.end())
        return found->second;
      return {complex::ReOp::create(b, loc, value),
              complex::ImOp::create(b, loc, value)};
    };
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (auto re = dyn_cast<complex::ReOp>(inner)) {
        map.map(re.getResult(), pairOf(re.getComplex()).re);
      } else if (auto im = dyn_cast<complex::ImOp>(inner)) {
        map.map(im.getResult(), pairOf(im.getComplex()).im);
      } else if (auto create = dyn_cast<complex::CreateOp>(inner)) {
        pairs[create] = {map.lookupOrDefault(create.getReal()),
                         map.lookupOrDefault(create.getImaginary())};
      } else if (auto constant = dyn_cast<complex::ConstantOp>(inner)) {
        auto number = [&](Attribute attr) -> Value {
          return arith::ConstantOp::create(b, loc, ::cast<TypedAttr>(attr));
        };
        pairs[constant] = {number(constant.getValue()[0]),
                           number(constant.getValue()[1])};
      } else if (auto select = dyn_cast<arith::SelectOp>(inner);
                 select && complexOf(select.getType())) {
        Pair yes = pairOf(select.getTrueValue()),
             no = pairOf(select.getFalseValue());
        Value condition = map.lookupOrDefault(select.getCondition());
        pairs[select] = {
            arith::SelectOp::create(b, loc, condition, yes.re, no.re),
            arith::SelectOp::create(b, loc, condition, yes.im, no.im)};
      } else {
        b.clone(inner, map);
      }
    }
    SmallVector<Value> yields;
    for (Value value : op.getBody()->getTerminator()->getOperands()) {
      if (!complexOf(value.getType()) || whole) {
        yields.push_back(map.lookupOrDefault(value));
        continue;
      }
      Pair pair = pairOf(value);
      yields.append({pair.re, pair.im});
    }
    linalg::YieldOp::create(b, loc, yields);
  }
};
} // namespace

void splitComplex(Operation *root) {
  Splitter splitter;
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) {
    if (Splitter::canSplit(op))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops)
    splitter.split(op);
}

void eraseUnusedParts(Operation *root) {
  SmallVector<UnrealizedConversionCastOp> casts;
  root->walk([&](UnrealizedConversionCastOp op) {
    if (spmd::contract::ComplexPart::has(op) && op->use_empty())
      casts.push_back(op);
  });
  for (UnrealizedConversionCastOp op : casts)
    op.erase();
}

} // namespace shardc::cpu

//===- Libraries.cpp - fft by a vendor's library --------------------------===//
//
// A transform is stages of its own here, so that whether a library does it is
// decided while it is still one op. Where the library does not, the stages do.
//
//===----------------------------------------------------------------------===//
#include "Fourier.h"
#include "StableHLOToLinalg.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Machine/Cost.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::lowering;

static bool isInverse(stablehlo::FftOp op) {
  return op.getFftType() == stablehlo::FftType::IFFT ||
         op.getFftType() == stablehlo::FftType::IRFFT;
}

/// True if a library's transform of `op` is worth its call, one launch more. It
/// goes through memory once a dim, and once more to scale; ours as often as its
/// stages do, and to take complex numbers apart and to put them together. Of a
/// size that is not known the longer ones matter.
static bool isWorthACall(stablehlo::FftOp op) {
  auto from = cast<RankedTensorType>(op.getOperand().getType());
  auto to = cast<RankedTensorType>(op.getType());
  if (!from.hasStaticShape())
    return true;
  auto complex = dyn_cast<ComplexType>(from.getElementType());
  Type part = complex ? complex.getElementType() : from.getElementType();
  unsigned width = part.getIntOrFloatBitWidth();
  int64_t elements = std::max(from.getNumElements(), to.getNumElements());
  double theirs = double(op.getFftLength().size()), ours = 2;
  if (isInverse(op))
    ++theirs;
  for (int64_t length : op.getFftLength())
    ours += fourier::passesByThreads(length, width);
  Cost cost(machineOf(op));
  double pass = cost.copy(double(elements) * width / 4);
  return Cost::isWorth(theirs * pass + cost.getMachine().launchSeconds,
                       ours * pass);
}

/// `value` times `factor`, element by element.
static Value scaled(Lowerer &l, Value value, double factor) {
  if (factor == 1)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  AffineMap same = l.b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  auto complex = dyn_cast<ComplexType>(element);
  Type part = complex ? complex.getElementType() : element;
  Value by = l.number(part, factor);
  return l.generic(
      {value}, {l.empty(l.sizes(value), element)}, {same, same}, parallel,
      [&](ValueRange args) -> SmallVector<Value> {
        if (!complex)
          return {arith::MulFOp::create(l.b, args[0], by).getResult()};
        Value re = complex::ReOp::create(l.b, part, args[0]),
              im = complex::ImOp::create(l.b, part, args[0]);
        re = arith::MulFOp::create(l.b, re, by);
        im = arith::MulFOp::create(l.b, im, by);
        return {complex::CreateOp::create(l.b, complex, re, im).getResult()};
      })[0];
}

static LogicalResult lowerFft(Lowerer &l, stablehlo::FftOp op,
                              const OpLowering &generated, bool required) {
  Value input = l.tensor(op.getOperand());
  auto from = cast<RankedTensorType>(input.getType());
  auto to = cast<RankedTensorType>(op.getType());
  ArrayRef<int64_t> length = op.getFftLength();
  int64_t rank = from.getRank(), count = length.size(), first = rank - count;
  bool isStatic = count >= 1 && count <= 3;
  for (int64_t dim = first; dim < rank && isStatic; ++dim)
    isStatic = !from.isDynamicDim(dim) && !to.isDynamicDim(dim);
  // Of several dims, a library wants the whole of a real line's symmetry.
  bool isKnown = op.getFftType() != stablehlo::FftType::IRFFT || count == 1;
  if (!isStatic || !isKnown || llvm::is_contained(length, 0) ||
      (!required && !isWorthACall(op)))
    return generated(l, op);

  int64_t code = static_cast<int64_t>(op.getFftType());
  auto groups = [&](RankedTensorType type) -> Attribute {
    SmallVector<Attribute> all{
        l.b.getI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, first)))};
    for (int64_t dim = first; dim < type.getRank(); ++dim)
      all.push_back(l.b.getI64ArrayAttr(dim));
    return l.b.getArrayAttr(all);
  };
  SmallVector<OpFoldResult> sizes = l.sizes(input);
  sizes.back() = l.b.getIndexAttr(to.getDimSize(rank - 1));
  Value init = l.empty(sizes, to.getElementType());
  auto call = spmd::LibraryCallOp::create(
      l.b, init.getType(), l.b.getI1Type(), l.b.getStringAttr("transform"),
      ValueRange(input), init, ValueRange(),
      l.b.getArrayAttr({groups(from), groups(to)}),
      l.b.getDenseI64ArrayAttr({code, count}), ArrayAttr(),
      required ? l.b.getUnitAttr() : UnitAttr(), UnitAttr(), UnitAttr());
  double factor = 1;
  if (isInverse(op))
    for (int64_t n : length)
      factor /= static_cast<double>(n);
  auto branch = scf::IfOp::create(l.b, TypeRange(init.getType()),
                                  call.getDone(), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(l.b, scaled(l, call.getResult(), factor));
    l.b.setInsertionPointToEnd(branch.elseBlock());
    if (failed(generated(l, op)))
      return failure();
    Value result = l.tensor(op);
    if (result.getType() != init.getType())
      result = tensor::CastOp::create(l.b, init.getType(), result);
    scf::YieldOp::create(l.b, result);
  }
  l.set(op, branch.getResult(0));
  return success();
}

void shardc::lowering::addLibraries(LoweringTable &table, bool required) {
  OpLowering &known = table.ops[TypeID::get<stablehlo::FftOp>()];
  known = [generated = known, required](Lowerer &l, Operation *op) {
    return lowerFft(l, cast<stablehlo::FftOp>(op), generated, required);
  };
}

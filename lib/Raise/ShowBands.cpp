//===- ShowBands.cpp - Where constant matrices are zero -------------------===//
//
// Interpolation is written as a product with a matrix that follows from sizes
// alone, of which each column has a few elements beside one another. Zeros are
// selected outside of these: then the rule of the product sees which rows a
// result reads.
//
//===----------------------------------------------------------------------===//
#include "ConstantTensors.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_SHOWBANDSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

namespace {
/// For each column, the first row and the one behind the last that are not
/// zero.
struct Band {
  SmallVector<int32_t> begins, ends;
};
} // namespace

/// The band of a matrix whose dim `rowDim` is that of rows.
static Band bandOf(const std::vector<double> &matrix, ArrayRef<int64_t> shape,
                   int64_t rowDim) {
  int64_t rows = shape[rowDim], columns = shape[1 - rowDim];
  Band band{SmallVector<int32_t>(columns, 0), SmallVector<int32_t>(columns, 0)};
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t row = 0; row < rows; ++row) {
      if (matrix[rowDim == 0 ? row * columns + column : column * rows + row] ==
          0)
        continue;
      if (band.ends[column] == 0)
        band.begins[column] = row;
      band.ends[column] = row + 1;
    }
  return band;
}

/// True if two ranks with half of the columns each, and half of the rows, send
/// one another less than a transposition would.
static bool isNarrow(const Band &band, int64_t rows) {
  int64_t columns = band.begins.size(), crossing = 0;
  for (int64_t half : {0, 1}) {
    int64_t begin = rows, end = 0;
    for (int64_t column = half * columns / 2; column < (half + 1) * columns / 2;
         ++column)
      if (band.begins[column] < band.ends[column]) {
        begin = std::min<int64_t>(begin, band.begins[column]);
        end = std::max<int64_t>(end, band.ends[column]);
      }
    crossing += half == 0 ? std::max<int64_t>(0, end - rows / 2)
                          : std::max<int64_t>(0, rows / 2 - begin);
  }
  return crossing < rows / 2;
}

/// `matrix`, with zeros selected outside of `band`.
static Value selectBand(OpBuilder &builder, Location loc, Value matrix,
                        const Band &band, int64_t rowDim) {
  auto type = cast<RankedTensorType>(matrix.getType());
  auto positions = type.clone(builder.getI32Type());
  auto bounds = RankedTensorType::get({type.getDimSize(1 - rowDim)},
                                      builder.getI32Type());
  Value rows =
      stablehlo::IotaOp::create(builder, loc, positions, uint64_t(rowDim));
  auto compare = [&](ArrayRef<int32_t> bound,
                     stablehlo::ComparisonDirection direction) -> Value {
    Value list = stablehlo::ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(Attribute(DenseElementsAttr::get(bounds, bound))));
    Value repeated = stablehlo::BroadcastInDimOp::create(
        builder, loc, positions, list, ArrayRef<int64_t>{1 - rowDim});
    return stablehlo::CompareOp::create(builder, loc, rows, repeated, direction,
                                        stablehlo::ComparisonType::SIGNED);
  };
  auto mask = type.clone(builder.getI1Type());
  Value behind = compare(band.begins, stablehlo::ComparisonDirection::GE),
        before = compare(band.ends, stablehlo::ComparisonDirection::LT);
  Value inside = stablehlo::AndOp::create(builder, loc, mask, behind, before);
  Value zero = stablehlo::ConstantOp::create(
      builder, loc, cast<ElementsAttr>(builder.getZeroAttr(type)));
  return stablehlo::SelectOp::create(builder, loc, type, inside, matrix, zero);
}

namespace {
struct ShowBandsPass final : shardc::impl::ShowBandsPassBase<ShowBandsPass> {
  using Base::Base;
  void runOnOperation() override {
    ConstantTensors constants;
    getOperation().walk([&](stablehlo::DotGeneralOp op) {
      stablehlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
      if (!dims.getLhsBatchingDimensions().empty() ||
          dims.getLhsContractingDimensions().size() != 1 ||
          spmd::contract::WholeSum::has(op))
        return;
      show(op, 0, dims.getLhsContractingDimensions()[0], constants) ||
          show(op, 1, dims.getRhsContractingDimensions()[0], constants);
    });
  }

private:
  bool show(stablehlo::DotGeneralOp op, unsigned number, int64_t rowDim,
            ConstantTensors &constants) {
    Value matrix = op->getOperand(number);
    auto type = dyn_cast<RankedTensorType>(matrix.getType());
    if (!type || type.getRank() != 2 || !type.hasStaticShape() ||
        !isa<FloatType>(type.getElementType()) || isOpen(op, type.getShape()))
      return false;
    // Shorter numbers are zero where what they are made of is.
    Value wide = matrix;
    if (auto convert = matrix.getDefiningOp<stablehlo::ConvertOp>();
        convert &&
        isa<FloatType>(getElementTypeOrSelf(convert.getOperand().getType())))
      wide = convert.getOperand();
    std::optional<std::vector<double>> elements = constants.compute(wide);
    if (!elements)
      return false;
    Band band = bandOf(*elements, type.getShape(), rowDim);
    if (!isNarrow(band, type.getDimSize(rowDim)))
      return false;
    OpBuilder builder(op);
    op->setOperand(number,
                   selectBand(builder, op.getLoc(), matrix, band, rowDim));
    return true;
  }
};
} // namespace

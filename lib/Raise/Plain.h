//===- Plain.h - Whole tensors along named dims -----------------*- C++ -*-===//
#ifndef SHARDC_LIB_RAISE_PLAIN_H
#define SHARDC_LIB_RAISE_PLAIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc::raise {

/// A tensor and the iteration dim of each of its dims.
struct Placed {
  mlir::Value value;
  llvm::SmallVector<unsigned> dims;
};

/// Says in plain StableHLO what `op` computes.
void expand(spmd::AllPairsOpInterface op);

/// Builds plain StableHLO on tensors whose dims have names.
class PlainOps {
public:
  PlainOps(mlir::OpBuilder builder, mlir::Location loc,
           llvm::SmallVector<int64_t> sizes, mlir::FloatType accumulator)
      : builder(builder), loc(loc), sizes(std::move(sizes)),
        accumulator(accumulator) {}

  llvm::SmallVector<int64_t> shapeOf(llvm::ArrayRef<unsigned> dims) const {
    return llvm::map_to_vector(dims, [&](unsigned dim) { return sizes[dim]; });
  }
  mlir::Value convert(mlir::Value value, mlir::Type type);
  mlir::Value number(double value, llvm::ArrayRef<int64_t> shape);
  /// `placed` along `dims`: transposed, and repeated along those it lacks.
  mlir::Value spread(const Placed &placed, llvm::ArrayRef<unsigned> dims);
  /// The sum, or the largest or smallest element, over all dims but `dims`.
  template <typename OpT>
  Placed reduce(const Placed &placed, llvm::ArrayRef<unsigned> dims,
                double start);
  /// The sum of products over `summed`, and over what `dims` lack, along
  /// `dims`, in the accumulator type.
  mlir::Value contract(const Placed &lhs, const Placed &rhs,
                       llvm::ArrayRef<unsigned> summed,
                       llvm::ArrayRef<unsigned> dims);
  template <typename OpT> mlir::Value binary(mlir::Value lhs, mlir::Value rhs) {
    return OpT::create(builder, loc, lhs.getType(), lhs, rhs);
  }

  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<int64_t> sizes;
  mlir::FloatType accumulator;
};

template <typename OpT>
Placed PlainOps::reduce(const Placed &placed, llvm::ArrayRef<unsigned> dims,
                        double start) {
  llvm::SmallVector<int64_t> gone;
  Placed result;
  for (auto [place, dim] : llvm::enumerate(placed.dims)) {
    if (llvm::is_contained(dims, dim))
      result.dims.push_back(dim);
    else
      gone.push_back(place);
  }
  result.value = placed.value;
  if (gone.empty())
    return result;
  auto type = mlir::RankedTensorType::get(shapeOf(result.dims), accumulator),
       scalar = mlir::RankedTensorType::get({}, accumulator);
  auto reduceOp = stablehlo::ReduceOp::create(
      builder, loc, mlir::TypeRange{type}, mlir::ValueRange{placed.value},
      mlir::ValueRange{number(start, {})}, builder.getDenseI64ArrayAttr(gone));
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Block *body = builder.createBlock(&reduceOp.getBody(), {},
                                          {scalar, scalar}, {loc, loc});
  mlir::Value combined = OpT::create(builder, loc, scalar, body->getArgument(0),
                                     body->getArgument(1));
  stablehlo::ReturnOp::create(builder, loc, combined);
  result.value = reduceOp->getResult(0);
  return result;
}

} // namespace shardc::raise

#endif // SHARDC_LIB_RAISE_PLAIN_H

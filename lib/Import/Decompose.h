//===- Decompose.h - Rare ops in common ones --------------------*- C++ -*-===//
//
// What DecomposeOps asks its families for. Each takes the op out of the
// program, or leaves it as it is where it is of the common form.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_IMPORT_DECOMPOSE_H
#define SHARDC_LIB_IMPORT_DECOMPOSE_H

#include "OpBuilding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

namespace shardc::import {

/// Puts `values` in the place of what `op` gives, which goes.
inline void replace(mlir::Operation *op, mlir::ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
}

/// Makes `op`, of one result, give elements of type `computed`, which are
/// converted behind it to those that it gave.
void convertBehind(mlir::Operation *op, mlir::Type computed);

// Normalisation over a batch.
llvm::LogicalResult decompose(stablehlo::BatchNormInferenceOp op);
llvm::LogicalResult decompose(stablehlo::BatchNormTrainingOp op);
llvm::LogicalResult decompose(stablehlo::BatchNormGradOp op);

// Random numbers; `place` tells generators of a program apart.
llvm::LogicalResult decompose(stablehlo::RngBitGeneratorOp op);
llvm::LogicalResult decompose(stablehlo::RngOp op, uint64_t place);

// Maps, and products and rows by older names.
llvm::LogicalResult decompose(stablehlo::MapOp op);
llvm::LogicalResult decompose(stablehlo::DotOp op);
llvm::LogicalResult decompose(stablehlo::BroadcastOp op);
llvm::LogicalResult decompose(stablehlo::UnaryEinsumOp op);
llvm::LogicalResult decompose(stablehlo::EinsumOp op);
llvm::LogicalResult decompose(stablehlo::TorchIndexSelectOp op);
/// Sums of a kind that the product's result does not hold are converted behind
/// it.
void convertSumBehind(stablehlo::DotGeneralOp op);
void convertSumBehind(stablehlo::ConvolutionOp op);

// Factors and triangular systems. Floats narrower than f32 are computed in f32.
void solveNarrowInF32(stablehlo::CholeskyOp op);
void solveNarrowInF32(stablehlo::TriangularSolveOp op);

// Complex numbers.
llvm::LogicalResult decompose(stablehlo::MinOp op);
llvm::LogicalResult decompose(stablehlo::MaxOp op);
llvm::LogicalResult decompose(stablehlo::BitcastConvertOp op);

// Communication of one process.
/// Whether the module is written for one device alone.
bool isForOneDevice(mlir::ModuleOp module);
/// A collective of one process among itself, as pmap over an axis of one device
/// prints it. False for others, which CheckSupported will refuse.
bool dropExchange(mlir::Operation *op);
llvm::LogicalResult decompose(stablehlo::CollectiveBroadcastOp op);

// Scans.
llvm::LogicalResult decompose(chlo::ScanOp op);

// Tuples and tokens.
llvm::LogicalResult decompose(stablehlo::GetTupleElementOp op);
llvm::LogicalResult decompose(stablehlo::OptimizationBarrierOp op);
/// Takes away tuples and tokens that nobody reads.
void dropUnused(mlir::ModuleOp module);
/// Takes tokens out of what loops carry, branches yield, and manual regions
/// take and give. Innermost first.
void dropCarriedTokens(mlir::Operation *op);
/// Takes tokens off @main that say in what order it runs its effects.
void dropTokens(mlir::func::FuncOp main);

// Scatters of windows that do not fit.
llvm::LogicalResult decompose(stablehlo::ScatterOp op);
/// A scatter into a constant that has one window for each batch becomes a
/// choice by place, and goes. False, and nothing done, for others.
bool selectByPlace(stablehlo::ScatterOp op);

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_DECOMPOSE_H

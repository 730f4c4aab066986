//===- Passes.td - What ops compute, in linalg -------------*- tablegen -*-===//
#ifndef SHARDC_LINALG_PASSES_TD
#define SHARDC_LINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitBandsPass : Pass<"spmd-split-bands", "::mlir::func::FuncOp"> {
  let summary = "Multiply with weights that are mostly zero by blocks of what is not.";
  let description = [{
    Before: a large `stablehlo.dot_general` of f32 with a matrix that follows from constants and positions alone, such as the
    weights by which JAX resizes images. After: if what is not zero in each of up to eight blocks of its columns is in a third of
    its rows or less, a product for each block, with those rows, and their concatenation. Numbers that were multiplied by zeros alone are no
    longer read: an infinity among them makes no NaN. Refuses nothing.

    ```mlir
    // before
    func.func @main(%x: tensor<1024x96xf32>) -> tensor<1024x96xf32> {
      %i = stablehlo.iota dim = 0 : tensor<96xf32>
      %n = stablehlo.constant dense<3.200000e+01> : tensor<96xf32>
      %q = stablehlo.divide %i, %n : tensor<96xf32>
      %g = stablehlo.floor %q : tensor<96xf32>
      %row = stablehlo.broadcast_in_dim %g, dims = [0] : (tensor<96xf32>) -> tensor<96x96xf32>
      %column = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<96xf32>) -> tensor<96x96xf32>
      %same = stablehlo.compare EQ, %row, %column, FLOAT : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xi1>
      %w = stablehlo.convert %same : (tensor<96x96xi1>) -> tensor<96x96xf32>
      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x96xf32>, tensor<96x96xf32>) -> tensor<1024x96xf32>
      return %y : tensor<1024x96xf32>
    }
    // after
    func.func @main(%arg0: tensor<1024x96xf32>) -> tensor<1024x96xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<96xf32>
      %cst = stablehlo.constant dense<3.200000e+01> : tensor<96xf32>
      %1 = stablehlo.divide %0, %cst : tensor<96xf32>
      %2 = stablehlo.floor %1 : tensor<96xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<96xf32>) -> tensor<96x96xf32>
      %4 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<96xf32>) -> tensor<96x96xf32>
      %5 = stablehlo.compare EQ, %3, %4, FLOAT : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xi1>
      %6 = stablehlo.convert %5 : (tensor<96x96xi1>) -> tensor<96x96xf32>
      %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<32x32xf32>
      %extracted_slice = tensor.extract_slice %arg0[0, 0] [1024, 32] [1, 1] : tensor<1024x96xf32> to tensor<1024x32xf32>
      %7 = stablehlo.dot_general %extracted_slice, %cst_0, contracting_dims = [1] x [0] : (tensor<1024x32xf32>, tensor<32x32xf32>) -> tensor<1024x32xf32>
      %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<32x32xf32>
      %extracted_slice_2 = tensor.extract_slice %arg0[0, 32] [1024, 32] [1, 1] : tensor<1024x96xf32> to tensor<1024x32xf32>
      %8 = stablehlo.dot_general %extracted_slice_2, %cst_1, contracting_dims = [1] x [0] : (tensor<1024x32xf32>, tensor<32x32xf32>) -> tensor<1024x32xf32>
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<32x32xf32>
      %extracted_slice_4 = tensor.extract_slice %arg0[0, 64] [1024, 32] [1, 1] : tensor<1024x96xf32> to tensor<1024x32xf32>
      %9 = stablehlo.dot_general %extracted_slice_4, %cst_3, contracting_dims = [1] x [0] : (tensor<1024x32xf32>, tensor<32x32xf32>) -> tensor<1024x32xf32>
      %10 = stablehlo.concatenate %7, %8, %9, dim = 1 : (tensor<1024x32xf32>, tensor<1024x32xf32>, tensor<1024x32xf32>) -> tensor<1024x96xf32>
      return %10 : tensor<1024x96xf32>
    }
    ```
  }];
  let dependentDialects = ["::shardc::stablehlo::StablehloDialect", "::mlir::tensor::TensorDialect"];
}

def LowerToLinalgPass : Pass<"spmd-lower-to-linalg", "mlir::ModuleOp"> {
  let summary = "Say in linalg, tensor, arith, math and scf what each StableHLO op computes.";
  let description = [{
    Before: stablehlo and chlo ops on tensors, static or `?`. After: none; unsigned integers
    are signless, scalars (rank-0 tensors inside a function) are plain values. Ops of other
    dialects stay, on converted types. Refuses: an op without a lowering, with its reason.
    Adds: nothing that communicates.
    ```mlir
    func.func @before(%a: tensor<8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
      %1 = stablehlo.add %0, %b : tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    }
    func.func @after(%a: tensor<8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = tensor.empty() : tensor<4x8xf32>
      %1 = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%a, %b : tensor<8xf32>, tensor<4x8xf32>) outs(%0 : tensor<4x8xf32>) {
        ^bb0(%x: f32, %y: f32, %out: f32):
          %s = arith.addf %x, %y : f32
          linalg.yield %s : f32
      } -> tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    }
    ```

    ```mlir
    // before
    func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %y : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // after
    #map = affine_map<(d0) -> (d0)>
    func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tensor.empty() : tensor<4xf32>
      %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%0 : tensor<4xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %2 = arith.addf %in, %in_0 : f32
        linalg.yield %2 : f32
      } -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"blockTransforms", "block-transforms", "bool", "false",
           "The stages of a Fourier transform go over as many lines at a time as half of a core's cache "
           "holds, not over all.">,
    Option<"manyThreads", "many-threads", "bool", "false",
           "For kernels of many threads: sorts, scans and transforms become kernel.lines, and what pooling "
           "scatters is gathered.">,
    Option<"roundEachOp", "round-each-op", "bool", "false",
           "Every op of f16 and bf16 rounds its result, whatever reads it; else not between ops that become "
           "one kernel (docs/Reference/accuracy.md).">,
    Option<"fixedLevel", "fixed-level", "bool", "false",
           "What the runtime does to matrices has the same bits on all processors that have AVX2.">,
    Option<"libraries", "libraries", "std::string", "\"generated\"",
           "Who does Fourier transforms: generated, auto or library (docs/Rationale/GPU.md).">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::complex::ComplexDialect", "mlir::func::FuncDialect",
                           "mlir::linalg::LinalgDialect", "mlir::math::MathDialect", "mlir::scf::SCFDialect",
                           "::shardc::spmd::KernelDialect", "mlir::tensor::TensorDialect"];
}

#endif // SHARDC_LINALG_PASSES_TD

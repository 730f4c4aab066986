//===- Passes.td - Local view to linalg, and to the runtime's calls --------===//
#ifndef SHARDC_LOWERING_PASSES_TD
#define SHARDC_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

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
           "For kernels of many threads: sorts, scans and transforms become spmd.lines, and what pooling "
           "scatters is gathered.">,
    Option<"libraries", "libraries", "std::string", "\"generated\"",
           "Who does Fourier transforms: generated, auto or library (docs/Rationale/GPU.md).">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::complex::ComplexDialect", "mlir::func::FuncDialect",
                           "mlir::linalg::LinalgDialect", "mlir::math::MathDialect", "mlir::scf::SCFDialect",
                           "::shardc::spmd::SpmdDialect", "mlir::tensor::TensorDialect"];
}

#endif // SHARDC_LOWERING_PASSES_TD

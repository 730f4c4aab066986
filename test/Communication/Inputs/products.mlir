// The products of split-products-loop.mlir, of whole tensors.
spmd.mesh @mesh = <["x"=11]>
func.func @main(%a: tensor<5x29xf32>, %w: tensor<29x6xf32>, %b: tensor<4x7xf32>, %u: tensor<7x9xf32>, %c: tensor<29x9xf32>, %d: tensor<33x8xf32>, %e: tensor<33x7xf32>)
    -> (tensor<5x6xf32>, tensor<4x9xf32>, tensor<4x29xf32>, tensor<8x7xf32>) {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<5x29xf32>, tensor<29x6xf32>) -> tensor<5x6xf32>
  %1 = stablehlo.dot_general %b, %u, contracting_dims = [1] x [0] : (tensor<4x7xf32>, tensor<7x9xf32>) -> tensor<4x9xf32>
  %2 = stablehlo.dot_general %1, %c, contracting_dims = [1] x [1] : (tensor<4x9xf32>, tensor<29x9xf32>) -> tensor<4x29xf32>
  %3 = stablehlo.dot_general %d, %e, contracting_dims = [0] x [0] : (tensor<33x8xf32>, tensor<33x7xf32>) -> tensor<8x7xf32>
  return %0, %1, %2, %3 : tensor<5x6xf32>, tensor<4x9xf32>, tensor<4x29xf32>, tensor<8x7xf32>
}

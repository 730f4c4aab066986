// RUN: shard-run %s --check=interpreter 2>&1 | FileCheck %s
// The product of two constants starts from a zero that no op of the kernel makes: such a kernel has an empty body, as one that moves
// elements does, but stores a complex number from around it. JAX writes this for the derivative of the LU factors of one element.
// CHECK: as interpreter: bitwise equal
func.func @main(%x: tensor<1x1xcomplex<f32>>, %y: tensor<1x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>> {
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<1x1xcomplex<f32>>
  %one = stablehlo.constant dense<1> : tensor<1x1xi32>
  %row = stablehlo.iota dim = 0 : tensor<1x1xi32>
  %column = stablehlo.iota dim = 1 : tensor<1x1xi32>
  %before = stablehlo.subtract %row, %one : tensor<1x1xi32>
  %below = stablehlo.compare GE, %before, %column, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
  %diagonal = stablehlo.compare EQ, %row, %column, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
  %unit = stablehlo.convert %diagonal : (tensor<1x1xi1>) -> tensor<1x1xcomplex<f32>>
  %under = stablehlo.select %below, %x, %zero : tensor<1x1xi1>, tensor<1x1xcomplex<f32>>
  %lower = stablehlo.add %under, %unit : tensor<1x1xcomplex<f32>>
  %product = stablehlo.dot_general %lower, %under, contracting_dims = [1] x [0] : (tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  %sum = stablehlo.add %product, %y : tensor<1x1xcomplex<f32>>
  return %sum : tensor<1x1xcomplex<f32>>
}

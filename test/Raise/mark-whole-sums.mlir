// RUN: shard-opt %s --split-input-file --spmd-mark-whole-sums | FileCheck %s
// Sums are marked where no annotation cuts what they sum over, whatever the sizes of the mesh.

spmd.mesh @mesh = <["x"=1]>
// The rows are cut: of the two products one sums over them.
// CHECK-LABEL: func.func @rows(
//       CHECK:   stablehlo.dot_general {{.*}} contracting_dims = [1] x [0] {spmd.whole_sum}
//       CHECK:   stablehlo.dot_general {{.*}} contracting_dims = [0] x [0] : (tensor<8x4xf32>
//       CHECK:   stablehlo.reduce({{.*}} across dimensions = [1] {spmd.whole_sum}
//       CHECK:   stablehlo.reduce({{.*}} across dimensions = [0] : (tensor<8x16xf32>
func.func @rows(%x: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4x16xf32>)
    -> (tensor<8x16xf32>, tensor<4x16xf32>, tensor<8xf32>, tensor<16xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %r = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %c = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %y, %g, %r, %c : tensor<8x16xf32>, tensor<4x16xf32>, tensor<8xf32>, tensor<16xf32>
}

// -----

spmd.mesh @mesh = <["x"=4]>
// An image in rows: the window over it is whole.
// CHECK-LABEL: func.func @image(
//       CHECK:   stablehlo.convolution
//  CHECK-SAME:     spmd.whole_sum
func.func @image(%x: tensor<1x8x8x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %w: tensor<3x3x4x4xf32>) -> tensor<1x8x8x4xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {
    batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x4xf32>) -> tensor<1x8x8x4xf32>
  return %y : tensor<1x8x8x4xf32>
}

// -----

spmd.mesh @mesh = <["x"=4]>
// A loop hands the cut rows on, a constraint those of another value.
// CHECK-LABEL: func.func @returned(
//   CHECK-NOT:   whole_sum
func.func @returned(%x: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %no = stablehlo.constant dense<false> : tensor<i1>
  %l:2 = stablehlo.while(%a = %x, %b = %no) : tensor<8x8xf32>, tensor<i1>
  cond {
    stablehlo.return %b : tensor<i1>
  } do {
    stablehlo.return %a, %b : tensor<8x8xf32>, tensor<i1>
  }
  %c = spmd.constrain %y <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %0 = stablehlo.reduce(%l#0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=4]>
// A constraint gathers what is kept in parts: the product sums over what every rank has. An open dim is as cut as before.
// CHECK-LABEL: func.func @gathered(
//       CHECK:   stablehlo.dot_general {{.*}} contracting_dims = [1] x [0] {spmd.whole_sum}
//       CHECK:   stablehlo.dot_general {{.*}} contracting_dims = [1] x [0] : (tensor<8x8xf32>
func.func @gathered(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %whole = spmd.constrain %w <@mesh, [{}, {}]> : tensor<8x8xf32>
  %0 = stablehlo.dot_general %x, %whole, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %open = spmd.constrain %w <@mesh, [{?}, {?}]> : tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %open, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

spmd.mesh @mesh = <["x"=4]>
// Sums of f64 are exact in two parts; a sum of few waits for each of its terms.
// CHECK-LABEL: func.func @other_kinds(
//   CHECK-NOT:   whole_sum
func.func @other_kinds(%x: tensor<8x8xf64>, %y: tensor<8xf32>) -> (tensor<8xf64>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf64>, tensor<f64>) -> tensor<8xf64>
  %1 = stablehlo.dot_general %y, %y, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %0, %1 : tensor<8xf64>, tensor<f32>
}

// RUN: shard-opt %s --pass-pipeline="builtin.module(func.func(spmd-detach-sums),cse)" --split-input-file | FileCheck %s

module attributes {machine.target = #machine.figures<"generic", {cache = 64.0 : f64}>} {
spmd.mesh @mesh = <["x"=2]>

// Squared differences from the mean of all ranks: about the own mean, and what both
// are apart.
// CHECK-LABEL: func @variance(
//  CHECK-SAME:   %[[X:.*]]: tensor<4x64xf32>
//       CHECK:   %[[S:.*]] = stablehlo.reduce(%[[X]]
//       CHECK:   %[[T:.*]] = local.all_reduce sum %[[S]]
//       CHECK:   %[[M:.*]] = stablehlo.divide %[[T]]
//       CHECK:   %[[N:.*]] = stablehlo.constant dense<6.400000e+01>
//       CHECK:   %[[C:.*]] = stablehlo.divide %[[S]], %[[N]]
//       CHECK:   %[[A:.*]] = stablehlo.subtract %[[C]], %[[M]]
//       CHECK:   %[[W:.*]] = stablehlo.broadcast_in_dim %[[C]]
//       CHECK:   %[[D:.*]] = stablehlo.subtract %[[X]], %[[W]]
//       CHECK:   %[[Q:.*]] = stablehlo.multiply %[[D]], %[[D]]
//   CHECK-DAG:   stablehlo.reduce(%[[Q]]
//   CHECK-DAG:   stablehlo.reduce(%[[D]]
//   CHECK-DAG:   stablehlo.multiply %[[A]], %[[A]]
//       CHECK:   local.all_reduce
func.func @variance(%x: tensor<4x64xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<128.0> : tensor<4xf32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x64xf32>, tensor<f32>) -> tensor<4xf32>
  %t = local.all_reduce sum %s along ["x"] on @mesh : tensor<4xf32>
  %m = stablehlo.divide %t, %n : tensor<4xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x64xf32>
  %d = stablehlo.subtract %x, %w : tensor<4x64xf32>
  %q = chlo.square %d : tensor<4x64xf32> -> tensor<4x64xf32>
  %v = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x64xf32>, tensor<f32>) -> tensor<4xf32>
  %r = local.all_reduce sum %v along ["x"] on @mesh : tensor<4xf32>
  return %r : tensor<4xf32>
}

// What is no mean of the same elements may be near them: no difference is taken apart.
// CHECK-LABEL: func @other_difference(
//       CHECK:   %[[T:.*]] = local.all_reduce
//       CHECK:   %[[W:.*]] = stablehlo.broadcast_in_dim %[[T]]
//       CHECK:   %[[D:.*]] = stablehlo.subtract %{{.*}}, %[[W]]
//       CHECK:   stablehlo.reduce(%[[D]]
func.func @other_difference(%x: tensor<4x64xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %t = local.all_reduce sum %y along ["x"] on @mesh : tensor<4xf32>
  %w = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xf32>) -> tensor<4x64xf32>
  %d = stablehlo.subtract %x, %w : tensor<4x64xf32>
  %v = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x64xf32>, tensor<f32>) -> tensor<4xf32>
  return %v : tensor<4xf32>
}

// A factor that differs along a dim that is summed up, too: that dim is last.
// CHECK-LABEL: func @two_dims(
//  CHECK-SAME:   %[[X:.*]]: tensor<4x5x64xf32>
//       CHECK:   %[[T:.*]] = local.all_reduce
//       CHECK:   %[[S:.*]] = stablehlo.reduce(%[[X]]{{.*}} dimensions = [2]
//       CHECK:   %[[P:.*]] = stablehlo.multiply %[[T]], %[[S]]
//       CHECK:   stablehlo.reduce(%[[P]]{{.*}} dimensions = [0]
func.func @two_dims(%x: tensor<4x5x64xf32>, %y: tensor<4x5xf32>) -> tensor<5xf32> attributes {spmd.local_view} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %t = local.all_reduce sum %y along ["x"] on @mesh : tensor<4x5xf32>
  %w = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x5xf32>) -> tensor<4x5x64xf32>
  %p = stablehlo.multiply %x, %w : tensor<4x5x64xf32>
  %v = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<4x5x64xf32>, tensor<f32>) -> tensor<5xf32>
  return %v : tensor<5xf32>
}

// A reshape on the way; the scale waits for nobody, but is a factor as well, so
// that both sums are of the same elements.
// CHECK-LABEL: func @groups(
//  CHECK-SAME:   %[[X:.*]]: tensor<3x6x64xf32>, %[[G:.*]]: tensor<6xf32>
//       CHECK:   stablehlo.reduce(%[[X]]{{.*}} dimensions = [2]
//   CHECK-NOT:   stablehlo.reduce(%{{.*}}64xf32>
//       CHECK:   return
func.func @groups(%x: tensor<3x6x64xf32>, %g: tensor<6xf32>, %k: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<6xf32>) attributes {spmd.local_view} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %wide = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<6xf32>) -> tensor<3x6x64xf32>
  %scaled = stablehlo.multiply %x, %wide : tensor<3x6x64xf32>
  %parts = stablehlo.reshape %scaled : (tensor<3x6x64xf32>) -> tensor<3x2x3x64xf32>
  %t = local.all_reduce sum %k along ["x"] on @mesh : tensor<3x2xf32>
  %w = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<3x2xf32>) -> tensor<3x2x3x64xf32>
  %p = stablehlo.multiply %parts, %w : tensor<3x2x3x64xf32>
  %v = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<3x2x3x64xf32>, tensor<f32>) -> tensor<3x2xf32>
  %all = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<3x6x64xf32>, tensor<f32>) -> tensor<6xf32>
  return %v, %all : tensor<3x2xf32>, tensor<6xf32>
}

// Integers wrap around, and few elements are not worth it.
// CHECK-LABEL: func @left(
//       CHECK:   stablehlo.multiply {{.*}} tensor<4x64xi32>
//       CHECK:   stablehlo.multiply {{.*}} tensor<2x2xf32>
//       CHECK:   return
func.func @left(%x: tensor<4x64xi32>, %y: tensor<4xi32>, %a: tensor<2x2xf32>, %b: tensor<2xf32>) -> (tensor<4xi32>, tensor<2xf32>) attributes {spmd.local_view} {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %t = local.all_reduce sum %y along ["x"] on @mesh : tensor<4xi32>
  %w = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x64xi32>
  %p = stablehlo.multiply %x, %w : tensor<4x64xi32>
  %v = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x64xi32>, tensor<i32>) -> tensor<4xi32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %u = local.all_reduce sum %b along ["x"] on @mesh : tensor<2xf32>
  %l = stablehlo.broadcast_in_dim %u, dims = [0] : (tensor<2xf32>) -> tensor<2x2xf32>
  %q = stablehlo.multiply %a, %l : tensor<2x2xf32>
  %r = stablehlo.reduce(%q init: %none) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  return %v, %r : tensor<4xi32>, tensor<2xf32>
}
}

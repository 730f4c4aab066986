// RUN: shard-opt %s --spmd-split-pairs --spmd-raise-all-pairs --cse | FileCheck %s

// The two nearest of six points: distances are sums of squared differences, as they are written.
// CHECK-LABEL: func.func @nearest(
//  CHECK-SAME:   %[[X:.*]]: tensor<8x3xf32>, %[[Y:.*]]: tensor<6x3xf32>
//       CHECK:   %[[BEST:.*]]:2 = pairs.all_pairs top_k %[[X]], %[[Y]] maps [{{.*}}] pair {
//       CHECK:     %[[D:.*]] = stablehlo.subtract
//       CHECK:     stablehlo.multiply %[[D]], %[[D]]
//       CHECK:   } score {
//       CHECK:   } : (tensor<8x3xf32>, tensor<6x3xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
//       CHECK:   return %[[BEST]]#0, %[[BEST]]#1
func.func @nearest(%x: tensor<8x3xf32>, %y: tensor<6x3xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xb = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<8x3xf32>) -> tensor<8x6x3xf32>
  %yb = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<6x3xf32>) -> tensor<8x6x3xf32>
  %d = stablehlo.subtract %xb, %yb : tensor<8x6x3xf32>
  %d2 = stablehlo.multiply %d, %d : tensor<8x6x3xf32>
  %r2 = stablehlo.reduce(%d2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x6x3xf32>, tensor<f32>) -> tensor<8x6xf32>
  %n = stablehlo.negate %r2 : tensor<8x6xf32>
  %v, %i = chlo.top_k(%n, k = 2) : tensor<8x6xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return %v, %i : tensor<8x2xf32>, tensor<8x2xi32>
}

// A sum of kernels over all points.
// CHECK-LABEL: func.func @kernel_sum(
//       CHECK:   %[[SUM:.*]] = pairs.all_pairs sum %{{.*}}, %{{.*}} maps [{{.*}}] pair {
//       CHECK:   } score {
//       CHECK:     stablehlo.exponential
//       CHECK:   return %[[SUM]]
func.func @kernel_sum(%x: tensor<8x3xf32>, %y: tensor<6x3xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xb = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<8x3xf32>) -> tensor<8x6x3xf32>
  %yb = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<6x3xf32>) -> tensor<8x6x3xf32>
  %d = stablehlo.subtract %xb, %yb : tensor<8x6x3xf32>
  %d2 = stablehlo.multiply %d, %d : tensor<8x6x3xf32>
  %r2 = stablehlo.reduce(%d2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x6x3xf32>, tensor<f32>) -> tensor<8x6xf32>
  %n = stablehlo.negate %r2 : tensor<8x6xf32>
  %e = stablehlo.exponential %n : tensor<8x6xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// The best experts of a router are a product's: a layer, and no distance.
// CHECK-LABEL: func.func @router(
//   CHECK-NOT:   pairs.all_pairs
//       CHECK:   chlo.top_k
func.func @router(%x: tensor<8x3xf32>, %w: tensor<6x3xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>) {
  %s = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<6x3xf32>) -> tensor<8x6xf32>
  %v, %i = chlo.top_k(%s, k = 2) : tensor<8x6xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return %v, %i : tensor<8x2xf32>, tensor<8x2xi32>
}

// Values weighed by what lies within a radius, and by kernels from the other side: sums of pairs with a value.
// CHECK-LABEL: func.func @within_radius(
//  CHECK-SAME:   %[[X:.*]]: tensor<8x3xf32>, %[[Y:.*]]: tensor<6x3xf32>, %[[V:.*]]: tensor<6x2xf32>
//       CHECK:   %[[SUM:.*]] = pairs.all_pairs sum %[[X]], %[[Y]], %[[V]] maps [{{.*}}] pair {
//       CHECK:   } score {
//       CHECK:     stablehlo.compare LT
//       CHECK:   } : (tensor<8x3xf32>, tensor<6x3xf32>, tensor<6x2xf32>) -> tensor<8x2xf32>
//       CHECK:   return %[[SUM]]
func.func @within_radius(%x: tensor<8x3xf32>, %y: tensor<6x3xf32>, %v: tensor<6x2xf32>) -> tensor<8x2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xb = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<8x3xf32>) -> tensor<8x6x3xf32>
  %yb = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<6x3xf32>) -> tensor<8x6x3xf32>
  %d = stablehlo.subtract %xb, %yb : tensor<8x6x3xf32>
  %d2 = stablehlo.multiply %d, %d : tensor<8x6x3xf32>
  %r2 = stablehlo.reduce(%d2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x6x3xf32>, tensor<f32>) -> tensor<8x6xf32>
  %limit = stablehlo.constant dense<0.25> : tensor<8x6xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8x6xf32>
  %none = stablehlo.constant dense<0.0> : tensor<8x6xf32>
  %in = stablehlo.compare LT, %r2, %limit : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xi1>
  %w = stablehlo.select %in, %one, %none : tensor<8x6xi1>, tensor<8x6xf32>
  %s = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x2xf32>) -> tensor<8x2xf32>
  return %s : tensor<8x2xf32>
}

// CHECK-LABEL: func.func @values_first(
//       CHECK:   pairs.all_pairs sum %arg0, %arg1, %arg2 maps
//       CHECK:   -> tensor<2x8xf32>
func.func @values_first(%x: tensor<8x3xf32>, %y: tensor<6x3xf32>, %v: tensor<2x6xf32>) -> tensor<2x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xb = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<8x3xf32>) -> tensor<8x6x3xf32>
  %yb = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<6x3xf32>) -> tensor<8x6x3xf32>
  %d = stablehlo.subtract %xb, %yb : tensor<8x6x3xf32>
  %d2 = stablehlo.multiply %d, %d : tensor<8x6x3xf32>
  %r2 = stablehlo.reduce(%d2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x6x3xf32>, tensor<f32>) -> tensor<8x6xf32>
  %n = stablehlo.negate %r2 : tensor<8x6xf32>
  %e = stablehlo.exponential %n : tensor<8x6xf32>
  %s = stablehlo.dot_general %v, %e, contracting_dims = [1] x [1] : (tensor<2x6xf32>, tensor<8x6xf32>) -> tensor<2x8xf32>
  return %s : tensor<2x8xf32>
}

// The kernel is wanted as well: nothing is gained by leaving it out of one sum.
// CHECK-LABEL: func.func @kernel_stays(
//   CHECK-NOT:   pairs.all_pairs
//       CHECK:   stablehlo.dot_general
func.func @kernel_stays(%x: tensor<8x3xf32>, %y: tensor<6x3xf32>, %v: tensor<6x2xf32>) -> (tensor<8x2xf32>, tensor<8x6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xb = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<8x3xf32>) -> tensor<8x6x3xf32>
  %yb = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<6x3xf32>) -> tensor<8x6x3xf32>
  %d = stablehlo.subtract %xb, %yb : tensor<8x6x3xf32>
  %d2 = stablehlo.multiply %d, %d : tensor<8x6x3xf32>
  %r2 = stablehlo.reduce(%d2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x6x3xf32>, tensor<f32>) -> tensor<8x6xf32>
  %n = stablehlo.negate %r2 : tensor<8x6xf32>
  %e = stablehlo.exponential %n : tensor<8x6xf32>
  %s = stablehlo.dot_general %e, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x2xf32>) -> tensor<8x2xf32>
  return %s, %e : tensor<8x2xf32>, tensor<8x6xf32>
}

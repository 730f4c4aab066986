// RUN: shard-opt %s --split-input-file --spmd-raise-all-pairs --spmd-raise-open-rows | FileCheck %s
// RUN: shard-opt %s --split-input-file --spmd-split-columns | FileCheck %s --check-prefix=COLUMNS
// A sink as one more column of scores: the sum of the op's rows, and the sink's part, divide what the op gives.
// CHECK-LABEL: func.func @one_more_column(
//  CHECK-SAME:   %[[Q:.*]]: tensor<8x4xf32>, %[[K:.*]]: tensor<6x4xf32>, %[[V:.*]]: tensor<6x3xf32>, %[[SINK:.*]]: tensor<f32>
//       CHECK:   %{{.*}}:3 = pairs.all_pairs softmax unnormalized %[[Q]], %[[K]], %[[V]]
//   CHECK-NOT:   stablehlo.dot_general
//   CHECK-NOT:   tensor<8x7xf32>
// Its ops are on scores and on the column, each by itself, before anything is raised.
// COLUMNS-LABEL: func.func @one_more_column(
//   COLUMNS-NOT:   tensor<8x7xf32>
//       COLUMNS:   stablehlo.exponential %{{.*}} : tensor<8x6xf32>
//  COLUMNS-NEXT:   stablehlo.exponential %{{.*}} : tensor<8x1xf32>
//   COLUMNS-NOT:   tensor<8x7xf32>
//       COLUMNS:   return
func.func @one_more_column(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>, %sink: tensor<f32>) -> tensor<8x3xf32> {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %column = stablehlo.broadcast_in_dim %sink, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
  %both = stablehlo.concatenate %s, %column, dim = 1 : (tensor<8x6xf32>, tensor<8x1xf32>) -> tensor<8x7xf32>
  %m = stablehlo.reduce(%both init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<8x7xf32>, tensor<f32>) -> tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x7xf32>
  %d = stablehlo.subtract %both, %mb : tensor<8x7xf32>
  %e = stablehlo.exponential %d : tensor<8x7xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x7xf32>, tensor<f32>) -> tensor<8xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x7xf32>
  %p = stablehlo.divide %e, %lb : tensor<8x7xf32>
  %cut = stablehlo.slice %p [0:8, 0:6] : (tensor<8x7xf32>) -> tensor<8x6xf32>
  %o = stablehlo.dot_general %cut, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
  return %o : tensor<8x3xf32>
}

// -----

// Its gradient, as JAX derives it of a sink that is added to the sum: what rows lose is a sum over features of the cotangent and the output.
// CHECK-LABEL: func.func @gradient_with_a_sink(
//       CHECK:   %{{.*}}:3 = pairs.all_pairs softmax unnormalized
//   CHECK-NOT:   pairs.all_pairs
//       CHECK:   pairs.attention_backward
//   CHECK-NOT:   tensor<8x6xf32>
func.func @gradient_with_a_sink(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>, %sink: tensor<f32>, %dout: tensor<8x3xf32>)
    -> (tensor<8x3xf32>, tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x3xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %m = stablehlo.reduce(%s init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %d = stablehlo.subtract %s, %mb : tensor<8x6xf32>
  %e = stablehlo.exponential %d : tensor<8x6xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %sb = stablehlo.broadcast_in_dim %sink, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %sd = stablehlo.subtract %sb, %m : tensor<8xf32>
  %se = stablehlo.exponential %sd : tensor<8xf32>
  %z = stablehlo.add %l, %se : tensor<8xf32>
  %zb = stablehlo.broadcast_in_dim %z, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %p = stablehlo.divide %e, %zb : tensor<8x6xf32>
  %o = stablehlo.dot_general %p, %v, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
  %dv = stablehlo.dot_general %p, %dout, contracting_dims = [0] x [0] : (tensor<8x6xf32>, tensor<8x3xf32>) -> tensor<6x3xf32>
  %dp = stablehlo.dot_general %dout, %v, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<6x3xf32>) -> tensor<8x6xf32>
  %z2 = stablehlo.multiply %z, %z : tensor<8xf32>
  %z2b = stablehlo.broadcast_in_dim %z2, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %w = stablehlo.divide %dp, %z2b : tensor<8x6xf32>
  %we = stablehlo.multiply %w, %e : tensor<8x6xf32>
  %delta = stablehlo.reduce(%we init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %lost = stablehlo.negate %delta : tensor<8xf32>
  %sp = stablehlo.multiply %lost, %se : tensor<8xf32>
  %dsink = stablehlo.reduce(%sp init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %lostb = stablehlo.broadcast_in_dim %lost, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %dpz = stablehlo.divide %dp, %zb : tensor<8x6xf32>
  %de = stablehlo.add %dpz, %lostb : tensor<8x6xf32>
  %ds = stablehlo.multiply %de, %e : tensor<8x6xf32>
  %dq = stablehlo.dot_general %ds, %k, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %dk = stablehlo.dot_general %ds, %q, contracting_dims = [0] x [0] : (tensor<8x6xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  return %o, %dq, %dk, %dv, %dsink : tensor<8x3xf32>, tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x3xf32>, tensor<f32>
}

// The gradient of attention whose output nobody wants, as of a loss that is linear in it.
// RUN: shard-opt %s --spmd-raise --cse | FileCheck %s
// RUN: shard-run %s --check --seed=1 --outputs=@%t.npz
spmd.mesh @mesh = <["x"=3]>
#t = #spmd.sharding<@mesh, [{"x"}, {}]>
!t = tensor<22x4xf32>
!s = tensor<22x22xf32>
!r = tensor<22xf32>
// CHECK-LABEL: func @main(
//  CHECK-SAME:   %[[Q:[^:]*]]: {{.*}}, %[[K:[^:]*]]: {{.*}}, %[[V:[^:]*]]: {{.*}}, %[[G:[^:]*]]: tensor
//       CHECK:   pairs.all_pairs softmax %[[Q]], %[[K]], %[[V]]
//   CHECK-NOT:   tensor<22x22xf32>
//       CHECK:   pairs.attention_backward %[[Q]], %[[K]], %[[V]]
//   CHECK-NOT:   tensor<22x22xf32>
//       CHECK:   return
func.func @main(%q: !t {spmd.sharding = #t}, %k: !t {spmd.sharding = #t}, %v: !t {spmd.sharding = #t}, %g: !t {spmd.sharding = #t}) -> (!t, !t, !t) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (!t, !t) -> !s
  %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [1] : (!s, tensor<f32>) -> !r
  %ms = stablehlo.broadcast_in_dim %m, dims = [0] : (!r) -> !s
  %d = stablehlo.subtract %s, %ms : !s
  %e = stablehlo.exponential %d : !s
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (!s, tensor<f32>) -> !r
  %ls = stablehlo.broadcast_in_dim %l, dims = [0] : (!r) -> !s
  %p = stablehlo.divide %e, %ls : !s
  %dv = stablehlo.dot_general %p, %g, contracting_dims = [0] x [0] : (!s, !t) -> !t
  %dp = stablehlo.dot_general %g, %v, contracting_dims = [1] x [1] : (!t, !t) -> !s
  %w = stablehlo.multiply %p, %dp : !s
  %delta = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [1] : (!s, tensor<f32>) -> !r
  %deltas = stablehlo.broadcast_in_dim %delta, dims = [0] : (!r) -> !s
  %c = stablehlo.subtract %dp, %deltas : !s
  %ds = stablehlo.multiply %p, %c : !s
  %dq = stablehlo.dot_general %ds, %k, contracting_dims = [1] x [0] : (!s, !t) -> !t
  %dk = stablehlo.dot_general %ds, %q, contracting_dims = [0] x [0] : (!s, !t) -> !t
  return %dq, %dk, %dv : !t, !t, !t
}

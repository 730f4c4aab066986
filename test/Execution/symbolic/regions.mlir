// RUN: shard-run %s --shapes=0=8x4 --check --check=interpreter
// RUN: shard-run %s --shapes=0=2x4 --check=interpreter --reproducible
// RUN: shard-translate %s --dynamic=all -o %t.so
// RUN: shard-run %s --shapes=0=12x4 --seed=4 --outputs=@%t.npz
// RUN: shard-run %t.so --shapes=0=12x4 --seed=4 --expect=@%t.npz
// RUN: not shard-run %t.so --shapes=0=7x4 2>&1 | FileCheck %s
// RUN: not shard-run %t.so --shapes=0=7x4 --processes=4 2>&1 | FileCheck %s
// CHECK: dim 0 of operand 1 of the manual region at {{.*}}regions.mlir:[[# @LINE + 6]] has 7 elements, which are not 2 equal parts (argument 0, dim 0: 7)
// A region of shard_map in a program that jax.export printed with the symbolic
// shape (2*n, 4): sizes come in as values, and blocks are as large as they say.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %0 = sdy.manual_computation(%n, %x) in_shardings=[<@mesh, []>, <@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%m: tensor<i32>, %b: tensor<?x2xf32>) {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %rows = stablehlo.divide %m, %two : tensor<i32>
    %r = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
    %c = stablehlo.reshape %two : (tensor<i32>) -> tensor<1xi32>
    %s = stablehlo.concatenate %r, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %i = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<?x2xf32>
    %t = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?x2xf32>, tensor<f32>) -> tensor<2xf32>
    %a = "stablehlo.all_reduce"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %sum = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %e = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
    %f = stablehlo.multiply %b, %e : tensor<?x2xf32>
    %g = stablehlo.add %f, %i : tensor<?x2xf32>
    sdy.return %g : tensor<?x2xf32>
  } : (tensor<i32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

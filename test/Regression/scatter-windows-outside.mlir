// A window of updates that is partly outside is dropped whole, on every mesh: with XLA, and as JAX says of mode="drop". (The
// elements inside were used.) Indices 5, -1 and 3 of windows of 2 and 3 rows; indices of 8 bits, of which the first that is
// outside is none; one index that is no vector; unsigned ones, of which -1 is the largest.
// REQUIRES: numpy
// RUN: %npz write %t.npz 'in0=<f4:6x2:0' 'in1=<i4:3x1:5,-1,3' 'in2=<f4:3x2x2:1,2,3,4,5,6,7,8,9,10,11,12' 'in3=<f4:130:0' 'in4=<i1:3:127,-2,126' 'in5=<f4:3x4:1,2,3,4,5,6,7,8,9,10,11,12' 'in6=<u4:1:4294967295' 'in7=<f4:3:1,2,3' \
// RUN:   'out0=<f4:6x2:0,0,0,0,0,0,9,10,11,12,0,0' 'out1=<f4:130:0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,9,10,11,12' 'out2=<f4:6x2:0'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --check --check=interpreter
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --check --mesh=x=3
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --check --sizes=0:0=5,1
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --check --sizes=0:0=0,6 --reproducible
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --dynamic=all --sizes=0:0=2,4
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<3x1xi32>, %u: tensor<3x2x2xf32>,
                %y: tensor<130xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %j: tensor<3xi8>, %v: tensor<3x4xf32>,
                %k: tensor<1xui32>, %w: tensor<3xf32>) -> (tensor<6x2xf32>, tensor<130xf32>, tensor<6x2xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x2xf32>, tensor<3x1xi32>, tensor<3x2x2xf32>) -> tensor<6x2xf32>
  %1 = "stablehlo.scatter"(%y, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<130xf32>, tensor<3xi8>, tensor<3x4xf32>) -> tensor<130xf32>
  %z = stablehlo.slice %y [0:12] : (tensor<130xf32>) -> tensor<12xf32>
  %2 = "stablehlo.scatter"(%z, %k, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<12xf32>, tensor<1xui32>, tensor<3xf32>) -> tensor<12xf32>
  %3 = stablehlo.reshape %2 : (tensor<12xf32>) -> tensor<6x2xf32>
  return %0, %1, %3 : tensor<6x2xf32>, tensor<130xf32>, tensor<6x2xf32>
}

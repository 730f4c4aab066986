// RUN: %npz write %t.npz 'in0=<f4:1x10x1:1,2,3,4,5,6,7,8,9,10' 'in1=<f4:7x1x1:1,-2,3,4,-1,2,1' 'in2=<f4:1x10x1:1,2,-1,0,3,1,1,-2,2,1' 'out0=<f4:1x10x1:12,21,28,36,44,52,60,57,42,58' 'out1=<f4:1x10x1:12,7,-9,14,11,9,0,0,16,-1' 'out2=<f4:7x1x1:22,27,34,42,39,24,51'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=5
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=8
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=4 --sizes=0:1=1,0,8,1 --sizes=2:1=3,3,3,1
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0 --mesh=x=1
// A window of 7 on shards of 1 to 5 elements, and both gradients: elements of shards beyond the next. Elsewhere (ShardTensor)
// an IndexError on one rank while the others wait for ever.
spmd.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<1x10x1xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>}, %w: tensor<7x1x1xf32>,
                %g: tensor<1x10x1xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}, {}]>})
    -> (tensor<1x10x1xf32>, tensor<1x10x1xf32>, tensor<7x1x1xf32>) {
  %y = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[3, 3]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10x1xf32>, tensor<7x1x1xf32>) -> tensor<1x10x1xf32>
  %da = stablehlo.convolution(%g, %w) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {stride = [1], pad = [[3, 3]], lhs_dilate = [1], rhs_dilate = [1], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10x1xf32>, tensor<7x1x1xf32>) -> tensor<1x10x1xf32>
  %dw = stablehlo.convolution(%a, %g) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {stride = [1], pad = [[3, 3]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10x1xf32>, tensor<1x10x1xf32>) -> tensor<7x1x1xf32>
  return %y, %da, %dw : tensor<1x10x1xf32>, tensor<1x10x1xf32>, tensor<7x1x1xf32>
}

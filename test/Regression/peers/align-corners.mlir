// RUN: shard-run %s --check --rtol=1e-6 --atol=1e-6
// RUN: shard-run %s --check --rtol=1e-6 --atol=1e-6 --mesh=x=3 --sizes=0:0=1,5,3
// RUN: %npz write %t.npz 'in0=<f4:9:0,4,8,12,16,20,24,28,32' 'out0=<f4:17:0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --rtol=0 --atol=0
// Linear interpolation of 9 points to 17 with the corners aligned: positions are (9 - 1) / (17 - 1) apart over the whole
// dim. Elsewhere (ShardTensor) each shard aligned corners of its own.
spmd.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<9xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> (tensor<17xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) {
  %half = stablehlo.constant dense<0.5> : tensor<17xf32>
  %one = stablehlo.constant dense<1> : tensor<17xi32>
  %last = stablehlo.constant dense<8> : tensor<17xi32>
  %i = stablehlo.iota dim = 0 : tensor<17xf32>
  %at = stablehlo.multiply %i, %half : tensor<17xf32>
  %floor = stablehlo.floor %at : tensor<17xf32>
  %weight = stablehlo.subtract %at, %floor : tensor<17xf32>
  %low = stablehlo.convert %floor : (tensor<17xf32>) -> tensor<17xi32>
  %next = stablehlo.add %low, %one : tensor<17xi32>
  %high = stablehlo.minimum %next, %last : tensor<17xi32>
  %lows = stablehlo.reshape %low : (tensor<17xi32>) -> tensor<17x1xi32>
  %highs = stablehlo.reshape %high : (tensor<17xi32>) -> tensor<17x1xi32>
  %x = "stablehlo.gather"(%a, %lows) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<9xf32>, tensor<17x1xi32>) -> tensor<17xf32>
  %y = "stablehlo.gather"(%a, %highs) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<9xf32>, tensor<17x1xi32>) -> tensor<17xf32>
  %d = stablehlo.subtract %y, %x : tensor<17xf32>
  %m = stablehlo.multiply %d, %weight : tensor<17xf32>
  %0 = stablehlo.add %x, %m : tensor<17xf32>
  return %0 : tensor<17xf32>
}

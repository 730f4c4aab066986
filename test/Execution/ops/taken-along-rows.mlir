// RUN: shard-run %s --check=interpreter
// RUN: shard-run %s --check=interpreter --arch=x86-64-v3
// RUN: shard-run %s --check=interpreter --ranks=3 --sizes=0:0=20,0,17 --verify-partition
// RUN: shard-run %s --check=interpreter --ranks=4 --verify-partition

// JAX's take_along_axis of short rows: indices from the end, and NaN where one is out of bounds, in one loop, with a
// tail, in uneven and empty shards.
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<37x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<37x3xf32> {
  %row = stablehlo.iota dim = 0 : tensor<37x3xi32>
  %column = stablehlo.iota dim = 1 : tensor<37x3xi32>
  %five = stablehlo.constant dense<5> : tensor<37x3xi32>
  %nine = stablehlo.constant dense<9> : tensor<37x3xi32>
  %0 = stablehlo.multiply %row, %five : tensor<37x3xi32>
  %1 = stablehlo.add %0, %column : tensor<37x3xi32>
  %2 = stablehlo.remainder %1, %nine : tensor<37x3xi32>
  %i = stablehlo.subtract %2, %five : tensor<37x3xi32>
  %zero = stablehlo.constant dense<0> : tensor<37x3xi32>
  %three = stablehlo.constant dense<3> : tensor<37x3xi32>
  %isNegative = stablehlo.compare LT, %i, %zero, SIGNED : (tensor<37x3xi32>, tensor<37x3xi32>) -> tensor<37x3xi1>
  %above = stablehlo.add %i, %three : tensor<37x3xi32>
  %place = stablehlo.select %isNegative, %above, %i : tensor<37x3xi1>, tensor<37x3xi32>
  %places = stablehlo.reshape %place : (tensor<37x3xi32>) -> tensor<37x3x1xi32>
  %least = stablehlo.constant dense<0> : tensor<37x3x1xi32>
  %most = stablehlo.constant dense<2> : tensor<37x3x1xi32>
  %a = stablehlo.compare GE, %places, %least, SIGNED : (tensor<37x3x1xi32>, tensor<37x3x1xi32>) -> tensor<37x3x1xi1>
  %b = stablehlo.compare LE, %places, %most, SIGNED : (tensor<37x3x1xi32>, tensor<37x3x1xi32>) -> tensor<37x3x1xi1>
  %both = stablehlo.and %a, %b : tensor<37x3x1xi1>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %within = stablehlo.reduce(%both init: %true) applies stablehlo.and across dimensions = [2] : (tensor<37x3x1xi1>, tensor<i1>) -> tensor<37x3xi1>
  %taken = "stablehlo.gather"(%x, %places) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<37x3xf32>, tensor<37x3x1xi32>) -> tensor<37x3xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<37x3xf32>
  %result = stablehlo.select %within, %taken, %nan : tensor<37x3xi1>, tensor<37x3xf32>
  return %result : tensor<37x3xf32>
}

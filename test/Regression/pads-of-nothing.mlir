// RUN: %npz write %t.npz 'in0=<i8:1x1:-7' 'in1=<u4:2x6:1,2,3,4,5,6,7,8,9,10,11,12' 'out0=<i8:2x2:5' 'out1=<u4:3x8:9' 'out2=<u4:3x6:1,2,3,4,5,6,7,8,9,10,11,12,9,9,9,9,9,9'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz
// Negative edges cut all of the operand away, interior elements too, on every rank: what is put between fill elements has a dim of
// no elements, which MLIR lets nobody take a part of (program 6125 of seed 2027). Expected values from NumPy.
spmd.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<1x1xi64>, %b: tensor<2x6xui32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y" sizes [0, 6]}]>})
    -> (tensor<2x2xi64> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>},
        tensor<3x8xui32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y" sizes [8, 0]}]>},
        tensor<3x6xui32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %five = stablehlo.constant dense<5> : tensor<i64>
  %0 = stablehlo.pad %a, %five, low = [4, -1], high = [-3, 2], interior = [1, 2] : (tensor<1x1xi64>, tensor<i64>) -> tensor<2x2xi64>
  %nine = stablehlo.constant dense<9> : tensor<ui32>
  // Rows 5 and 7 are behind the end; so are all columns.
  %1 = stablehlo.pad %b, %nine, low = [5, 9], high = [-5, -7], interior = [1, 0] : (tensor<2x6xui32>, tensor<ui32>) -> tensor<3x8xui32>
  // Nothing but the operand in front, after a slice of nothing behind it.
  %2 = stablehlo.slice %b [2:2, 0:6] : (tensor<2x6xui32>) -> tensor<0x6xui32>
  %3 = stablehlo.pad %2, %nine, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<0x6xui32>, tensor<ui32>) -> tensor<1x6xui32>
  %4 = stablehlo.concatenate %b, %2, %3, dim = 0 : (tensor<2x6xui32>, tensor<0x6xui32>, tensor<1x6xui32>) -> tensor<3x6xui32>
  return %0, %1, %4 : tensor<2x2xi64>, tensor<3x8xui32>, tensor<3x6xui32>
}

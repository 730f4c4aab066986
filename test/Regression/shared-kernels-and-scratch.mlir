// RUN: shard-run %s --seed=731429 --reproducible --check=interpreter --rtol=0 --atol=0
// Kernels that are alike are one function from 128 kernels on. It is given addresses of buffers, offsets added to them, and of its scratch, which lay where such a
// buffer was: its life was thought to end at the addition. Elements of the second convolution were products of other numbers.
spmd.mesh @mesh = <["x"=1]>
func.func private @part_0(%a0: tensor<16x24xf64>) -> (tensor<2x16x24xf64>) {
  %r = stablehlo.broadcast %a0, sizes = [2] : (tensor<16x24xf64>) -> tensor<2x16x24xf64>
  return %r : tensor<2x16x24xf64>
}
func.func private @part_2(%a0: tensor<1x2x24xf64>) -> (tensor<1x2x24xf64>) {
  %r = stablehlo.cosine %a0 : tensor<1x2x24xf64>
  return %r : tensor<1x2x24xf64>
}
func.func private @part_3(%a0: tensor<2x16x24xf64>, %a1: tensor<8x1xi32>) -> (tensor<8x16x24xf64>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16, 24>}> : (tensor<2x16x24xf64>, tensor<8x1xi32>) -> tensor<8x16x24xf64>
  return %r : tensor<8x16x24xf64>
}
func.func private @part_4(%a0: tensor<8x16x24xf64>, %a1: tensor<24x125xf64>) -> (tensor<8x16x125xf64>) {
  %r = stablehlo.dot_general %a0, %a1, contracting_dims = [2] x [0] : (tensor<8x16x24xf64>, tensor<24x125xf64>) -> tensor<8x16x125xf64>
  return %r : tensor<8x16x125xf64>
}
func.func private @part_7(%a0: tensor<8x6x4xf64>, %a1: tensor<1x125x4xf64>) -> (tensor<8x16x125xf64>) {
  %r = stablehlo.convolution(%a0, %a1) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {stride = [1], pad = [[-1, 1]], lhs_dilate = [3], rhs_dilate = [1], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x6x4xf64>, tensor<1x125x4xf64>) -> tensor<8x16x125xf64>
  return %r : tensor<8x16x125xf64>
}
func.func private @part_8(%a0: tensor<8x16x125xf64>, %a1: tensor<24x125xf64>) -> (tensor<8x16x24xf64>) {
  %r = stablehlo.dot_general %a0, %a1, contracting_dims = [2] x [1] : (tensor<8x16x125xf64>, tensor<24x125xf64>) -> tensor<8x16x24xf64>
  return %r : tensor<8x16x24xf64>
}
func.func private @part_9(%a0: tensor<8x1xi32>, %a1: tensor<8x16x24xf64>) -> (tensor<2x16x24xf64>) {
  %z_9 = stablehlo.constant dense<0.0> : tensor<2x16x24xf64>
  %r = "stablehlo.scatter"(%z_9, %a0, %a1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p_9: tensor<f64>, %q_9: tensor<f64>):
  %r_9 = stablehlo.add %p_9, %q_9 : tensor<f64>
  stablehlo.return %r_9 : tensor<f64>
  }) : (tensor<2x16x24xf64>, tensor<8x1xi32>, tensor<8x16x24xf64>) -> tensor<2x16x24xf64>
  return %r : tensor<2x16x24xf64>
}
func.func @main(%arg0: tensor<16x24xf64>,
                %arg1: tensor<8x1xi32>,
                %arg2: tensor<24x125xf64>,
                %arg3: tensor<1x125x4xf64>,
                %arg4: tensor<8x6x4xf64>)
    -> (tensor<8x16x125xf64>, tensor<8x6x4xf64>, tensor<1x125x4xf64>, tensor<2x16x24xf64>) {
  %0 = stablehlo.composite "fuzz.part" %arg0 {decomposition = @part_0} : (tensor<16x24xf64>) -> (tensor<2x16x24xf64>)
  %1 = stablehlo.slice %0 [1:2:2, 0:4:2, 0:24] : (tensor<2x16x24xf64>) -> tensor<1x2x24xf64>
  %2 = stablehlo.composite "fuzz.part" %1 {decomposition = @part_2} : (tensor<1x2x24xf64>) -> (tensor<1x2x24xf64>)
  %3 = func.call @part_3(%0, %arg1) : (tensor<2x16x24xf64>, tensor<8x1xi32>) -> (tensor<8x16x24xf64>)
  %4 = stablehlo.composite "fuzz.part" %3, %arg2 {decomposition = @part_4} : (tensor<8x16x24xf64>, tensor<24x125xf64>) -> (tensor<8x16x125xf64>)
  %5 = stablehlo.convolution(%4, %arg3) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [3], pad = [[1, 0]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x125xf64>, tensor<1x125x4xf64>) -> tensor<8x6x4xf64>
  %6 = stablehlo.convolution(%4, %arg4) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {stride = [1], pad = [[1, -1]], lhs_dilate = [1], rhs_dilate = [3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x125xf64>, tensor<8x6x4xf64>) -> tensor<1x125x4xf64>
  %7 = stablehlo.composite "fuzz.part" %arg4, %arg3 {decomposition = @part_7} : (tensor<8x6x4xf64>, tensor<1x125x4xf64>) -> (tensor<8x16x125xf64>)
  %8 = func.call @part_8(%7, %arg2) : (tensor<8x16x125xf64>, tensor<24x125xf64>) -> (tensor<8x16x24xf64>)
  %9 = stablehlo.composite "fuzz.part" %arg1, %8 {decomposition = @part_9} : (tensor<8x1xi32>, tensor<8x16x24xf64>) -> (tensor<2x16x24xf64>)
  return %7, %5, %6, %9 : tensor<8x16x125xf64>, tensor<8x6x4xf64>, tensor<1x125x4xf64>, tensor<2x16x24xf64>
}

// Products and convolutions of sizes that leave something of every tile, beside the interpreter: whole, and in shards of which one
// is empty and one a row wide; the same bits for any number of threads.
// RUN: shard-run %s --check=interpreter --mesh=x=1 --threads=2 --outputs=@%t.npz
// RUN: shard-run %s --mesh=x=1 --seed=0 --expect=@%t.npz --rtol=0 --atol=0
// RUN: shard-run %s --check=interpreter --mesh=x=3 --sizes=0:0=1,0,36 --sizes=2:2=11,1,0 --sizes=4:1=0,12,1 --sizes=6:2=0,1,8
module {
  sdy.mesh @mesh = <["x"=3]>
  func.func public @main(
      %a: tensor<37x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<1024x19xf32>,
      %image: tensor<2x9x12x13xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>}, %window: tensor<18x9x3x3xf32>,
      %last: tensor<2x13x12x17xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %each: tensor<5x5x1x17xf32>,
      %small: tensor<2x5x9x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}, {}]>}, %spread: tensor<6x5x3x3xf32>)
      -> (tensor<37x19xf32>, tensor<2x18x12x13xf32>, tensor<2x18x6x7xf32>, tensor<2x13x12x17xf32>, tensor<2x6x18x14xf32>, tensor<2x6x27x21xf32>, tensor<37x19xf32>, tensor<37x19xbf16>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<37x1024xf32>, tensor<1024x19xf32>) -> tensor<37x19xf32>
    %1 = stablehlo.convolution(%image, %window) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x12x13xf32>, tensor<18x9x3x3xf32>) -> tensor<2x18x12x13xf32>
    // A window of which every second element is read.
    %2 = stablehlo.convolution(%image, %window) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x12x13xf32>, tensor<18x9x3x3xf32>) -> tensor<2x18x6x7xf32>
    // Each channel by itself.
    %3 = stablehlo.convolution(%last, %each) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]]}
        {batch_group_count = 1 : i64, feature_group_count = 17 : i64} : (tensor<2x13x12x17xf32>, tensor<5x5x1x17xf32>) -> tensor<2x13x12x17xf32>
    // Transposed: each element of the input is spread over a window; the second one's is smaller than the step.
    %4 = stablehlo.convolution(%small, %spread) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2], reverse = [true, false]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x5x9x7xf32>, tensor<6x5x3x3xf32>) -> tensor<2x6x18x14xf32>
    %part = stablehlo.slice %spread [0:6, 0:5, 0:2, 0:2] : (tensor<6x5x3x3xf32>) -> tensor<6x5x2x2xf32>
    %5 = stablehlo.convolution(%small, %part) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 1], [0, 3]], lhs_dilate = [3, 3]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x5x9x7xf32>, tensor<6x5x2x2xf32>) -> tensor<2x6x27x21xf32>
    // bf16, of odd lengths, side by side or not.
    %half = stablehlo.slice %a [0:37, 0:1023] : (tensor<37x1024xf32>) -> tensor<37x1023xf32>
    %lhs = stablehlo.convert %half : (tensor<37x1023xf32>) -> tensor<37x1023xbf16>
    %other = stablehlo.slice %b [0:1023, 0:19] : (tensor<1024x19xf32>) -> tensor<1023x19xf32>
    %rhs = stablehlo.convert %other : (tensor<1023x19xf32>) -> tensor<1023x19xbf16>
    %6 = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0] : (tensor<37x1023xbf16>, tensor<1023x19xbf16>) -> tensor<37x19xf32>
    %turned = stablehlo.transpose %rhs, dims = [1, 0] : (tensor<1023x19xbf16>) -> tensor<19x1023xbf16>
    %kept = stablehlo.optimization_barrier %turned : tensor<19x1023xbf16>
    %7 = stablehlo.dot_general %lhs, %kept, contracting_dims = [1] x [1] : (tensor<37x1023xbf16>, tensor<19x1023xbf16>) -> tensor<37x19xbf16>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<37x19xf32>, tensor<2x18x12x13xf32>, tensor<2x18x6x7xf32>, tensor<2x13x12x17xf32>, tensor<2x6x18x14xf32>, tensor<2x6x27x21xf32>, tensor<37x19xf32>, tensor<37x19xbf16>
  }
}

// Printed by JAX 0.10.2: rolls, and paddings of all kinds with windows of them (paddings.test).
module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<12x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<12x10xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<12x10xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<12x10xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<12x10xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<12x10xf32> {jax.result_info = "result[4]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<12x10xf32> {jax.result_info = "result[5]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<12x10xf32> {jax.result_info = "result[6]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<12x10xf32> {jax.result_info = "result[7]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<12x10xf32> {jax.result_info = "result[8]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, tensor<12x10xf32> {jax.result_info = "result[9]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
    %0 = call @_roll_static(%arg0) : (tensor<12x10xf32>) -> tensor<12x10xf32>
    %1 = call @_roll_static_0(%arg0) : (tensor<12x10xf32>) -> tensor<12x10xf32>
    %2 = call @_pad(%arg0) : (tensor<12x10xf32>) -> tensor<17x15xf32>
    %3 = stablehlo.slice %2 [4:16, 5:15] : (tensor<17x15xf32>) -> tensor<12x10xf32>
    %4 = stablehlo.slice %2 [0:12, 0:10] : (tensor<17x15xf32>) -> tensor<12x10xf32>
    %5 = call @_pad_1(%arg0) : (tensor<12x10xf32>) -> tensor<17x15xf32>
    %6 = stablehlo.slice %5 [4:16, 5:15] : (tensor<17x15xf32>) -> tensor<12x10xf32>
    %7 = stablehlo.slice %5 [0:12, 0:10] : (tensor<17x15xf32>) -> tensor<12x10xf32>
    %8 = call @_pad_2(%arg0) : (tensor<12x10xf32>) -> tensor<17x15xf32>
    %9 = stablehlo.slice %8 [4:16, 5:15] : (tensor<17x15xf32>) -> tensor<12x10xf32>
    %10 = stablehlo.slice %8 [0:12, 0:10] : (tensor<17x15xf32>) -> tensor<12x10xf32>
    %11 = call @_pad_6(%arg0) : (tensor<12x10xf32>) -> tensor<17x15xf32>
    %12 = stablehlo.slice %11 [4:16, 5:15] : (tensor<17x15xf32>) -> tensor<12x10xf32>
    %13 = stablehlo.slice %11 [0:12, 0:10] : (tensor<17x15xf32>) -> tensor<12x10xf32>
    return %0, %1, %3, %4, %6, %7, %9, %10, %12, %13 : tensor<12x10xf32>, tensor<12x10xf32>, tensor<12x10xf32>, tensor<12x10xf32>, tensor<12x10xf32>, tensor<12x10xf32>, tensor<12x10xf32>, tensor<12x10xf32>, tensor<12x10xf32>, tensor<12x10xf32>
  }
  func.func private @_roll_static(%arg0: tensor<12x10xf32>) -> tensor<12x10xf32> {
    %0 = stablehlo.slice %arg0 [9:12, 0:10] : (tensor<12x10xf32>) -> tensor<3x10xf32>
    %1 = stablehlo.slice %arg0 [0:9, 0:10] : (tensor<12x10xf32>) -> tensor<9x10xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3x10xf32>, tensor<9x10xf32>) -> tensor<12x10xf32>
    %3 = stablehlo.slice %2 [0:12, 2:10] : (tensor<12x10xf32>) -> tensor<12x8xf32>
    %4 = stablehlo.slice %2 [0:12, 0:2] : (tensor<12x10xf32>) -> tensor<12x2xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<12x8xf32>, tensor<12x2xf32>) -> tensor<12x10xf32>
    return %5 : tensor<12x10xf32>
  }
  func.func private @_roll_static_0(%arg0: tensor<12x10xf32>) -> tensor<12x10xf32> {
    %0 = stablehlo.slice %arg0 [1:12, 0:10] : (tensor<12x10xf32>) -> tensor<11x10xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:10] : (tensor<12x10xf32>) -> tensor<1x10xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<11x10xf32>, tensor<1x10xf32>) -> tensor<12x10xf32>
    return %2 : tensor<12x10xf32>
  }
  func.func private @_pad(%arg0: tensor<12x10xf32>) -> tensor<17x15xf32> {
    %0 = stablehlo.slice %arg0 [10:12, 0:10] : (tensor<12x10xf32>) -> tensor<2x10xf32>
    %1 = stablehlo.slice %arg0 [0:3, 0:10] : (tensor<12x10xf32>) -> tensor<3x10xf32>
    %2 = stablehlo.concatenate %0, %arg0, %1, dim = 0 : (tensor<2x10xf32>, tensor<12x10xf32>, tensor<3x10xf32>) -> tensor<17x10xf32>
    %3 = stablehlo.slice %2 [0:17, 6:10] : (tensor<17x10xf32>) -> tensor<17x4xf32>
    %4 = stablehlo.slice %2 [0:17, 0:1] : (tensor<17x10xf32>) -> tensor<17x1xf32>
    %5 = stablehlo.concatenate %3, %2, %4, dim = 1 : (tensor<17x4xf32>, tensor<17x10xf32>, tensor<17x1xf32>) -> tensor<17x15xf32>
    return %5 : tensor<17x15xf32>
  }
  func.func private @_pad_1(%arg0: tensor<12x10xf32>) -> tensor<17x15xf32> {
    %0 = stablehlo.slice %arg0 [0:1, 0:10] : (tensor<12x10xf32>) -> tensor<1x10xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<1x10xf32>) -> tensor<1x2x10xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x2x10xf32>) -> tensor<2x10xf32>
    %3 = stablehlo.slice %arg0 [11:12, 0:10] : (tensor<12x10xf32>) -> tensor<1x10xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 2] : (tensor<1x10xf32>) -> tensor<1x3x10xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x3x10xf32>) -> tensor<3x10xf32>
    %6 = stablehlo.concatenate %2, %arg0, %5, dim = 0 : (tensor<2x10xf32>, tensor<12x10xf32>, tensor<3x10xf32>) -> tensor<17x10xf32>
    %7 = stablehlo.slice %6 [0:17, 0:1] : (tensor<17x10xf32>) -> tensor<17x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<17x1xf32>) -> tensor<17x1x4xf32>
    %9 = stablehlo.reshape %8 : (tensor<17x1x4xf32>) -> tensor<17x4xf32>
    %10 = stablehlo.slice %6 [0:17, 9:10] : (tensor<17x10xf32>) -> tensor<17x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<17x1xf32>) -> tensor<17x1x1xf32>
    %12 = stablehlo.reshape %11 : (tensor<17x1x1xf32>) -> tensor<17x1xf32>
    %13 = stablehlo.concatenate %9, %6, %12, dim = 1 : (tensor<17x4xf32>, tensor<17x10xf32>, tensor<17x1xf32>) -> tensor<17x15xf32>
    return %13 : tensor<17x15xf32>
  }
  func.func private @_pad_2(%arg0: tensor<12x10xf32>) -> tensor<17x15xf32> {
    %0 = stablehlo.slice %arg0 [1:3, 0:10] : (tensor<12x10xf32>) -> tensor<2x10xf32>
    %1 = call @_flip(%0) : (tensor<2x10xf32>) -> tensor<2x10xf32>
    %2 = stablehlo.concatenate %1, %arg0, dim = 0 : (tensor<2x10xf32>, tensor<12x10xf32>) -> tensor<14x10xf32>
    %3 = stablehlo.slice %2 [10:13, 0:10] : (tensor<14x10xf32>) -> tensor<3x10xf32>
    %4 = call @_flip_3(%3) : (tensor<3x10xf32>) -> tensor<3x10xf32>
    %5 = stablehlo.concatenate %2, %4, dim = 0 : (tensor<14x10xf32>, tensor<3x10xf32>) -> tensor<17x10xf32>
    %6 = stablehlo.slice %5 [0:17, 1:5] : (tensor<17x10xf32>) -> tensor<17x4xf32>
    %7 = call @_flip_4(%6) : (tensor<17x4xf32>) -> tensor<17x4xf32>
    %8 = stablehlo.concatenate %7, %5, dim = 1 : (tensor<17x4xf32>, tensor<17x10xf32>) -> tensor<17x14xf32>
    %9 = stablehlo.slice %8 [0:17, 12:13] : (tensor<17x14xf32>) -> tensor<17x1xf32>
    %10 = call @_flip_5(%9) : (tensor<17x1xf32>) -> tensor<17x1xf32>
    %11 = stablehlo.concatenate %8, %10, dim = 1 : (tensor<17x14xf32>, tensor<17x1xf32>) -> tensor<17x15xf32>
    return %11 : tensor<17x15xf32>
  }
  func.func private @_flip(%arg0: tensor<2x10xf32>) -> tensor<2x10xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<2x10xf32>
    return %0 : tensor<2x10xf32>
  }
  func.func private @_flip_3(%arg0: tensor<3x10xf32>) -> tensor<3x10xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<3x10xf32>
    return %0 : tensor<3x10xf32>
  }
  func.func private @_flip_4(%arg0: tensor<17x4xf32>) -> tensor<17x4xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<17x4xf32>
    return %0 : tensor<17x4xf32>
  }
  func.func private @_flip_5(%arg0: tensor<17x1xf32>) -> tensor<17x1xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<17x1xf32>
    return %0 : tensor<17x1xf32>
  }
  func.func private @_pad_6(%arg0: tensor<12x10xf32>) -> tensor<17x15xf32> {
    %0 = stablehlo.slice %arg0 [0:2, 0:10] : (tensor<12x10xf32>) -> tensor<2x10xf32>
    %1 = call @_flip(%0) : (tensor<2x10xf32>) -> tensor<2x10xf32>
    %2 = stablehlo.concatenate %1, %arg0, dim = 0 : (tensor<2x10xf32>, tensor<12x10xf32>) -> tensor<14x10xf32>
    %3 = stablehlo.slice %2 [11:14, 0:10] : (tensor<14x10xf32>) -> tensor<3x10xf32>
    %4 = call @_flip_3(%3) : (tensor<3x10xf32>) -> tensor<3x10xf32>
    %5 = stablehlo.concatenate %2, %4, dim = 0 : (tensor<14x10xf32>, tensor<3x10xf32>) -> tensor<17x10xf32>
    %6 = stablehlo.slice %5 [0:17, 0:4] : (tensor<17x10xf32>) -> tensor<17x4xf32>
    %7 = call @_flip_4(%6) : (tensor<17x4xf32>) -> tensor<17x4xf32>
    %8 = stablehlo.concatenate %7, %5, dim = 1 : (tensor<17x4xf32>, tensor<17x10xf32>) -> tensor<17x14xf32>
    %9 = stablehlo.slice %8 [0:17, 13:14] : (tensor<17x14xf32>) -> tensor<17x1xf32>
    %10 = call @_flip_5(%9) : (tensor<17x1xf32>) -> tensor<17x1xf32>
    %11 = stablehlo.concatenate %8, %10, dim = 1 : (tensor<17x14xf32>, tensor<17x1xf32>) -> tensor<17x15xf32>
    return %11 : tensor<17x15xf32>
  }
}

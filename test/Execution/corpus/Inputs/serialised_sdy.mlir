module @ser attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\\22data\\\22=2, \\\22model\\\22=4]>}"}, mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x6xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22model\22}, {}]>"}, mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}) -> (tensor<8x6xf32>) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22model\22}, {?}]>]>"}, mhlo.sharding = "{replicated}"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %1 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%0) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22model\\\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\\\22model\\\22}>"}} : (tensor<8x6xf32>) -> tensor<2x6xf32>
    %2 = call @xla.sdy.manual_computation_body(%1) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22model\\\22}, {}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\\\22model\\\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22model\\\22}, {}]>]>"}} : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %3 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%2) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\\\22model\\\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\\22model\\\22}, {}]>]>"}} : (tensor<2x6xf32>) -> tensor<8x6xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x6xf32>
    %6 = stablehlo.add %3, %5 {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22model\22}, {?}]>]>"}} : tensor<8x6xf32>
    %7 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%6) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22model\22}, {}]>]>"}} : (tensor<8x6xf32>) -> tensor<8x6xf32>
    return %7 : tensor<8x6xf32>
  }
  func.func private @xla.sdy.manual_computation_body(%arg0: tensor<2x6xf32>) -> tensor<2x6xf32> {
    %0 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]]> : tensor<8x2xi64>}> : (tensor<2x6xf32>) -> tensor<2x6xf32>
    return %0 : tensor<2x6xf32>
  }
}

// What every version of StableHLO since 1.0 can say, as make.py writes it into portable artifacts. Nothing here is a
// default: those are left out where an artifact is read.
module @ops attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%image: tensor<1x8x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {}]>}, %kernel: tensor<3x3x2x4xf32>, %matrix: tensor<4x4xf32> {tf.aliasing_output = 1 : i32}, %rows: tensor<3x1xi32>, %shape: tensor<2xi64>) -> (tensor<1x4x2x4xf32>, tensor<4x4xf32> {jax.result_info = "y"}) {
    %conv = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 3], pad = [[0, 1], [1, 0]], rhs_dilate = [1, 2], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x2x4xf32>
    %dot = stablehlo.dot_general %matrix, %matrix, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    %total = stablehlo.compare LT, %matrix, %matrix, TOTALORDER : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
    %equal = stablehlo.compare EQ, %matrix, %matrix : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
    %tanh = stablehlo.tanh %matrix : tensor<4x4xf32>
    %gathered = "stablehlo.gather"(%matrix, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
    %scattered = "stablehlo.scatter"(%matrix, %rows, %gathered) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<4x4xf32>
    %called = stablehlo.custom_call @target(%matrix) {api_version = 2 : i32, backend_config = "config", called_computations = [@inner], has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %window = "stablehlo.reduce_window"(%matrix, %zero) <{padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x2xf32>
    %sorted = "stablehlo.sort"(%matrix) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %less = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %reduced = "stablehlo.all_reduce"(%matrix) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %composite = stablehlo.composite "my.op" %matrix {composite_attributes = {k = 2 : i64}, decomposition = @inner, version = 1 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %wide = stablehlo.dynamic_broadcast_in_dim %zero, %shape, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
    %random = stablehlo.rng %zero, %zero, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
    %token = stablehlo.create_token : !stablehlo.token
    %fed:2 = "stablehlo.infeed"(%token) <{infeed_config = "c", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<4x4xf32>, !stablehlo.token)
    %flags = stablehlo.constant dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>
    %yes = stablehlo.constant dense<true> : tensor<9xi1>
    %numbers = stablehlo.constant dense<[(1.000000e+00,2.000000e+00), (0.000000e+00,-1.000000e+00)]> : tensor<2xcomplex<f32>>
    %small = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf8E4M3FN>
    %tuple = stablehlo.tuple %zero, %flags : tuple<tensor<f32>, tensor<9xi1>>
    %held = sdy.sharding_constraint %matrix <@mesh, [{"x"}, {}]> : tensor<4x4xf32>
    %local = sdy.manual_computation(%held) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%part: tensor<2x4xf32>) {
      %twice = stablehlo.add %part, %part : tensor<2x4xf32>
      sdy.return %twice : tensor<2x4xf32>
    } : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %result = call @inner(%local) {mhlo.frontend_attributes = {a = "b"}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %conv, %result : tensor<1x4x2x4xf32>, tensor<4x4xf32>
  }
  func.func private @inner(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    return %arg0 : tensor<4x4xf32>
  }
}

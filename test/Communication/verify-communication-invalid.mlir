// RUN: shard-opt %s --spmd-verify-communication --split-input-file --verify-diagnostics

spmd.mesh @mesh = <["x"=2]>

func.func @overlap(%x: tensor<5xf32>) -> tensor<8xf32> attributes {spmd.local_view} {
  // expected-error @+2 {{has tables that are no exchange: ranks 0 and 1 own boxes that overlap: [0, 5) and [3, 8)}}
  // expected-note @+1 {{each element is to be owned along the axes once, or as the same box by several ranks}}
  %0 = local.all_gather %x [<dim 0 along ["x"] : [0:5, 3:8] -> [0:8, 0:8]>] on @mesh
      : tensor<5xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

func.func @gap(%x: tensor<3xf32>) -> tensor<8xf32> attributes {spmd.local_view} {
  // expected-error @+2 {{has tables that are no exchange: the owned boxes do not cover the tensor}}
  // expected-note @+1 {{each element is to be owned}}
  %0 = local.all_gather %x [<dim 0 along ["x"] : [0:3, 5:8] -> [0:8, 0:8]>] on @mesh
      : tensor<3xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

// Two dims cut by one axis: each rank owns a corner, nobody the other two.
func.func @diagonal(%x: tensor<4x4xf32>) -> tensor<8x8xf32> attributes {spmd.local_view} {
  // expected-error @+2 {{has tables that are no exchange: the owned boxes do not cover the tensor}}
  // expected-note @+1 {{each element is to be owned}}
  %0 = local.all_gather %x [<dim 0 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>,
                           <dim 1 along ["x"] : [0:4, 4:8] -> [0:8, 0:8]>] on @mesh
      : tensor<4x4xf32> -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

func.func @static_but_uneven(%x: tensor<5xf32>) -> tensor<9xf32> attributes {spmd.local_view} {
  // expected-error @+1 {{has a source of type 'tensor<5xf32>' with 5 elements in dim 0, but coordinate 1 along "x" owns [5, 9), 4 elements; a dim in which ranks differ is '?'}}
  %0 = local.all_gather %x [<dim 0 along ["x"] : [0:5, 5:9] -> [0:9, 0:9]>] on @mesh
      : tensor<5xf32> -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

func.func @wrong_result_size(%x: tensor<4xf32>) -> tensor<6xf32> attributes {spmd.local_view} {
  // expected-error @+1 {{has a result of type 'tensor<6xf32>' with 6 elements in dim 0, but coordinate 0 along "x" needs [0, 5), 5 elements}}
  %0 = local.halo_exchange %x [<dim 0 along ["x"] : [0:4, 4:8] -> [0:5, 3:8]>] on @mesh
      : tensor<4xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

func.func @no_fill(%x: tensor<4xf32>) -> tensor<6xf32> attributes {spmd.local_view} {
  // expected-error @+1 {{needs [-1, 5) of dim 0 at coordinate 0, outside the domain [0, 8), but has no fill value; add 'fill'}}
  %0 = local.halo_exchange %x [<dim 0 along ["x"] : [0:4, 4:8] -> [-1:5, 3:9]>] on @mesh
      : tensor<4xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

func.func @fill_of_another_type(%x: tensor<4xf32>, %zero: tensor<i32>) -> tensor<6xf32> attributes {spmd.local_view} {
  // expected-error @+1 {{has a fill value of type 'tensor<i32>', expected 'tensor<f32>'}}
  %0 = local.halo_exchange %x [<dim 0 along ["x"] : [0:4, 4:8] -> [-1:5, 3:9]>]
      fill %zero : tensor<i32> on @mesh : tensor<4xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

// Cut over "x" and summed along "x": the shards are of different sizes.
func.func @wrong_axis(
    %x: tensor<?xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x" sizes [5, 4]}], partial = {"y" = sum}>})
    -> tensor<?xf32> attributes {spmd.local_view} {
  // expected-error @+1 {{meets along "x", but dim 0 of its source has 5 elements on rank 0 and 4 on rank 2; rebalance it first, or communicate along other axes}}
  %0 = local.all_reduce sum %x along ["x"] on @mesh : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

spmd.mesh @mesh = <["x"=2, "y"=2]>

// Dim 2 of the slices is dim 1 of the operand, which is cut over "x".
func.func @slices_of_different_sizes(
    %x: tensor<?x?x7xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"y" sizes [1, 2]}, {"x" sizes [5, 4]}, {}]>},
    %indices: tensor<3x1xi32>) -> tensor<3x?x?xf32> attributes {spmd.local_view} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?x7xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?x7xf32>
  %sizes = tensor.from_elements %rows, %columns, %c1 : tensor<3xindex>
  %slices = "stablehlo.dynamic_gather"(%x, %indices, %sizes) <{dimension_numbers = #stablehlo.gather<
      offset_dims = [1, 2], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>}>
      : (tensor<?x?x7xf32>, tensor<3x1xi32>, tensor<3xindex>) -> tensor<3x?x?xf32>
  // expected-error @+1 {{meets along "x", but dim 2 of its source has 5 elements on rank 0 and 4 on rank 2; rebalance it first, or communicate along other axes}}
  %0 = local.all_reduce sum %slices along ["x"] on @mesh : tensor<3x?x?xf32>
  return %0 : tensor<3x?x?xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

func.func @scatter_of_different_boxes(%x: tensor<4xf32>) -> tensor<2xf32> attributes {spmd.local_view} {
  // expected-error @+1 {{combines along "x", but ranks own different parts of dim 0 along it; partial values are to be of the same box}}
  %0 = local.reduce_scatter sum %x along ["x"] [<dim 0 along ["x"] : [0:4, 4:8] -> [0:2, 4:6]>] on @mesh
      : tensor<4xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>

func.func @scatter_more_than_there_is(%x: tensor<8xf32>) -> tensor<5xf32> attributes {spmd.local_view} {
  // expected-error @+1 {{keeps [4, 9) of dim 0 at coordinate 1, which is not inside the combined [0, 8)}}
  %0 = local.reduce_scatter sum %x along ["x"] [<dim 0 along ["x"] : [0:8, 0:8] -> [0:5, 4:9]>] on @mesh
      : tensor<8xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

spmd.mesh @two = <["x"=2]>
spmd.mesh @three = <["x"=3]>

func.func @two_meshes(%x: tensor<4xf32>) -> tensor<4xf32> attributes {spmd.local_view} {
  // expected-note @+1 {{mesh @two is used here}}
  %0 = local.all_reduce sum %x along ["x"] on @two : tensor<4xf32>
  // expected-error @+1 {{communicates over mesh @three of 3 ranks, but the program runs on 2}}
  %1 = local.all_reduce sum %0 along ["x"] on @three : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) attributes {spmd.local_view} {
  // expected-error @below {{'spmd.host_call' op is left after communication, expected only 'spmd.mesh', 'local', 'pairs'}}
  spmd.host_call 4(%x) effects : (tensor<4xf32>) -> ()
  return
}

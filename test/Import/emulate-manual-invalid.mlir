// RUN: shard-opt %s --spmd-import="unsharded=true host-calls=true" --split-input-file --verify-diagnostics
// One rank does what a loop that communicates does for all of them, and drops what a rank would not have done: a call of
// Python would be made all the same.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
    %i = stablehlo.constant dense<0> : tensor<i32>
    // expected-error-re @below {{unsupported: 'stablehlo.while' at {{.*}} communicates and calls Python in a manual region; one rank cannot do that for all: run it without --check}}
    %1:2 = stablehlo.while(%k = %i, %v = %y) : tensor<i32>, tensor<2xf32>
    cond {
      %p = stablehlo.compare LT, %k, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %2 = "stablehlo.collective_permute"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.custom_call @xla_ffi_python_cpu_callback(%2) {has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (tensor<2xf32>) -> ()
      stablehlo.return %k, %2 : tensor<i32>, tensor<2xf32>
    }
    sdy.return %1#1 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<4xf32>) {
    // expected-error @below {{splits in 4 parts for groups of 2 members, expected as many}}
    %1 = "stablehlo.all_to_all"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<> : tensor<0x0xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A region that is manual along one axis of two names ranks that are not its own.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
    // expected-error @below {{'stablehlo.collective_permute' op unsupported: rank 1 of the mesh takes part, which is not one of its manual region's 2 ranks}}
    %1 = "stablehlo.collective_permute"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What a rank computes by itself is another one's as well where both combine.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
    %s = stablehlo.slice %y [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %c = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
    // expected-error @below {{'stablehlo.all_reduce' op unsupported: combines by values from outside its region}}
    %1 = "stablehlo.all_reduce"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.add %a, %c : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
    // expected-error @below {{'stablehlo.all_reduce' op unsupported: combines by 'stablehlo.reduce'; elementwise ops on the two arguments are known}}
    %1 = "stablehlo.all_reduce"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %1 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

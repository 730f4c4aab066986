// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-widen-floats | FileCheck %s

// Numbers of all three types are numbers of f8E4M3FN; sums are made in f32 and rounded.
// CHECK-LABEL: func @main(
// CHECK-NOT: f4E2M1FN
// CHECK: stablehlo.constant dense<[1.000000e+00, 6.000000e+00]> : tensor<2xf8E4M3FN>
// CHECK: stablehlo.add {{.*}} : tensor<2xf32>
// CHECK: stablehlo.round_nearest_even
// CHECK: stablehlo.convert {{.*}} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
// CHECK: stablehlo.transpose {{.*}} -> tensor<2x1xf8E4M3FN>
func.func @main() -> tensor<2x1xf32> {
  %0 = stablehlo.constant dense<[1.0, 6.0]> : tensor<2xf4E2M1FN>
  %1 = stablehlo.add %0, %0 : tensor<2xf4E2M1FN>
  %2 = stablehlo.reshape %1 : (tensor<2xf4E2M1FN>) -> tensor<1x2xf4E2M1FN>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<1x2xf4E2M1FN>) -> tensor<2x1xf4E2M1FN>
  %4 = stablehlo.convert %3 : (tensor<2x1xf4E2M1FN>) -> tensor<2x1xf32>
  return %4 : tensor<2x1xf32>
}

// -----

// What comes in and goes out keeps its type.
// CHECK-LABEL: func @main(
// CHECK-SAME: %[[X:.*]]: tensor<2xf6E3M2FN>) -> tensor<2xf6E3M2FN>
// CHECK: %[[IN:.*]] = stablehlo.convert %[[X]] : (tensor<2xf6E3M2FN>) -> tensor<2xf8E4M3FN>
// CHECK: %[[R:.*]] = stablehlo.reverse %[[IN]], {{.*}} : tensor<2xf8E4M3FN>
// CHECK: %[[OUT:.*]] = stablehlo.convert %[[R]] : (tensor<2xf8E4M3FN>) -> tensor<2xf6E3M2FN>
// CHECK: return %[[OUT]]
func.func @main(%x: tensor<2xf6E3M2FN>) -> tensor<2xf6E3M2FN> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<2xf6E3M2FN>
  return %0 : tensor<2xf6E3M2FN>
}

// -----

// What says how values are cut, and what moves them within a manual region, has them wide.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @main(
// CHECK: sdy.sharding_constraint {{.*}} : tensor<4xf8E4M3FN>
// CHECK: sdy.manual_computation
// CHECK: "stablehlo.all_gather"({{.*}} : (tensor<2xf8E4M3FN>) -> tensor<4xf8E4M3FN>
// CHECK: sdy.return {{.*}} : tensor<4xf8E4M3FN>
// CHECK: } : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
func.func @main(%x: tensor<4xf4E2M1FN>) -> tensor<4xf4E2M1FN> {
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<4xf4E2M1FN>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%a: tensor<2xf4E2M1FN>) {
    %2 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<2xf4E2M1FN>) -> tensor<4xf4E2M1FN>
    sdy.return %2 : tensor<4xf4E2M1FN>
  } : (tensor<4xf4E2M1FN>) -> tensor<4xf4E2M1FN>
  return %1 : tensor<4xf4E2M1FN>
}

// -----

// The host, too, is given and gives the types that it knows.
// CHECK-LABEL: func @main(
// CHECK: %[[ROUNDED:.*]] = stablehlo.convert {{.*}} : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
// CHECK: %[[IN:.*]] = stablehlo.convert %[[ROUNDED]] : (tensor<2xf8E4M3FN>) -> tensor<2xf4E2M1FN>
// CHECK: %[[OUT:.*]] = spmd.host_call 3(%[[IN]]) : (tensor<2xf4E2M1FN>) -> tensor<2xf4E2M1FN>
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[OUT]] : (tensor<2xf4E2M1FN>) -> tensor<2xf8E4M3FN>
// CHECK: stablehlo.reverse %[[WIDE]]
func.func @main() -> tensor<2xf4E2M1FN> {
  %0 = stablehlo.iota dim = 0 : tensor<2xf4E2M1FN>
  %1 = spmd.host_call 3(%0) : (tensor<2xf4E2M1FN>) -> tensor<2xf4E2M1FN>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<2xf4E2M1FN>
  return %2 : tensor<2xf4E2M1FN>
}

// -----

func.func @main() -> tensor<2xi4> {
  %0 = stablehlo.constant dense<[1.0, 6.0]> : tensor<2xf4E2M1FN>
  // expected-error-re @below {{unsupported: 'stablehlo.bitcast_convert' at {{.*}} of floats of four or six bits; convert around it}}
  %1 = stablehlo.bitcast_convert %0 : (tensor<2xf4E2M1FN>) -> tensor<2xi4>
  return %1 : tensor<2xi4>
}

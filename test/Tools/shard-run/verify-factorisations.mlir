// Factorisations of batches in uneven shards, one of them empty: the local view, whose types leave open how many matrices a
// rank has, is interpreted beside the program.
// RUN: shard-run %s --verify-partition --check=interpreter 2>&1 | FileCheck %s --implicit-check-not="not verified" --implicit-check-not=error
// RUN: shard-run %s --mesh=x=4 --verify-partition --check=interpreter 2>&1 | FileCheck %s --implicit-check-not="not verified" --implicit-check-not=error
// CHECK: output 0: f32 [3, 3, 2] as interpreter:
// CHECK: output 2: f32 [3, 3, 3] as interpreter:
// CHECK: output 4: i32 [3, 3] as interpreter: bitwise equal
// CHECK: output 5: f32 [1, 2, 2] as interpreter:

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<3x3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
                %b: tensor<3x3x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>},
                %c: tensor<1x2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>})
    -> (tensor<3x3x2xf32>, tensor<3x2xf32>, tensor<3x3x3xf32>, tensor<3x3xi32>, tensor<3x3xi32>, tensor<1x2x2xf32>, tensor<1x2xf32>) {
  %q:2 = stablehlo.custom_call @Qr(%a) : (tensor<3x3x2xf32>) -> (tensor<3x3x2xf32>, tensor<3x2xf32>)
  %l:3 = stablehlo.custom_call @LuDecomposition(%b) : (tensor<3x3x3xf32>) -> (tensor<3x3x3xf32>, tensor<3x3xi32>, tensor<3x3xi32>)
  %r:2 = stablehlo.custom_call @Qr(%c) : (tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1x2xf32>)
  return %q#0, %q#1, %l#0, %l#1, %l#2, %r#0, %r#1 : tensor<3x3x2xf32>, tensor<3x2xf32>, tensor<3x3x3xf32>, tensor<3x3xi32>, tensor<3x3xi32>, tensor<1x2x2xf32>, tensor<1x2xf32>
}

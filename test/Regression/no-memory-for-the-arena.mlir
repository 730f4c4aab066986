// RUN: not shard-run %s --memory-limit=9000000000000000000 2>&1 | FileCheck %s
// Memory that cannot be had was written to all the same.
// CHECK: shard-run: error: rank {{[01]}}: cannot get {{[0-9]+}} bytes for its arena; --fit-memory compiles it to need less; most is held by 562949953421312 bytes of {{[^;]*}}.mlir:8; {{.*}}
// CHECK-NOT: {{.}}
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<1xf32>) -> tensor<4xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1xf32>) -> tensor<70368744177664xf32>
  %1 = "stablehlo.sort"(%0) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<70368744177664xf32>) -> tensor<70368744177664xf32>
  %2 = stablehlo.slice %1 [0:4] : (tensor<70368744177664xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// RUN: shard-run %s --device=emulated-cuda --precision=highest --sizes=0:0=30,0,20 --sizes=2:0=30,0,20 --outputs=@%t.npz
// RUN: env FAKE_LIBRARY_LOG=1 SHARDRT_CUBLASLT_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --device=emulated-cuda --precision=highest --sizes=0:0=30,0,20 --sizes=2:0=30,0,20 --kernels=library --repeat=2 --expect=@%t.npz 2> %t.log
// RUN: FileCheck %s --implicit-check-not="fake library: {{[^d]}}" --implicit-check-not="48x0x" < %t.log
// RUN: env FAKE_LIBRARY_REFUSE=1 SHARDRT_CUBLASLT_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --device=emulated-cuda --precision=highest --sizes=0:0=30,0,20 --sizes=2:0=30,0,20 --kernels=library --expect=@%t.npz --rtol=0 --atol=0
// Three ranks, one of them without rows, products in a loop and work behind them; and kernels with parts of a depth in the other branch.
// CHECK-DAG: did product 48x30x2048 batch 1 f32 to f32 ops 00 epilogue 1
// CHECK-DAG: did product 48x20x2048 batch 1 f32 to f32 ops 00 epilogue 1
// CHECK-DAG: did product 64x30x2048 batch 1 bf16 to bf16 ops 00 epilogue 1
// CHECK-DAG: did product 64x20x2048 batch 1 bf16 to bf16 ops 00 epilogue 1
sdy.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<50x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<2048x48xf32>, %h: tensor<50x2048xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %g: tensor<2048x64xbf16>) -> (tensor<50x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<50x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<50x48xf32>
  %r:2 = stablehlo.while(%i = %c0, %s = %z) : tensor<i32>, tensor<50x48xf32>
  cond {
    %p = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<50x2048xf32>, tensor<2048x48xf32>) -> tensor<50x48xf32>
    %1 = stablehlo.add %0, %s : tensor<50x48xf32>
    %t = stablehlo.tanh %1 : tensor<50x48xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %t : tensor<i32>, tensor<50x48xf32>
  }
  %2 = stablehlo.dot_general %h, %g, contracting_dims = [1] x [0] : (tensor<50x2048xbf16>, tensor<2048x64xbf16>) -> tensor<50x64xbf16>
  return %r#1, %2 : tensor<50x48xf32>, tensor<50x64xbf16>
}

// RUN: shard-run %s --device=emulated-cuda --precision=highest --outputs=@%t.npz
// RUN: env FAKE_LIBRARY_LOG=1 SHARDRT_CUBLASLT_LIBRARY=%shardc_build/lib/ShardRuntimeTestFakeLibraries.so shard-run %s --device=emulated-cuda --precision=highest --kernels=library --expect=@%t.npz 2> %t.log
// RUN: FileCheck %s --implicit-check-not="fake library: {{[^d]}}" < %t.log
// Products by a stand-in for cuBLASLt, with biases and activations, of all types, in all layouts, batched: what our kernels give.
// Bias and relu; the right factor transposed.
// CHECK-DAG: did product 48x64x32 batch 1 f32 to f32 ops 10 epilogue 6{{$}}
// GELU, by a hyperbolic tangent.
// CHECK-DAG: did product 48x64x32 batch 1 f32 to f32 ops 10 epilogue 32{{$}}
// A bias along rows is none of its epilogues where columns lie side by side: a kernel adds it.
// CHECK-DAG: did product 48x64x32 batch 1 f32 to f32 ops 10 epilogue 1{{$}}
// CHECK-DAG: did product 40x64x32 batch 1 bf16 to bf16 ops 00 epilogue 4{{$}}
// What is no epilogue is a kernel.
// CHECK-DAG: did product 40x64x32 batch 1 bf16 to f32 ops 00 epilogue 1{{$}}
// CHECK-DAG: did product 20x24x16 batch 5 f64 to f64 ops 00 epilogue 1{{$}}
// CHECK-DAG: did product 16x40x24 batch 1 f16 to f32 ops 01 epilogue 1{{$}}
// Dims that lie one behind the other are one; the batch stands between others.
// CHECK-DAG: did product 24x48x20 batch 1 f32 to f32 ops {{..}} epilogue 1{{$}}
// CHECK-DAG: did product 18x20x24 batch 6 f32 to f32 ops {{..}} epilogue 1{{$}}

func.func @main(%a: tensor<64x32xf32>, %b: tensor<48x32xf32>, %v: tensor<48xf32>, %w: tensor<64xf32>,
                %h: tensor<64x32xbf16>, %g: tensor<32x40xbf16>, %u: tensor<40xbf16>,
                %d: tensor<5x24x16xf64>, %e: tensor<5x16x20xf64>, %x: tensor<24x40xf16>, %y: tensor<24x16xf16>,
                %p: tensor<6x8x4x5xf32>, %q: tensor<4x5x24xf32>, %r: tensor<20x6x24xf32>, %s: tensor<6x18x24xf32>)
    -> (tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x40xbf16>, tensor<64x40xf32>,
        tensor<5x24x20xf64>, tensor<40x16xf32>, tensor<6x8x24xf32>, tensor<20x6x18xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<48x32xf32>) -> tensor<64x48xf32>
  %1 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<48xf32>) -> tensor<64x48xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x48xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<64x48xf32>
  %relu = stablehlo.maximum %2, %zero : tensor<64x48xf32>

  %a2 = stablehlo.negate %a : tensor<64x32xf32>
  %4 = stablehlo.dot_general %a2, %b, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<48x32xf32>) -> tensor<64x48xf32>
  %c1 = stablehlo.constant dense<0.044715> : tensor<64x48xf32>
  %c2 = stablehlo.constant dense<0.797884583> : tensor<64x48xf32>
  %c3 = stablehlo.constant dense<1.0> : tensor<64x48xf32>
  %c4 = stablehlo.constant dense<0.5> : tensor<64x48xf32>
  %5 = stablehlo.multiply %4, %4 : tensor<64x48xf32>
  %6 = stablehlo.multiply %4, %5 : tensor<64x48xf32>
  %7 = stablehlo.multiply %c1, %6 : tensor<64x48xf32>
  %8 = stablehlo.add %4, %7 : tensor<64x48xf32>
  %9 = stablehlo.multiply %c2, %8 : tensor<64x48xf32>
  %10 = stablehlo.tanh %9 : tensor<64x48xf32>
  %11 = stablehlo.add %c3, %10 : tensor<64x48xf32>
  %12 = stablehlo.multiply %c4, %11 : tensor<64x48xf32>
  %gelu = stablehlo.multiply %4, %12 : tensor<64x48xf32>

  %a3 = stablehlo.abs %a : tensor<64x32xf32>
  %14 = stablehlo.dot_general %a3, %b, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<48x32xf32>) -> tensor<64x48xf32>
  %15 = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<64xf32>) -> tensor<64x48xf32>
  %rows = stablehlo.add %14, %15 : tensor<64x48xf32>

  %17 = stablehlo.dot_general %h, %g, contracting_dims = [1] x [0] : (tensor<64x32xbf16>, tensor<32x40xbf16>) -> tensor<64x40xbf16>
  %18 = stablehlo.broadcast_in_dim %u, dims = [1] : (tensor<40xbf16>) -> tensor<64x40xbf16>
  %narrow = stablehlo.add %17, %18 : tensor<64x40xbf16>

  %h2 = stablehlo.negate %h : tensor<64x32xbf16>
  %20 = stablehlo.dot_general %h2, %g, contracting_dims = [1] x [0] : (tensor<64x32xbf16>, tensor<32x40xbf16>) -> tensor<64x40xf32>
  %wide = stablehlo.tanh %20 : tensor<64x40xf32>

  %22 = stablehlo.dot_general %d, %e, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<5x24x16xf64>, tensor<5x16x20xf64>) -> tensor<5x24x20xf64>
  %23 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<24x40xf16>, tensor<24x16xf16>) -> tensor<40x16xf32>
  %24 = stablehlo.dot_general %p, %q, contracting_dims = [2, 3] x [0, 1] : (tensor<6x8x4x5xf32>, tensor<4x5x24xf32>) -> tensor<6x8x24xf32>
  %25 = stablehlo.dot_general %r, %s, batching_dims = [1] x [0], contracting_dims = [2] x [2] : (tensor<20x6x24xf32>, tensor<6x18x24xf32>) -> tensor<6x20x18xf32>
  %26 = stablehlo.transpose %25, dims = [1, 0, 2] : (tensor<6x20x18xf32>) -> tensor<20x6x18xf32>
  return %relu, %gelu, %rows, %narrow, %wide, %22, %23, %24, %26 : tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x40xbf16>, tensor<64x40xf32>, tensor<5x24x20xf64>, tensor<40x16xf32>, tensor<6x8x24xf32>, tensor<20x6x18xf32>
}

// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s

// CHECK-LABEL: func.func @on_buffers
// CHECK: %{{.*}} = kernel.library_call "product" ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<64x32xbf16>, memref<48x32xbf16>, memref<48xf32>)
// CHECK-SAME: outs(%{{.*}} : memref<64x48xf32>) dims {{\[\[\[\], \[0\], \[1\]\], \[\[\], \[1\], \[0\]\], \[\[0\]\], \[\[\], \[0\], \[1\]\]\]}}
// CHECK-SAME: numbers [0, 2] epilogue ["bias", "relu"] required
func.func @on_buffers(%a: memref<64x32xbf16>, %b: memref<48x32xbf16>, %v: memref<48xf32>, %c: memref<64x48xf32>) -> i1 {
  %done = kernel.library_call "product" ins(%a, %b, %v : memref<64x32xbf16>, memref<48x32xbf16>, memref<48xf32>)
      outs(%c : memref<64x48xf32>) dims [[[], [0], [1]], [[], [1], [0]], [[0]], [[], [0], [1]]] numbers [0, 2] epilogue ["bias", "relu"] required
  return %done : i1
}

// CHECK-LABEL: func.func @on_tensors
// CHECK: %[[RESULT:.*]], %[[DONE:.*]] = kernel.library_call "transform" {{.*}} : tensor<?x12xcomplex<f32>>
func.func @on_tensors(%a: tensor<?x12xcomplex<f32>>, %e: tensor<?x12xcomplex<f32>>) -> (tensor<?x12xcomplex<f32>>, i1) {
  %r, %done = kernel.library_call "transform" ins(%a : tensor<?x12xcomplex<f32>>) outs(%e : tensor<?x12xcomplex<f32>>)
      dims [[[0], [1]], [[0], [1]]] numbers [0, 1] : tensor<?x12xcomplex<f32>>
  return %r, %done : tensor<?x12xcomplex<f32>>, i1
}

// CHECK-LABEL: func.func @on_some_gpus
// CHECK: kernel.library_call "product" {{.*}} numbers [0, 0] tcgen05 tf32
func.func @on_some_gpus(%a: memref<4x4xf32>, %c: memref<4x4xf32>) -> i1 {
  %done = kernel.library_call "product" ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
      dims [[[], [0], [1]], [[], [0], [1]], [[], [0], [1]]] numbers [0, 0] tcgen05 tf32
  return %done : i1
}

// Where the mask lies is known when it runs.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: %[[AT:[a-z0-9]*]]: index) -> i1
// CHECK: kernel.library_call "attention" {{.*}} numbers [4602678819172646912, 1] at(%[[AT]])
func.func @attention(%q: memref<2x64x32xf16>, %k: memref<2x48x32xf16>, %o: memref<2x64x32xf16>, %m: memref<2x64xf32>, %l: memref<2x64xf32>, %at: index) -> i1 {
  %done = kernel.library_call "attention" ins(%q, %k, %k : memref<2x64x32xf16>, memref<2x48x32xf16>, memref<2x48x32xf16>)
      outs(%o, %m, %l : memref<2x64x32xf16>, memref<2x64xf32>, memref<2x64xf32>)
      dims [[[], [0], [1], [2]], [[], [0], [1], [2]], [[], [0], [1], [2]], [[], [0], [1], [2]], [[], [0], [1]], [[], [0], [1]]] numbers [4602678819172646912, 1] at(%at)
  return %done : i1
}

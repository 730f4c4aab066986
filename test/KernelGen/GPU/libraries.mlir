// RUN: shard-opt %s --spmd-form-gpu-kernels=libraries=auto | FileCheck %s
// RUN: shard-opt %s --spmd-form-gpu-kernels=libraries=library | FileCheck %s --check-prefix=ALWAYS
// RUN: shard-opt %s --spmd-form-gpu-kernels | FileCheck %s --check-prefix=GENERATED
// RUN: shard-opt %s --spmd-form-gpu-kernels=libraries=auto --remarks-filter="kernels" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not shard-opt %s --spmd-form-gpu-kernels=libraries=best 2>&1 | FileCheck %s --check-prefix=BAD
// Which products a library is asked for by choice, and by order; never else.
// GENERATED-NOT: kernel.library_call
// REMARK: LibraryCall
// BAD: libraries are "best", expected "generated", "tcgen05", "auto" or "library"
// Where GPUs with tcgen05 alone are to ask, it is for what tensor cores do.
// RUN: shard-opt %s --spmd-form-gpu-kernels="libraries=tcgen05 tf32=true" | FileCheck %s --check-prefix=SOME
// RUN: shard-opt %s --spmd-form-gpu-kernels="libraries=auto tf32=true" | FileCheck %s --check-prefix=TF32

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func.func @large
// CHECK: %[[DONE:.*]] = kernel.library_call "product"
// CHECK-SAME: numbers [0, 0]
// CHECK-NOT: required
// CHECK: scf.if %[[DONE]] {
// CHECK: } else {
// CHECK: gpu.launch
// ALWAYS-LABEL: func.func @large
// ALWAYS: kernel.library_call "product" {{.*}} required
func.func @large(%a: memref<256x512xf32>, %b: memref<512x256xf32>, %c: memref<256x256xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(m, n) -> ()>, #id], iterator_types = ["parallel", "parallel"]} ins(%zero : f32) outs(%c : memref<256x256xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<256x512xf32>, memref<512x256xf32>) outs(%c : memref<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// 16-bit factors; what may be rounded to tf32 once, and what is three products of it, which no library has.
// CHECK-LABEL: func.func @of_16_bits
// CHECK: kernel.library_call "product" {{.*}} numbers [1, 0]{{$}}
// SOME-LABEL: func.func @large
// SOME-NOT: kernel.library_call
// SOME-LABEL: func.func @of_16_bits
// SOME: %[[DONE:.*]] = kernel.library_call "product" {{.*}} numbers [1, 0] tcgen05{{$}}
// SOME: scf.if %[[DONE]] {
// SOME: } else {
// SOME: gpu.launch
func.func @of_16_bits(%a: memref<256x512xbf16>, %b: memref<512x256xbf16>, %c: memref<256x256xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<256x512xbf16>, memref<512x256xbf16>) outs(%c : memref<256x256xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %wx = arith.extf %x : bf16 to f32
    %wy = arith.extf %y : bf16 to f32
    %0 = arith.mulf %wx, %wy : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
// SOME-LABEL: func.func @rounded_once
// SOME: kernel.library_call "product" {{.*}} numbers [1, 0] tcgen05 tf32
// TF32-LABEL: func.func @rounded_once
// TF32: kernel.library_call "product" {{.*}} numbers [1, 0] tf32
func.func @rounded_once(%a: memref<256x512xf32>, %b: memref<512x256xf32>, %c: memref<256x256xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<256x512xf32>, memref<512x256xf32>) outs(%c : memref<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y {kernel.tensor_float = #kernel.tensor_float<default>} : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
// SOME-LABEL: func.func @of_three
// SOME-NOT: kernel.library_call
// TF32-LABEL: func.func @of_three
// TF32-NOT: kernel.library_call
// TF32-LABEL: func.func @small
func.func @of_three(%a: memref<256x512xf32>, %b: memref<512x256xf32>, %c: memref<256x256xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<256x512xf32>, memref<512x256xf32>) outs(%c : memref<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y {kernel.tensor_float = #kernel.tensor_float<high>} : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Without a start the result is added to what is there.
// CHECK-LABEL: func.func @small
// CHECK-NOT: kernel.library_call
// CHECK: gpu.launch
// ALWAYS-LABEL: func.func @small
// ALWAYS: kernel.library_call "product"
// ALWAYS-SAME: numbers [1, 0]
func.func @small(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Neither rows nor columns of the left factor lie side by side: no library reads that.
// CHECK-LABEL: func.func @scattered
// CHECK-NOT: kernel.library_call
// ALWAYS-LABEL: func.func @scattered
// ALWAYS-NOT: kernel.library_call
// ALWAYS: gpu.launch
func.func @scattered(%a: memref<64x64xf32, strided<[256, 2]>>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xf32, strided<[256, 2]>>, memref<64x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Sizes that only the program knows when it runs: one of our kernels in the other branch, whatever they are.
// CHECK-LABEL: func.func @dynamic
// CHECK: kernel.library_call "product"
func.func @dynamic(%a: memref<?x512xf32>, %b: memref<512x256xf32>, %c: memref<?x256xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x512xf32>, memref<512x256xf32>) outs(%c : memref<?x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

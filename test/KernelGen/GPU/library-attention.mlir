// RUN: shard-opt %s --spmd-form-gpu-kernels=libraries=auto | FileCheck %s
// RUN: shard-opt %s --spmd-form-gpu-kernels=libraries=library | FileCheck %s --check-prefix=ALWAYS
// RUN: shard-opt %s --spmd-form-gpu-kernels | FileCheck %s --check-prefix=GENERATED
// Which steps of attention a library is asked for by choice, and by order; never else. Its results are taken into the state by two kernels.
// GENERATED-NOT: kernel.library_call

#q = affine_map<(b, q, k, d, e) -> (b, q, d)>
#k = affine_map<(b, q, k, d, e) -> (b, k, d)>
#v = affine_map<(b, q, k, d, e) -> (b, k, e)>
#r = affine_map<(b, q, k, d, e) -> (b, q)>
#o = affine_map<(b, q, k, d, e) -> (b, q, e)>

// Where the mask lies in this block follows from where the block does.
// CHECK-LABEL: func.func @causal
// CHECK-SAME: %[[Q:[a-z0-9]*]]: memref<8x1024x64xbf16>, %[[K:[a-z0-9]*]]: memref<8x?x64xbf16>, %[[V:[a-z0-9]*]]: memref<8x?x128xbf16>
// CHECK-SAME: %[[I:[a-z0-9]*]]: index, %[[J:[a-z0-9]*]]: index
// CHECK-DAG: %[[OUT:.*]] = memref.alloc() : memref<8x1024x128xbf16>
// CHECK-DAG: %[[APART:.*]] = arith.subi %[[I]], %[[J]]
// CHECK: %[[AT:.*]] = arith.addi %[[APART]]
// CHECK: %[[DONE:.*]] = kernel.library_call "attention" ins(%[[Q]], %[[K]], %[[V]] :
// CHECK-SAME: outs(%[[OUT]], %{{.*}}, %{{.*}} : memref<8x1024x128xbf16>, memref<8x1024xf32>, memref<8x1024xf32>)
// CHECK-SAME: dims {{\[\[\[\], \[0\], \[1\], \[2\]\], \[\[\], \[0\], \[1\], \[2\]\], \[\[\], \[0\], \[1\], \[2\]\], \[\[\], \[0\], \[1\], \[2\]\], \[\[\], \[0\], \[1\]\], \[\[\], \[0\], \[1\]\]\]}}
// The bits of 0.125.
// CHECK-SAME: numbers [4593671619917905920, 1] at(%[[AT]])
// CHECK: scf.if %[[DONE]] {
// CHECK-COUNT-2: gpu.launch
// CHECK: } else {
// CHECK: gpu.launch
// ALWAYS-LABEL: func.func @causal
// ALWAYS: kernel.library_call "attention" {{.*}} required
func.func @causal(%query: memref<8x1024x64xbf16>, %key: memref<8x?x64xbf16>, %value: memref<8x?x128xbf16>, %i: index, %j: index,
                  %m: memref<8x1024xf32>, %l: memref<8x1024xf32>, %acc: memref<8x1024x128xf32>) {
  %zero = arith.constant 0 : index
  pairs.pair_step softmax ins(%query, %key, %value : memref<8x1024x64xbf16>, memref<8x?x64xbf16>, memref<8x?x128xbf16>) at(%zero, %i, %j)
      outs(%m, %l, %acc : memref<8x1024xf32>, memref<8x1024xf32>, memref<8x1024x128xf32>) maps [#q, #k, #v, #r, #r, #o] score {
  ^bb0(%raw: f32, %b: i32, %x: i32, %y: i32):
    %scale = arith.constant 0.125 : f32
    %low = arith.constant 0xFF800000 : f32
    %s = arith.mulf %raw, %scale : f32
    %counts = arith.cmpi sle, %y, %x : i32
    %masked = arith.select %counts, %s, %low : f32
    pairs.yield %masked : f32
  }
  return
}

// Few rows are not worth it.
// CHECK-LABEL: func.func @short
// CHECK-NOT: kernel.library_call
// ALWAYS-LABEL: func.func @short
// ALWAYS: kernel.library_call "attention" {{.*}} numbers [4607182418800017408, 0] required
func.func @short(%query: memref<2x64x64xf16>, %key: memref<2x80x64xf16>, %i: index,
                 %m: memref<2x64xf32>, %l: memref<2x64xf32>, %acc: memref<2x64x64xf32>) {
  pairs.pair_step softmax ins(%query, %key, %key : memref<2x64x64xf16>, memref<2x80x64xf16>, memref<2x80x64xf16>) at(%i, %i, %i)
      outs(%m, %l, %acc : memref<2x64xf32>, memref<2x64xf32>, memref<2x64x64xf32>) maps [#q, #k, #v, #r, #r, #o] score {
  ^bb0(%raw: f32, %b: i32, %x: i32, %y: i32):
    pairs.yield %raw : f32
  }
  return
}

// A finite number in place of a score is no mask where nothing says that it never counts; an odd mask is another one; nor is f32 asked for.
// ALWAYS-LABEL: func.func @low
// ALWAYS-NOT: kernel.library_call
func.func @low(%query: memref<2x64x64xf16>, %single: memref<2x64x64xf32>, %i: index,
               %m: memref<2x64xf32>, %l: memref<2x64xf32>, %acc: memref<2x64x64xf32>) {
  pairs.pair_step softmax ins(%query, %query, %query : memref<2x64x64xf16>, memref<2x64x64xf16>, memref<2x64x64xf16>) at(%i, %i, %i)
      outs(%m, %l, %acc : memref<2x64xf32>, memref<2x64xf32>, memref<2x64x64xf32>) maps [#q, #k, #v, #r, #r, #o] score {
  ^bb0(%raw: f32, %b: i32, %x: i32, %y: i32):
    %low = arith.constant -3.0e1 : f32
    %counts = arith.cmpi sle, %y, %x : i32
    %masked = arith.select %counts, %raw, %low : f32
    pairs.yield %masked : f32
  }
  pairs.pair_step softmax ins(%query, %query, %query : memref<2x64x64xf16>, memref<2x64x64xf16>, memref<2x64x64xf16>) at(%i, %i, %i)
      outs(%m, %l, %acc : memref<2x64xf32>, memref<2x64xf32>, memref<2x64x64xf32>) maps [#q, #k, #v, #r, #r, #o] score {
  ^bb0(%raw: f32, %b: i32, %x: i32, %y: i32):
    %low = arith.constant 0xFF800000 : f32
    %counts = arith.cmpi ne, %y, %x : i32
    %masked = arith.select %counts, %raw, %low : f32
    pairs.yield %masked : f32
  }
  pairs.pair_step softmax ins(%single, %single, %single : memref<2x64x64xf32>, memref<2x64x64xf32>, memref<2x64x64xf32>) at(%i, %i, %i)
      outs(%m, %l, %acc : memref<2x64xf32>, memref<2x64xf32>, memref<2x64x64xf32>) maps [#q, #k, #v, #r, #r, #o] score {
  ^bb0(%raw: f32, %b: i32, %x: i32, %y: i32):
    pairs.yield %raw : f32
  }
  return
}

// Ways to write the same mask: up to two places behind the query.
// ALWAYS-LABEL: func.func @sum
// ALWAYS: %[[TWO:.*]] = arith.constant 2 : index
// ALWAYS-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %[[TWO]]
// ALWAYS: kernel.library_call "attention" {{.*}} numbers [4607182418800017408, 1] at(%[[AT]])
func.func @sum(%query: memref<2x64x64xf16>, %i: index, %j: index, %m: memref<2x64xf32>, %l: memref<2x64xf32>, %acc: memref<2x64x64xf32>) {
  pairs.pair_step softmax ins(%query, %query, %query : memref<2x64x64xf16>, memref<2x64x64xf16>, memref<2x64x64xf16>) at(%i, %i, %j)
      outs(%m, %l, %acc : memref<2x64xf32>, memref<2x64xf32>, memref<2x64x64xf32>) maps [#q, #k, #v, #r, #r, #o] score {
  ^bb0(%raw: f32, %b: i32, %x: i32, %y: i32):
    %low = arith.constant 0xFF800000 : f32
    %three = arith.constant 3 : i32
    %far = arith.addi %x, %three : i32
    %masks = arith.cmpi sge, %y, %far : i32
    %masked = arith.select %masks, %low, %raw : f32
    pairs.yield %masked : f32
  }
  return
}

// ALWAYS-LABEL: func.func @difference
// ALWAYS: %[[TWO:.*]] = arith.constant 2 : index
// ALWAYS-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %[[TWO]]
// ALWAYS: kernel.library_call "attention" {{.*}} numbers [4607182418800017408, 1] at(%[[AT]])
func.func @difference(%query: memref<2x64x64xf16>, %i: index, %j: index, %m: memref<2x64xf32>, %l: memref<2x64xf32>, %acc: memref<2x64x64xf32>) {
  pairs.pair_step softmax ins(%query, %query, %query : memref<2x64x64xf16>, memref<2x64x64xf16>, memref<2x64x64xf16>) at(%i, %i, %j)
      outs(%m, %l, %acc : memref<2x64xf32>, memref<2x64xf32>, memref<2x64x64xf32>) maps [#q, #k, #v, #r, #r, #o] score {
  ^bb0(%raw: f32, %b: i32, %x: i32, %y: i32):
    %low = arith.constant 0xFF800000 : f32
    %two = arith.constant -2 : i32
    %apart = arith.subi %x, %y : i32
    %counts = arith.cmpi sge, %apart, %two : i32
    %masked = arith.select %counts, %raw, %low : f32
    pairs.yield %masked : f32
  }
  return
}

// Somebody whose band is not the mask: what is left out is more than what is masked.
// ALWAYS-LABEL: func.func @band
// ALWAYS-NOT: kernel.library_call
func.func @band(%query: memref<2x64x64xf16>, %i: index, %m: memref<2x64xf32>, %l: memref<2x64xf32>, %acc: memref<2x64x64xf32>) {
  pairs.pair_step softmax ins(%query, %query, %query : memref<2x64x64xf16>, memref<2x64x64xf16>, memref<2x64x64xf16>) at(%i, %i, %i)
      outs(%m, %l, %acc : memref<2x64xf32>, memref<2x64xf32>, memref<2x64x64xf32>) maps [#q, #k, #v, #r, #r, #o] {band_upper = 1 : i64} score {
  ^bb0(%raw: f32, %b: i32, %x: i32, %y: i32):
    %low = arith.constant 0xFF800000 : f32
    %counts = arith.cmpi sle, %y, %x : i32
    %masked = arith.select %counts, %raw, %low : f32
    pairs.yield %masked : f32
  }
  return
}

// RUN: shard-opt %s --spmd-generate-cpu-kernels=vector-bits=512 --split-input-file | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// 64 MB, which nothing here reads: where memory is aligned, vectors pass the
// caches by, and a fence orders them behind the loops.
// CHECK-LABEL: func @far(
//  CHECK-SAME:   %{{.*}}: memref<4096x4096xf32>, %[[Y:[a-z0-9]+]]: memref<4096x4096xf32>
//       CHECK:   %[[ADDRESS:.*]] = llvm.ptrtoint
//       CHECK:   %[[LOW:.*]] = arith.andi %[[ADDRESS]],
//       CHECK:   %[[ALIGNED:.*]] = arith.cmpi eq, %[[LOW]],
//       CHECK:   scf.if %[[ALIGNED]] {
//       CHECK:     llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>
//       CHECK:   } else {
//   CHECK-NOT:     nontemporal
//       CHECK:     llvm.store {{.*}} {alignment = 4 : i64} : vector<16xf32>
//       CHECK:   llvm.fence seq_cst
//  CHECK-NEXT:   return
func.func @far(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4096x4096xf32>) outs(%y : memref<4096x4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>

// What is read is in the cache when it is written; what is small is there when
// it is wanted.
// CHECK-LABEL: func @in_place(
//   CHECK-NOT:   nontemporal
func.func @in_place(%y: memref<4096x4096xf32>) {
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%y : memref<4096x4096xf32>) {
  ^bb0(%o: f32):
    %0 = arith.negf %o : f32
    linalg.yield %0 : f32
  }
  return
}
// CHECK-LABEL: func @near(
//   CHECK-NOT:   nontemporal
func.func @near(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<1024x1024xf32>) outs(%y : memref<1024x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Rows begin anywhere: up to the first multiple of 64 bytes, and behind the last,
// vectors have a mask.
// CHECK-LABEL: func @odd_rows(
//       CHECK:   scf.for
//       CHECK:     %[[ADDRESS:.*]] = llvm.ptrtoint
//       CHECK:     %[[PLACE:.*]] = arith.shrui %[[ADDRESS]], %{{.*}} : i64
//       CHECK:     %[[BEFORE:.*]] = arith.subi %{{.*}}, %[[PLACE]] : i64
//       CHECK:     arith.andi %[[BEFORE]],
//       CHECK:     %[[MASK:.*]] = vector.create_mask
//       CHECK:     llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[MASK]]
// CHECK-COUNT-2:   scf.for
//       CHECK:       llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>
//       CHECK:     }
//       CHECK:     llvm.intr.masked.store
//       CHECK:   llvm.fence seq_cst
func.func @odd_rows(%x: memref<16384x1001xf32>, %s: memref<16384xf32>, %y: memref<16384x1001xf32>) {
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<16384x1001xf32>, memref<16384xf32>) outs(%y : memref<16384x1001xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
// Of short rows too little would be whole.
// CHECK-LABEL: func @short_rows(
//   CHECK-NOT:   nontemporal
func.func @short_rows(%x: memref<163840x101xf32>, %s: memref<163840xf32>, %y: memref<163840x101xf32>) {
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<163840x101xf32>, memref<163840xf32>) outs(%y : memref<163840x101xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>

// In a loop over blocks that tells nobody of them one fence behind it is
// enough.
// CHECK-LABEL: func @blocks(
//       CHECK:   scf.for
//       CHECK:     nontemporal
//   CHECK-NOT:     llvm.fence
//       CHECK:   } {test.blocks}
//  CHECK-NEXT:   llvm.fence seq_cst
//  CHECK-NEXT:   return
func.func @blocks(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4096 : index
  scf.for %i = %c0 to %n step %c1 {
    %from = memref.subview %x[%i, 0] [1, 4096] [1, 1] : memref<4096x4096xf32> to memref<1x4096xf32, strided<[4096, 1], offset: ?>>
    %to = memref.subview %y[%i, 0] [1, 4096] [1, 1] : memref<4096x4096xf32> to memref<1x4096xf32, strided<[4096, 1], offset: ?>>
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%from : memref<1x4096xf32, strided<[4096, 1], offset: ?>>) outs(%to : memref<1x4096xf32, strided<[4096, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.negf %a : f32
      linalg.yield %0 : f32
    }
  } {test.blocks}
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// Whole lines of what is turned.
// CHECK-LABEL: func @transpose(
//       CHECK:   nontemporal
func.func @transpose(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>) {
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4096x4096xf32>) outs(%y : memref<4096x4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>

// 10 MB that something here adds to find it in the cache; as a result that
// nobody reads they would pass it by.
// CHECK-LABEL: func @added_to(
//   CHECK-NOT:   nontemporal
func.func @added_to(%place: memref<1000xindex>, %y: memref<2560x1024xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 1000 : index
  %none = arith.constant 0.0 : f32
  %more = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%y : memref<2560x1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %none : f32
  }
  %row = memref.subview %y[0, 0] [2560, 1] [1, 1] : memref<2560x1024xf32> to memref<2560xf32, strided<[1024]>>
  scf.for %i = %zero to %count step %one {
    %at = memref.load %place[%i] : memref<1000xindex>
    %old = memref.load %row[%at] : memref<2560xf32, strided<[1024]>>
    %new = arith.addf %old, %more : f32
    memref.store %new, %row[%at] : memref<2560xf32, strided<[1024]>>
  }
  return
}
// CHECK-LABEL: func @only_filled(
//       CHECK:   nontemporal
func.func @only_filled(%y: memref<2560x1024xf32>) {
  %none = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%y : memref<2560x1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %none : f32
  }
  return
}

// -----

#window = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>

// A window of three rows waits for memory as a copy does; where it adds to what
// memory holds it reads it.
// CHECK-LABEL: func @short_sums(
//       CHECK:   nontemporal
// CHECK-LABEL: func @added(
//   CHECK-NOT:   nontemporal
//       CHECK:   return
// 12 MB are enough of a result that nothing reads, but for its own sums.
// CHECK-LABEL: func @result_of_sums(
//       CHECK:   nontemporal
// CHECK-LABEL: func @read_again(
//   CHECK-NOT:   nontemporal
//       CHECK:   return
func.func @short_sums(%x: memref<4098x4096xf32>, %w: memref<3xf32>, %y: memref<4096x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%y : memref<4096x4096xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<4098x4096xf32>, memref<3xf32>) outs(%y : memref<4096x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
func.func @added(%x: memref<4098x4096xf32>, %w: memref<3xf32>, %y: memref<4096x4096xf32>) {
  linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<4098x4096xf32>, memref<3xf32>) outs(%y : memref<4096x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
func.func @result_of_sums(%x: memref<3074x1024xf32>, %w: memref<3xf32>, %y: memref<3072x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%y : memref<3072x1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<3074x1024xf32>, memref<3xf32>) outs(%y : memref<3072x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
func.func @read_again(%x: memref<3074x1024xf32>, %w: memref<3xf32>, %y: memref<3072x1024xf32>, %z: memref<1024xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%y : memref<3072x1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#window, #tap, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<3074x1024xf32>, memref<3xf32>) outs(%y : memref<3072x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]} ins(%y : memref<3072x1024xf32>) outs(%z : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#to = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#from = affine_map<(d0, d1, d2) -> (d0, d2)>

// Planes may begin anywhere: their distance is asked with the address.
// CHECK-LABEL: func @open_planes(
//       CHECK:   %[[Y:.*]] = memref.alloc
//       CHECK:   %[[STRIDES:[a-z0-9_]+]]:3 = memref.extract_strided_metadata %[[Y]]
//       CHECK:   %[[ADDRESS:.*]] = llvm.ptrtoint
//       CHECK:   %[[LOW:.*]] = arith.andi %[[ADDRESS]],
//       CHECK:   %[[BYTES:.*]] = arith.muli %[[STRIDES]]#0,
//       CHECK:   %[[DISTANCE:.*]] = arith.index_cast %[[BYTES]] : index to i64
//       CHECK:   %[[REST:.*]] = arith.andi %[[DISTANCE]],
//       CHECK:   %[[ALL:.*]] = arith.ori %[[LOW]], %[[REST]]
//       CHECK:   %[[ALIGNED:.*]] = arith.cmpi eq, %[[ALL]],
//       CHECK:   scf.if %[[ALIGNED]] {
//       CHECK:     nontemporal
//       CHECK:   } else {
//   CHECK-NOT:     nontemporal
//       CHECK:   llvm.fence seq_cst
func.func @open_planes(%x: memref<4096x64xf32>, %n: index) -> memref<4096x?x64xf32> {
  %y = memref.alloc(%n) : memref<4096x?x64xf32>
  linalg.generic {indexing_maps = [#from, #to], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<4096x64xf32>) outs(%y : memref<4096x?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  }
  return %y : memref<4096x?x64xf32>
}

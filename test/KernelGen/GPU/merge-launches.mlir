// RUN: shard-opt %s --spmd-form-gpu-kernels --canonicalize --spmd-merge-launches --canonicalize --cse --split-input-file | FileCheck %s

// Updates of two parameters, and work that has nothing to do with either: one launch of 4 + 1 + 2 blocks.
// CHECK-LABEL: func.func @independent(
//  CHECK-SAME:   %[[P:[^:]*]]: memref<4000xf32>, %[[Q:[^:]*]]: memref<100xf32>, %[[R:[^:]*]]: memref<1100xf32>
//   CHECK-DAG:   %[[ALL:.*]] = arith.constant 7 : index
//   CHECK-DAG:   %[[FOUR:.*]] = arith.constant 4 : index
//   CHECK-DAG:   %[[FIVE:.*]] = arith.constant 5 : index
//       CHECK:   gpu.launch blocks(%[[B:[^,]*]], {{.*}}) in ({{.*}} = %[[ALL]], {{.*}}) threads(%[[T:[^,]*]], {{.*}}) in ({{.*}} = %c256,
//       CHECK:     %[[FIRST:.*]] = arith.cmpi ult, %[[B]], %[[FOUR]]
//       CHECK:     scf.if %[[FIRST]]
//       CHECK:       vector.store %{{.*}}, %[[P]]
//       CHECK:     else
//       CHECK:       %[[SECOND:.*]] = arith.cmpi ult, %[[B]], %[[FIVE]]
//       CHECK:       scf.if %[[SECOND]]
//       CHECK:         store %{{.*}}, %[[Q]]
//       CHECK:       else
//       CHECK:         arith.subi %[[B]], %[[FIVE]]
//       CHECK:         vector.store %{{.*}}, %[[R]]
//   CHECK-NOT:   gpu.launch
#same = affine_map<(d0) -> (d0)>
func.func @independent(%p: memref<4000xf32>, %q: memref<100xf32>, %r: memref<1100xf32>) {
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel"]} outs(%p : memref<4000xf32>) {
  ^bb0(%o: f32):
    %n = arith.negf %o : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel"]} outs(%q : memref<100xf32>) {
  ^bb0(%o: f32):
    %n = arith.negf %o : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel"]} outs(%r : memref<1100xf32>) {
  ^bb0(%o: f32):
    %n = arith.negf %o : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// What reads another one's results comes after it; what overwrites what is still read too. Between the two is room for a third.
// CHECK-LABEL: func.func @ordered(
//  CHECK-SAME:   %[[X:[^:]*]]: memref<4096xf32>, %[[Y:[^:]*]]: memref<4096xf32>, %[[Z:[^:]*]]: memref<4096xf32>
//       CHECK:   gpu.launch
//       CHECK:     vector.store %{{.*}}, %[[Y]]
//       CHECK:     vector.store %{{.*}}, %[[Z]]
//       CHECK:   gpu.launch
//       CHECK:     vector.store %{{.*}}, %[[X]]
//   CHECK-NOT:   gpu.launch
#same = affine_map<(d0) -> (d0)>
func.func @ordered(%x: memref<4096xf32>, %y: memref<4096xf32>, %z: memref<4096xf32>) {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : memref<4096xf32>) outs(%y : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%y : memref<4096xf32>) outs(%x : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel"]} outs(%z : memref<4096xf32>) {
  ^bb0(%o: f32):
    %n = arith.negf %o : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// A result that may be written over a donated argument is the same memory: its reader comes first.
// CHECK-LABEL: func.func @in_place(
//       CHECK:   gpu.launch
//       CHECK:   gpu.launch
#same = affine_map<(d0) -> (d0)>
func.func @in_place(%x: memref<4096xf32>, %y: memref<4096xf32>, %r: memref<4096xf32> {kernel.in_place = 0 : i64}) {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : memref<4096xf32>) outs(%y : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel"]} outs(%r : memref<4096xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  return
}

// -----

// Pieces of one buffer that have nothing in common are written at once; what reads one of them is not done with that one.
// CHECK-LABEL: func.func @pieces(
//       CHECK:   gpu.launch
//       CHECK:     arith.negf
//       CHECK:     math.absf
//       CHECK:   gpu.launch
//       CHECK:     arith.addf
//   CHECK-NOT:   gpu.launch
#same = affine_map<(d0) -> (d0)>
func.func @pieces(%x: memref<1024xf32>, %y: memref<1024xf32>) {
  %all = memref.alloc() : memref<2048xf32>
  %low = memref.subview %all[0] [1024] [1] : memref<2048xf32> to memref<1024xf32, strided<[1]>>
  %high = memref.subview %all[1024] [1024] [1] : memref<2048xf32> to memref<1024xf32, strided<[1], offset: 1024>>
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : memref<1024xf32>) outs(%low : memref<1024xf32, strided<[1]>>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : memref<1024xf32>) outs(%high : memref<1024xf32, strided<[1], offset: 1024>>) {
  ^bb0(%a: f32, %o: f32):
    %n = math.absf %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}
      ins(%low, %high : memref<1024xf32, strided<[1]>>, memref<1024xf32, strided<[1], offset: 1024>>) outs(%y : memref<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %n = arith.addf %a, %b : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// A large buffer that nobody has written yet is not held for longer over what communicates, a small one is.
// CHECK-LABEL: func.func @held(
//       CHECK:   gpu.launch
//       CHECK:     memref<4096xf32>
//       CHECK:     memref<1024xf32>
//       CHECK:   kernel.run_site
//       CHECK:   gpu.launch
//       CHECK:     memref<1048576xf32>
#same = affine_map<(d0) -> (d0)>
func.func @held(%x: memref<4096xf32>, %y: memref<4096xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel"]} outs(%x : memref<4096xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  kernel.run_site 0 ins(%x : memref<4096xf32>) outs(%y : memref<4096xf32>)
  %small = memref.alloc() : memref<1024xf32>
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel"]} outs(%small : memref<1024xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  %large = memref.alloc() : memref<1048576xf32>
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel"]} outs(%large : memref<1048576xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  }
  %a = memref.load %small[%c0] : memref<1024xf32>
  %b = memref.load %large[%c0] : memref<1048576xf32>
  %s = arith.addf %a, %b : f32
  return %s : f32
}

// -----

// What needs one block, and needs what one block has done: one launch, in which the block meets between them.
// CHECK-LABEL: func.func @followers(
//  CHECK-SAME:   %[[X:[^:]*]]: memref<100xf32>, %[[Y:[^:]*]]: memref<100xf32>, %[[Z:[^:]*]]: memref<100xf32>
//   CHECK-DAG:   %[[ONE:.*]] = arith.constant 1 : index
//       CHECK:   gpu.launch blocks({{.*}}) in ({{.*}} = %[[ONE]],
//       CHECK:     store %{{.*}}, %[[Y]]
//       CHECK:     gpu.barrier
//       CHECK:     store %{{.*}}, %[[Z]]
//   CHECK-NOT:   gpu.launch
#same = affine_map<(d0) -> (d0)>
func.func @followers(%x: memref<100xf32>, %y: memref<100xf32>, %z: memref<100xf32>) {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : memref<100xf32>) outs(%y : memref<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = math.exp %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%y : memref<100xf32>) outs(%z : memref<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Of several blocks each may be the first.
// CHECK-LABEL: func.func @many_blocks(
// CHECK-COUNT-2: gpu.launch blocks
#same = affine_map<(d0) -> (d0)>
func.func @many_blocks(%x: memref<9000xf32>, %y: memref<9000xf32>, %z: memref<9000xf32>) {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : memref<9000xf32>) outs(%y : memref<9000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = math.exp %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%y : memref<9000xf32>) outs(%z : memref<9000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// All threads of a block meet: what few of them do is not between them and a reduction by more.
// CHECK-LABEL: func.func @threads(
//       CHECK:   gpu.launch blocks({{.*}}) threads({{.*}}) in ({{.*}} = %c256
//       CHECK:     scf.if
//       CHECK:       store
//       CHECK:     }
//       CHECK:     gpu.barrier
//       CHECK:     scf.if
//       CHECK:       store
//       CHECK:     }
//       CHECK:     gpu.barrier
//       CHECK:     gpu.shuffle
#same = affine_map<(d0) -> (d0)>
func.func @threads(%x: memref<144xf32>, %y: memref<144xf32>, %z: memref<144xf32>, %s: memref<f32>) {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : memref<144xf32>) outs(%y : memref<144xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = math.exp %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%y : memref<144xf32>) outs(%z : memref<144xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = math.exp %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#same, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%z : memref<144xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %o, %a : f32
    linalg.yield %n : f32
  }
  return
}

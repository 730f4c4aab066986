// RUN: shard-opt %s --spmd-form-gpu-kernels --canonicalize --split-input-file | FileCheck %s

// A thread for each of 1010 points, 256 a block.
// CHECK-LABEL: func.func @points(
//  CHECK-SAME:   %[[X:.*]]: memref<10x101xf32>, %[[Y:.*]]: memref<10x101xf32>
//   CHECK-DAG:   %[[BLOCKS:.*]] = arith.constant 4 : index
//   CHECK-DAG:   %[[THREADS:.*]] = arith.constant 256 : index
//   CHECK-DAG:   %[[ROW:.*]] = arith.constant 101 : index
//   CHECK-DAG:   %[[POINTS:.*]] = arith.constant 1010 : index
//       CHECK:   gpu.launch blocks(%[[B:[^,]*]], {{.*}}) in ({{.*}} = %[[BLOCKS]], {{.*}}) threads(%[[T:[^,]*]], {{.*}}) in ({{.*}} = %[[THREADS]],
//       CHECK:     %[[FIRST:.*]] = arith.muli %[[B]], %[[THREADS]]
//       CHECK:     %[[I:.*]] = arith.addi %[[FIRST]], %[[T]]
//       CHECK:     %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %[[POINTS]]
//       CHECK:     scf.if %[[INSIDE]]
//       CHECK:       %[[COLUMN:.*]] = arith.remui %[[I]], %[[ROW]]
//       CHECK:       %[[LINE:.*]] = arith.divui %[[I]], %[[ROW]]
//       CHECK:       %[[V:.*]] = memref.load %[[X]][%[[LINE]], %[[COLUMN]]]
//       CHECK:       memref.store %{{.*}}, %[[Y]][%[[LINE]], %[[COLUMN]]]
func.func @points(%x: memref<10x101xf32>, %y: memref<10x101xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<10x101xf32>) outs(%y : memref<10x101xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Rows of a multiple of four: 16 bytes a thread, what all lanes share is read once.
// CHECK-LABEL: func.func @vectors(
//  CHECK-SAME:   %[[X:.*]]: memref<10x100xf32>, %[[Y:.*]]: memref<10xf32>, %[[Z:.*]]: memref<10x100xf32>
//   CHECK-DAG:   %[[THREADS:.*]] = arith.constant 250 : index
//       CHECK:   gpu.launch
//       CHECK:     arith.cmpi ult, %{{.*}}, %[[THREADS]]
//       CHECK:       %[[V:.*]] = vector.load %[[X]]{{.*}} {alignment = 16 : i64} : memref<10x100xf32>, vector<4xf32>
//       CHECK:       memref.load %[[Y]]
//   CHECK-NOT:       memref.load
//       CHECK:       vector.store %{{.*}}, %[[Z]]{{.*}} {alignment = 16 : i64}
func.func @vectors(%x: memref<10x100xf32>, %y: memref<10xf32>, %z: memref<10x100xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<10x100xf32>, memref<10xf32>) outs(%z : memref<10x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %n = arith.addf %a, %b : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Where the input lies across the output, through shared memory: read along rows of the one, written along rows of the other.
// CHECK-LABEL: func.func @transpose(
//  CHECK-SAME:   %[[X:.*]]: memref<64x40xf32>, %[[Y:.*]]: memref<40x64xf32>
//       CHECK:   gpu.launch
//  CHECK-SAME:     workgroup(%[[TILE:[^ ]*]] : memref<32x33xf32, #gpu.address_space<workgroup>>)
//       CHECK:     %[[A:.*]] = memref.load %[[X]]
//       CHECK:     memref.store %[[A]], %[[TILE]][%[[LINE:.*]], %[[LANE:.*]]] :
//       CHECK:     gpu.barrier
//       CHECK:     %[[B:.*]] = memref.load %[[TILE]][%[[LANE]], %{{.*}}]
//       CHECK:     memref.store %[[B]], %[[Y]]
func.func @transpose(%x: memref<64x40xf32>, %y: memref<40x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x40xf32>) outs(%y : memref<40x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Sizes that are known when the program runs make the grid then.
// CHECK-LABEL: func.func @dynamic(
//       CHECK:   %[[SIZE:.*]] = memref.dim
//       CHECK:   %[[BLOCKS:.*]] = arith.ceildivui %[[SIZE]], %{{.*}}
//       CHECK:   gpu.launch blocks({{.*}}) in ({{.*}} = %[[BLOCKS]]
func.func @dynamic(%x: memref<?xf32>) {
  %c = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %c : f32
  }
  return
}

// -----

// A short reduction is a loop in the thread; the output is read once and written once.
// CHECK-LABEL: func.func @rows(
//       CHECK:   gpu.launch
//       CHECK:     %[[START:.*]] = memref.load %{{.*}} : memref<300xf32>
//       CHECK:     %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
//       CHECK:     memref.store %[[SUM]], %{{.*}} : memref<300xf32>
func.func @rows(%x: memref<300x8xf32>, %y: memref<300xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x8xf32>) outs(%y : memref<300xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %a, %o : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// A loop that stores single elements is an algorithm, and one kernel.
// CHECK-LABEL: func.func @algorithm(
//   CHECK-NOT:   scf.for
//       CHECK:   gpu.launch
//       CHECK:     scf.for
//       CHECK:       memref.store
//       CHECK:     gpu.terminator
func.func @algorithm(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %c7 step %c1 {
    %j = arith.addi %i, %c1 : index
    %a = memref.load %x[%i] : memref<8xf32>
    %b = memref.load %x[%j] : memref<8xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %x[%j] : memref<8xf32>
  }
  return
}

// -----

// The user's loop stays on the host: it launches, and its condition is read there.
// CHECK-LABEL: func.func @loop(
//       CHECK:   scf.while
//       CHECK:     memref.load %{{.*}} : memref<i1>
//       CHECK:   } do {
//       CHECK:     gpu.launch
func.func @loop(%go: memref<i1>, %x: memref<8xf32>) {
  scf.while : () -> () {
    %c = memref.load %go[] : memref<i1>
    scf.condition(%c)
  } do {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        outs(%x : memref<8xf32>) {
    ^bb0(%o: f32):
      %n = arith.negf %o : f32
      linalg.yield %n : f32
    }
    scf.yield
  }
  return
}

// -----

// Points that share an output are not independent: one thread.
// CHECK-LABEL: func.func @overlapping(
//       CHECK:   gpu.launch {{.*}} threads({{.*}}) in ({{.*}} = %[[ONE:c1[^,]*]], {{.*}} = %[[ONE]], {{.*}} = %[[ONE]])
//       CHECK:     linalg.generic
func.func @overlapping(%x: memref<4x4xf32>, %y: memref<7xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i + j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x4xf32>) outs(%y : memref<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.addf %a, %o : f32
    linalg.yield %n : f32
  }
  return
}

// -----

// Queries and keys without columns: every score is zero.
// CHECK-LABEL: func.func @no_columns
// CHECK: gpu.launch
func.func @no_columns(%query: memref<2x64x0xf16>, %key: memref<2x80x0xf16>, %value: memref<2x80x64xf16>, %i: index,
                      %m: memref<2x64xf32>, %l: memref<2x64xf32>, %acc: memref<2x64x64xf32>) {
  pairs.pair_step softmax ins(%query, %key, %value : memref<2x64x0xf16>, memref<2x80x0xf16>, memref<2x80x64xf16>) at(%i, %i, %i)
      outs(%m, %l, %acc : memref<2x64xf32>, memref<2x64xf32>, memref<2x64x64xf32>)
      maps [affine_map<(b, q, k, d, e) -> (b, q, d)>, affine_map<(b, q, k, d, e) -> (b, k, d)>, affine_map<(b, q, k, d, e) -> (b, k, e)>,
            affine_map<(b, q, k, d, e) -> (b, q)>, affine_map<(b, q, k, d, e) -> (b, q)>, affine_map<(b, q, k, d, e) -> (b, q, e)>] score {
  ^bb0(%raw: f32, %b: i32, %x: i32, %y: i32):
    pairs.yield %raw : f32
  }
  return
}

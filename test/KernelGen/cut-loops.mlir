// Loops that lowering wrote down itself, for three threads.
// RUN: shard-opt %s --spmd-cut-loops=threads=3 --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-cut-loops --split-input-file | FileCheck %s --check-prefix=ALONE
// ALONE-NOT: kernel.parts

// Sums along rows: each part has some rows, from 1000 p / 3 on.
// CHECK-LABEL: func.func @scan(
//       CHECK:   scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step
//       CHECK:     %[[BEGUN:.*]] = arith.muli %{{.*}}, %[[PART]]
//       CHECK:     %[[FIRST:.*]] = arith.divsi %[[BEGUN]]
//       CHECK:     %[[FROM:.*]] = arith.addi %{{.*}}, %[[FIRST]]
//       CHECK:     %[[LAST:.*]] = arith.divsi
//       CHECK:     %[[TO:.*]] = arith.addi %{{.*}}, %[[LAST]]
//       CHECK:     scf.for %[[ROW:.*]] = %[[FROM]] to %[[TO]] step
//       CHECK:       memref.store %{{.*}}, %{{.*}}[%[[ROW]],
//       CHECK:   } {kernel.parts = 3 : i64}
func.func @scan(%x: memref<1000x4096xf32>, %y: memref<1000x4096xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 1000 : index
  %columns = arith.constant 4096 : index
  %none = arith.constant 0.0 : f32
  scf.for %i = %zero to %rows step %one {
    %sum = scf.for %j = %zero to %columns step %one iter_args(%before = %none) -> (f32) {
      %0 = memref.load %x[%i, %j] : memref<1000x4096xf32>
      %1 = arith.addf %before, %0 : f32
      memref.store %1, %y[%i, %j] : memref<1000x4096xf32>
      scf.yield %1 : f32
    }
  }
  return
}

// -----

// Two images do not keep three threads busy, their 64 channels do: the loop
// over these is cut, inside.
// CHECK-LABEL: func.func @inner(
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %{{.*}} step
//       CHECK:     scf.for %{{.*}} = %c0{{.*}} to %c2{{.*}} step
//       CHECK:       arith.divsi
//       CHECK:       scf.for %[[CHANNEL:.*]] = %{{.*}} to %{{.*}} step
//       CHECK:         memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[CHANNEL]], %{{.*}}]
//       CHECK:   } {kernel.parts = 3 : i64}
func.func @inner(%place: memref<2x64x10000xindex>, %y: memref<2x64x40000xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %channels = arith.constant 64 : index
  %places = arith.constant 10000 : index
  scf.for %i = %zero to %two step %one {
    scf.for %j = %zero to %channels step %one {
      scf.for %k = %zero to %places step %one {
        %at = memref.load %place[%i, %j, %k] : memref<2x64x10000xindex>
        %old = memref.load %y[%i, %j, %at] : memref<2x64x40000xf32>
        %new = arith.addf %old, %old : f32
        memref.store %new, %y[%i, %j, %at] : memref<2x64x40000xf32>
      }
    }
  }
  return
}

// -----

// Rows that an index chooses, of 64 columns: four lines of the cache, of which
// two of three threads get two.
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @scatter(
//       CHECK:   scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step
//       CHECK:     scf.for
//       CHECK:       %[[COLUMN:.*]] = arith.muli %[[PART]], %c32
//       CHECK:       %[[UPDATE:.*]] = memref.subview %{{.*}}[%[[COLUMN]]] [32] [1]
//       CHECK:       %[[ROW:.*]] = memref.subview %{{.*}}[%[[COLUMN]]] [32] [1]
//       CHECK:       linalg.generic {{.*}} ins(%[[UPDATE]] : {{.*}}) outs(%[[ROW]] :
//       CHECK:   } {kernel.parts = 2 : i64}
func.func @scatter(%place: memref<100000xindex>, %x: memref<100000x64xf32>, %y: memref<1000x64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %updates = arith.constant 100000 : index
  %rows = arith.constant 1000 : index
  scf.for %i = %zero to %updates step %one {
    %at = memref.load %place[%i] : memref<100000xindex>
    %inside = arith.cmpi ult, %at, %rows : index
    scf.if %inside {
      %from = memref.subview %x[%i, 0] [1, 64] [1, 1] : memref<100000x64xf32> to memref<64xf32, strided<[1], offset: ?>>
      %to = memref.subview %y[%at, 0] [1, 64] [1, 1] : memref<1000x64xf32> to memref<64xf32, strided<[1], offset: ?>>
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%from : memref<64xf32, strided<[1], offset: ?>>) outs(%to : memref<64xf32, strided<[1], offset: ?>>) {
      ^bb0(%update: f32, %old: f32):
        %sum = arith.addf %old, %update : f32
        linalg.yield %sum : f32
      }
    }
  }
  return
}

// -----

// 100 columns are seven lines: three for each part, the last one has what is
// left of the seventh.
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @uneven(
//       CHECK:   scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step
//       CHECK:     %[[LAST:.*]] = arith.cmpi eq, %[[PART]], %c2
//       CHECK:     scf.if %[[LAST]] {
//       CHECK:       memref.subview %{{.*}}[%{{.*}}] [4] [1]
//       CHECK:     } else {
//       CHECK:       memref.subview %{{.*}}[%{{.*}}] [48] [1]
//       CHECK:   } {kernel.parts = 3 : i64}
func.func @uneven(%place: memref<100000xindex>, %x: memref<100000x100xf32>, %y: memref<1000x100xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %updates = arith.constant 100000 : index
  scf.for %i = %zero to %updates step %one {
    %at = memref.load %place[%i] : memref<100000xindex>
    %from = memref.subview %x[%i, 0] [1, 100] [1, 1] : memref<100000x100xf32> to memref<100xf32, strided<[1], offset: ?>>
    %to = memref.subview %y[%at, 0] [1, 100] [1, 1] : memref<1000x100xf32> to memref<100xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%from : memref<100xf32, strided<[1], offset: ?>>) outs(%to : memref<100xf32, strided<[1], offset: ?>>) {
    ^bb0(%update: f32, %old: f32):
      %max = arith.maximumf %old, %update : f32
      linalg.yield %max : f32
    }
  }
  return
}

// -----

// Who adds to an element that an index chooses may meet anybody: each part looks
// at the positions of 64 iterations, and does those of its own share, a third of
// 63 lines.
// CHECK-LABEL: func.func @anywhere(
//       CHECK:   scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step
//       CHECK:     scf.for %[[FIRST:.*]] = %c0{{.*}} to %c1000000{{.*}} step %c64
//       CHECK:       %[[WORD:.*]] = scf.if %{{.*}} -> (i64) {
//       CHECK:         %[[AT:.*]] = vector.load %{{.*}}[%[[FIRST]]] : memref<1000000xindex>, vector<64xindex>
//       CHECK:         arith.cmpi ult, %{{.*}} : vector<64xindex>
//       CHECK:       } else {
//       CHECK:         scf.for
//       CHECK:           arith.shli
//       CHECK:       }
//       CHECK:       math.ctpop %[[WORD]]
//       CHECK:       scf.for %{{.*}} iter_args(%[[LEFT:.*]] = %[[WORD]]) -> (i64) {
//       CHECK:         math.cttz %[[LEFT]]
//       CHECK:         memref.load %{{.*}} : memref<1000xf32>
//       CHECK:         memref.store %{{.*}} : memref<1000xf32>
//       CHECK:   } {kernel.parts = 3 : i64}
func.func @anywhere(%place: memref<1000000xindex>, %x: memref<1000000xf32>, %y: memref<1000xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %updates = arith.constant 1000000 : index
  scf.for %i = %zero to %updates step %one {
    %at = memref.load %place[%i] : memref<1000000xindex>
    %update = memref.load %x[%i] : memref<1000000xf32>
    %old = memref.load %y[%at] : memref<1000xf32>
    %sum = arith.addf %old, %update : f32
    memref.store %sum, %y[%at] : memref<1000xf32>
  }
  return
}

// -----

// Positions are compared in the type that they are read in.
// CHECK-LABEL: func.func @narrow(
//       CHECK:   arith.cmpi ult, %{{.*}} : vector<64xi32>
//       CHECK:   } {kernel.parts = 3 : i64}
func.func @narrow(%place: memref<1000000xi32>, %y: memref<1000xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %updates = arith.constant 1000000 : index
  %more = arith.constant 1.0 : f32
  scf.for %i = %zero to %updates step %one {
    %number = memref.load %place[%i] : memref<1000000xi32>
    %at = arith.index_cast %number : i32 to index
    %old = memref.load %y[%at] : memref<1000xf32>
    %sum = arith.addf %old, %more : f32
    memref.store %sum, %y[%at] : memref<1000xf32>
  }
  return
}

// -----

// Ten elements are in one line of the cache; and what decides where an update
// goes may not be what updates write.
// CHECK-LABEL: func.func @one_line(
//   CHECK-NOT:   kernel.parts
func.func @one_line(%place: memref<1000000xindex>, %y: memref<10xf32>, %z: memref<1000xindex>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %updates = arith.constant 1000000 : index
  scf.for %i = %zero to %updates step %one {
    %at = memref.load %place[%i] : memref<1000000xindex>
    %old = memref.load %y[%at] : memref<10xf32>
    %sum = arith.addf %old, %old : f32
    memref.store %sum, %y[%at] : memref<10xf32>
  }
  scf.for %i = %zero to %updates step %one {
    %next = arith.remui %i, %updates : index
    %at = memref.load %z[%next] : memref<1000xindex>
    memref.store %i, %z[%at] : memref<1000xindex>
  }
  return
}

// -----

// A row is made of the one before.
// CHECK-LABEL: func.func @steps(
//   CHECK-NOT:   kernel.parts
func.func @steps(%y: memref<1000000xf32>) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %count = arith.constant 1000000 : index
  scf.for %i = %one to %count step %one {
    %before = arith.subi %i, %one : index
    %old = memref.load %y[%before] : memref<1000000xf32>
    %new = arith.addf %old, %old : f32
    memref.store %new, %y[%i] : memref<1000000xf32>
  }
  return
}

// -----

// Memory that is not known to be other memory may be the same.
// CHECK-LABEL: func.func @unknown(
//   CHECK-NOT:   kernel.parts
func.func @unknown(%which: i1, %a: memref<1000000xf32>, %y: memref<1000000xf32>) {
  %x = arith.select %which, %a, %y : memref<1000000xf32>
  %one = arith.constant 1 : index
  %count = arith.constant 1000000 : index
  scf.for %i = %one to %count step %one {
    %before = arith.subi %i, %one : index
    %old = memref.load %x[%before] : memref<1000000xf32>
    memref.store %old, %y[%i] : memref<1000000xf32>
  }
  return
}

// -----

// Where iterations begin differs from row to row, so parts of two rows would
// overlap: the rows are cut, not what is in them.
// CHECK-LABEL: func.func @triangle(
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %{{.*}} step
//       CHECK:     arith.divsi
//       CHECK:     scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step
//       CHECK:       scf.for %{{.*}} = %[[ROW]] to
//       CHECK:   } {kernel.parts = 3 : i64}
func.func @triangle(%x: memref<2000x2000xf32>, %y: memref<2000x2000xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 2000 : index
  scf.for %i = %zero to %count step %one {
    scf.for %j = %i to %count step %one {
      %old = memref.load %x[%i, %j] : memref<2000x2000xf32>
      memref.store %old, %y[%i, %j] : memref<2000x2000xf32>
    }
  }
  return
}

// -----

// Too little work for anybody to be told.
// CHECK-LABEL: func.func @short(
//   CHECK-NOT:   kernel.parts
func.func @short(%x: memref<100xf32>, %y: memref<100xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 100 : index
  scf.for %i = %zero to %count step %one {
    %old = memref.load %x[%i] : memref<100xf32>
    memref.store %old, %y[%i] : memref<100xf32>
  }
  return
}

// -----

// Each iteration has a buffer that it makes: a part of the loop has one of its own, in lines of the cache of its own (100 numbers
// take 448 bytes), also where only a bound of the size is known.
// CHECK-LABEL: func.func @buffers(
//   CHECK-DAG:   %[[ROOM:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1344xi8>
//   CHECK-DAG:   %[[MORE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<192xi8>
//       CHECK:   scf.for %[[PART:.*]] = %{{.*}} to %{{.*}} step
//       CHECK:     scf.for
//   CHECK-NOT:       memref.alloc
//       CHECK:       %[[FROM:.*]] = arith.muli %[[PART]], %c448
//       CHECK:       memref.view %[[ROOM]][%[[FROM]]][] : memref<1344xi8> to memref<100xf32>
//       CHECK:       scf.for %[[INNER:.*]] = %{{.*}} to %c10{{.*}} step
//       CHECK:         %[[FROM:.*]] = arith.muli %[[PART]], %c64
//       CHECK:         memref.view %[[MORE]][%[[FROM]]][%[[INNER]]] : memref<192xi8> to memref<?xf32>
//       CHECK:   } {kernel.parts = 3 : i64}
func.func @buffers(%x: memref<3000x100xf32>, %y: memref<3000x100xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %count = arith.constant 3000 : index
  scf.for %i = %zero to %count step %one {
    %from = memref.subview %x[%i, 0] [1, 100] [1, 1] : memref<3000x100xf32> to memref<100xf32, strided<[1], offset: ?>>
    %to = memref.subview %y[%i, 0] [1, 100] [1, 1] : memref<3000x100xf32> to memref<100xf32, strided<[1], offset: ?>>
    %own = memref.alloc() {alignment = 64 : i64} : memref<100xf32>
    linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
        ins(%from : memref<100xf32, strided<[1], offset: ?>>) outs(%own : memref<100xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    }
    scf.for %j = %zero to %ten step %one {
      %some = memref.alloc(%j) {alignment = 64 : i64} : memref<?xf32>
      %first = memref.subview %own[0] [%j] [1] : memref<100xf32> to memref<?xf32, strided<[1]>>
      linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
          ins(%first : memref<?xf32, strided<[1]>>) outs(%some : memref<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.negf %a : f32
        linalg.yield %c : f32
      }
      linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
          ins(%some : memref<?xf32>) outs(%first : memref<?xf32, strided<[1]>>) {
      ^bb0(%a: f32, %b: f32):
        linalg.yield %a : f32
      }
    }
    linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
        ins(%own : memref<100xf32>) outs(%to : memref<100xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    }
  }
  return
}

// -----

// Nobody knows how large the buffers are.
// CHECK-LABEL: func.func @buffers_of_any_size(
//   CHECK-NOT:   kernel.parts
func.func @buffers_of_any_size(%size: index, %x: memref<3000x100xf32>, %y: memref<3000x100xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %columns = arith.constant 100 : index
  %count = arith.constant 3000 : index
  scf.for %i = %zero to %count step %one {
    %own = memref.alloc(%size) {alignment = 64 : i64} : memref<?xf32>
    scf.for %j = %zero to %columns step %one {
      %0 = memref.load %x[%i, %j] : memref<3000x100xf32>
      memref.store %0, %own[%j] : memref<?xf32>
      %1 = memref.load %own[%j] : memref<?xf32>
      memref.store %1, %y[%i, %j] : memref<3000x100xf32>
    }
  }
  return
}

// RUN: shard-opt %s --spmd-compute-in-place --allow-unregistered-dialect --split-input-file | FileCheck %s

#same = affine_map<(i, j) -> (i, j)>
#across = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>

// A chain is where its result is.
// CHECK-LABEL: func.func @chain(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<4x4xf32>, %[[OUT:[a-z0-9]+]]: memref<4x4xf32>
//   CHECK-NOT:   memref.alloc
//       CHECK:   "test.make"(%[[X]], %[[OUT]])
//       CHECK:   "test.look"(%[[OUT]])
//       CHECK:   linalg.generic {{.*}} ins(%[[OUT]] : memref<4x4xf32>) outs(%[[OUT]] : memref<4x4xf32>)
//       CHECK:   "test.look"(%[[OUT]])
//       CHECK:   linalg.generic {{.*}} ins(%[[X]], %[[OUT]] : {{.*}}) outs(%[[OUT]] :
func.func @chain(%x: memref<4x4xf32>, %out: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  "test.make"(%x, %a) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  "test.look"(%a) : (memref<4x4xf32>) -> ()
  %b = memref.alloc() : memref<4x4xf32>
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  "test.look"(%b) : (memref<4x4xf32>) -> ()
  linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%x, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%out : memref<4x4xf32>) {
  ^bb0(%one: f32, %two: f32, %old: f32):
    %0 = arith.addf %one, %two : f32
    linalg.yield %0 : f32
  }
  return
}

// Each of two results takes the place of one operand.
// CHECK-LABEL: func.func @two_results(
//  CHECK-SAME:   %[[ONE:[a-z0-9]+]]: memref<4x4xf32>, %[[TWO:[a-z0-9]+]]: memref<4x4xf32>
//   CHECK-NOT:   memref.alloc
//       CHECK:   "test.make"(%[[ONE]], %[[TWO]])
//       CHECK:   linalg.generic {{.*}} ins(%[[ONE]], %[[TWO]] : {{.*}}) outs(%[[ONE]], %[[TWO]] :
func.func @two_results(%one: memref<4x4xf32>, %two: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  %b = memref.alloc() : memref<4x4xf32>
  "test.make"(%a, %b) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  linalg.generic {indexing_maps = [#same, #same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%a, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%one, %two : memref<4x4xf32>, memref<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32, %before: f32):
    %0 = arith.addf %x, %y : f32
    %1 = arith.subf %x, %y : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}

// Read by a later op, in another order, by another element's iteration, by
// index, or as a part.
// CHECK-LABEL: func.func @read_later(
// CHECK:         memref.alloc
func.func @read_later(%out: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  "test.make"(%a) : (memref<4x4xf32>) -> ()
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x4xf32>) outs(%out : memref<4x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  "test.look"(%a) : (memref<4x4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @transposed(
// CHECK:         memref.alloc
func.func @transposed(%out: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  "test.make"(%a) : (memref<4x4xf32>) -> ()
  linalg.generic {indexing_maps = [#across, #same], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x4xf32>) outs(%out : memref<4x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: func.func @both_ways(
// CHECK:         memref.alloc
func.func @both_ways(%out: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  "test.make"(%a) : (memref<4x4xf32>) -> ()
  linalg.generic {indexing_maps = [#same, #across, #same], iterator_types = ["parallel", "parallel"]} ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%out : memref<4x4xf32>) {
  ^bb0(%in: f32, %other: f32, %old: f32):
    %0 = arith.addf %in, %other : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: func.func @loaded(
// CHECK:         memref.alloc
func.func @loaded(%out: memref<4x4xf32>) {
  %zero = arith.constant 0 : index
  %a = memref.alloc() : memref<4x4xf32>
  "test.make"(%a) : (memref<4x4xf32>) -> ()
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x4xf32>) outs(%out : memref<4x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %first = memref.load %a[%zero, %zero] : memref<4x4xf32>
    %0 = arith.addf %in, %first : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: func.func @read_as_a_part(
// CHECK:         memref.alloc
func.func @read_as_a_part(%out: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  "test.make"(%a) : (memref<4x4xf32>) -> ()
  %column = memref.subview %a[0, 1] [4, 1] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[4], offset: 1>>
  linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]} ins(%a, %column : memref<4x4xf32>, memref<4xf32, strided<[4], offset: 1>>) outs(%out : memref<4x4xf32>) {
  ^bb0(%in: f32, %other: f32, %old: f32):
    %0 = arith.addf %in, %other : f32
    linalg.yield %0 : f32
  }
  return
}

// What the result is written to has been used before.
// CHECK-LABEL: func.func @result_in_use(
// CHECK:         memref.alloc
func.func @result_in_use(%out: memref<4x4xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  "test.make"(%a) : (memref<4x4xf32>) -> ()
  "test.look"(%out) : (memref<4x4xf32>) -> ()
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x4xf32>) outs(%out : memref<4x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  return
}

// A loop's next iteration would find it written over.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         memref.alloc
func.func @in_a_loop(%out: memref<4x4xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() : memref<4x4xf32>
  "test.make"(%a) : (memref<4x4xf32>) -> ()
  scf.for %i = %zero to %n step %one {
    linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x4xf32>) outs(%out : memref<4x4xf32>) {
    ^bb0(%in: f32, %old: f32):
      %0 = arith.negf %in : f32
      linalg.yield %0 : f32
    }
  }
  return
}

// A product's result is finished where it is in registers.
// CHECK-LABEL: func.func @finished(
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK:         linalg.generic {{.*}} ins(%[[A]] :
func.func @finished(%x: memref<4x4x4xf32>, %out: memref<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4x4xf32>
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel", "parallel"]} outs(%a : memref<4x4xf32>) {
  ^bb0(%old: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : memref<4x4x4xf32>) outs(%a : memref<4x4xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x4xf32>) outs(%out : memref<4x4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// The result may be the donated argument, which is read when the operand has
// been made.
#same = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @donated_read_between(
// CHECK:         memref.alloc
func.func @donated_read_between(%state: memref<4xf32>, %out: memref<4xf32> {kernel.in_place = 0 : i64}) {
  %a = memref.alloc() : memref<4xf32>
  "test.make"(%a) : (memref<4xf32>) -> ()
  linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]} ins(%state, %a : memref<4xf32>, memref<4xf32>) outs(%out : memref<4xf32>) {
  ^bb0(%in: f32, %other: f32, %old: f32):
    %0 = arith.addf %in, %other : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: func.func @donated_read_before(
//  CHECK-SAME:   memref<4xf32>, %[[OUT:[a-z0-9]+]]: memref<4xf32>
//   CHECK-NOT:   memref.alloc
//       CHECK:   linalg.generic {{.*}} ins(%[[OUT]] : memref<4xf32>) outs(%[[OUT]] :
func.func @donated_read_before(%state: memref<4xf32>, %out: memref<4xf32> {kernel.in_place = 0 : i64}) {
  "test.look"(%state) : (memref<4xf32>) -> ()
  %a = memref.alloc() : memref<4xf32>
  "test.make"(%a) : (memref<4xf32>) -> ()
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%out : memref<4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Other ranks may read what a site was given.
#same = affine_map<(i) -> (i)>
spmd.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @given_to_a_site(
// CHECK-COUNT-2: memref.alloc
func.func @given_to_a_site(%out: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<6xf32>
  "test.make"(%a) : (memref<4xf32>) -> ()
  kernel.run_site 0 ins(%a : memref<4xf32>) outs(%b : memref<6xf32>)
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%out : memref<4xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A product whose result is added to its own factor: one kernel does both, and still reads the factor when it writes.
#rows = affine_map<(i, j, k) -> (i, k)>
#columns = affine_map<(i, j, k) -> (k, j)>
#sums = affine_map<(i, j, k) -> (i, j)>
#same = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @added_to_a_factor(
// CHECK-COUNT-2: memref.alloc
//     CHECK-NOT: memref.alloc
//         CHECK: linalg.generic {{.*}}"reduction"
//         CHECK: linalg.generic {{.*}} outs(%{{out|arg1}} : memref<4x4xf32>)
func.func @added_to_a_factor(%w: memref<4x4xf32>, %out: memref<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<4x4xf32>
  %d = memref.alloc() : memref<4x4xf32>
  "test.make"(%x) : (memref<4x4xf32>) -> ()
  linalg.generic {indexing_maps = [#same], iterator_types = ["parallel", "parallel"]} outs(%d : memref<4x4xf32>) {
  ^bb0(%old: f32):
    linalg.yield %zero : f32
  }
  linalg.generic {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%d : memref<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]} ins(%d, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%out : memref<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

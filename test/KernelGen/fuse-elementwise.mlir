// RUN: shard-opt %s --spmd-fuse-elementwise | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// An expensive op with one reader becomes part of the reduction that reads it.
// CHECK-LABEL: func.func @prologue_of_a_reduction(
//       CHECK:   linalg.generic {{.*}}iterator_types = ["reduction"]
//       CHECK:     math.exp
//       CHECK:     arith.addf
//   CHECK-NOT:   linalg.generic
func.func @prologue_of_a_reduction(%x: tensor<64xf32>, %start: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%y : tensor<64xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// What two ops read is computed once where it is expensive.
// CHECK-LABEL: func.func @expensive_and_read_twice(
//       CHECK:   math.exp
//   CHECK-NOT:   math.exp
//       CHECK:   return
func.func @expensive_and_read_twice(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %p, %q : tensor<64xf32>, tensor<64xf32>
}

// What is read twice stays in a register where all readers end in one result.
// CHECK-LABEL: func.func @read_twice_on_the_way_to_one_result(
//  CHECK-SAME:   %[[X:.*]]: tensor<64xf32>, %[[Y:.*]]: tensor<64xf32>)
//       CHECK:   %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[Y]] :
//       CHECK:   ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
//       CHECK:     %[[E:.*]] = math.exp %[[A]]
//       CHECK:     %[[S:.*]] = arith.subf %[[E]], %[[B]]
//       CHECK:     %[[T:.*]] = math.tanh %[[S]]
//       CHECK:     %[[P:.*]] = arith.mulf %[[E]], %[[T]]
//       CHECK:     linalg.yield %[[P]]
//   CHECK-NOT:   linalg.generic
//       CHECK:   return %[[ALL]]
func.func @read_twice_on_the_way_to_one_result(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %exp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %tanh = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%exp, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.tanh %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  %product = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%exp, %tanh : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %product : tensor<64xf32>
}

// State that is returned, and read once more on the way to other state, is made in the same loop: a moment of an optimizer.
// CHECK-LABEL: func.func @returned_and_read_once_more(
//       CHECK:   %[[BOTH:.*]]:2 = linalg.generic
//       CHECK:     %[[M:.*]] = math.exp
//       CHECK:     %[[P:.*]] = math.tanh %[[M]]
//       CHECK:     linalg.yield %[[P]], %[[M]]
//   CHECK-NOT:   linalg.generic
//       CHECK:   return %[[BOTH]]#1, %[[BOTH]]#0
func.func @returned_and_read_once_more(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%m : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %m, %p : tensor<64xf32>, tensor<64xf32>
}

// What a sum makes is left to the one op that its kernel goes on with.
// CHECK-LABEL: func.func @behind_a_sum(
// CHECK-COUNT-3: linalg.generic
func.func @behind_a_sum(%x: tensor<64x8xf32>, %start: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x8xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%s : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%m : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %m, %p : tensor<64xf32>, tensor<64xf32>
}

// A scale by channels, read as groups of channels by two sums: both read what
// is scaled, and nothing keeps the product.
// CHECK-LABEL: func.func @scale_of_groups(
//  CHECK-SAME:   %[[X:.*]]: tensor<4x6x32xf32>, %[[G:.*]]: tensor<6xf32>
//   CHECK-DAG:   %[[XG:.*]] = tensor.expand_shape %[[X]]
//   CHECK-DAG:   %[[GG:.*]] = tensor.expand_shape %[[G]]
//       CHECK:   linalg.generic {{.*}} ins(%[[XG]], %[[GG]] :
//       CHECK:   linalg.generic {{.*}} ins(%[[XG]], %[[GG]] :
//   CHECK-NOT:   linalg.generic
#c3 = affine_map<(n, c, i) -> (n, c, i)>
#ch = affine_map<(n, c, i) -> (c)>
#p4 = affine_map<(n, g, c, i) -> (n, g, c, i)>
#ng = affine_map<(n, g, c, i) -> (n, g)>
func.func @scale_of_groups(%x: tensor<4x6x32xf32>, %g: tensor<6xf32>, %a: tensor<4x2xf32>, %b: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %e = tensor.empty() : tensor<4x6x32xf32>
  %s = linalg.generic {indexing_maps = [#c3, #ch, #c3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %g : tensor<4x6x32xf32>, tensor<6xf32>) outs(%e : tensor<4x6x32xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.mulf %u, %v : f32
    linalg.yield %0 : f32
  } -> tensor<4x6x32xf32>
  %p = tensor.expand_shape %s [[0], [1, 2], [3]] output_shape [4, 2, 3, 32] : tensor<4x6x32xf32> into tensor<4x2x3x32xf32>
  %sum = linalg.generic {indexing_maps = [#p4, #ng], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%p : tensor<4x2x3x32xf32>) outs(%a : tensor<4x2xf32>) {
  ^bb0(%u: f32, %o: f32):
    %0 = arith.addf %o, %u : f32
    linalg.yield %0 : f32
  } -> tensor<4x2xf32>
  %most = linalg.generic {indexing_maps = [#p4, #ng], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%p : tensor<4x2x3x32xf32>) outs(%b : tensor<4x2xf32>) {
  ^bb0(%u: f32, %o: f32):
    %0 = arith.maximumf %o, %u : f32
    linalg.yield %0 : f32
  } -> tensor<4x2xf32>
  return %sum, %most : tensor<4x2xf32>, tensor<4x2xf32>
}

// A loop that reads where each of its updates goes computes it as it reads: no array of places.
#place = affine_map<(d0, d1) -> (d0)>
#placed = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @places(
//  CHECK-SAME:   %[[INDEX:.*]]: tensor<50xi32>,
//   CHECK-NOT:   linalg.generic
//       CHECK:   scf.for %[[I:.*]] = %{{.*}} to
//       CHECK:     %[[NUMBER:.*]] = tensor.extract %[[INDEX]][%[[I]]] : tensor<50xi32>
//       CHECK:     arith.addi %[[NUMBER]], %{{.*}} : i32
//       CHECK:     tensor.insert
func.func @places(%index: tensor<50xi32>, %x: tensor<9xf32>) -> tensor<9xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 50 : index
  %three = arith.constant 3 : i32
  %e = tensor.empty() : tensor<50x1xi32>
  %places = linalg.generic {indexing_maps = [#place, #placed], iterator_types = ["parallel", "parallel"]} ins(%index : tensor<50xi32>) outs(%e : tensor<50x1xi32>) {
  ^bb0(%a: i32, %o: i32):
    %0 = arith.addi %a, %three : i32
    linalg.yield %0 : i32
  } -> tensor<50x1xi32>
  %column = tensor.extract_slice %places[0, 0] [50, 1] [1, 1] : tensor<50x1xi32> to tensor<50xi32>
  %result = scf.for %i = %zero to %end step %one iter_args(%old = %x) -> (tensor<9xf32>) {
    %number = tensor.extract %column[%i] : tensor<50xi32>
    %at = arith.index_cast %number : i32 to index
    %before = tensor.extract %old[%at] : tensor<9xf32>
    %after = arith.addf %before, %before : f32
    %next = tensor.insert %after into %old[%at] : tensor<9xf32>
    scf.yield %next : tensor<9xf32>
  }
  return %result : tensor<9xf32>
}

// Not what the loop changes: it would have to be kept as it was.
// CHECK-LABEL: func.func @changed(
//       CHECK:   linalg.generic
func.func @changed(%x: tensor<50xi32>) -> tensor<50xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 50 : index
  %three = arith.constant 3 : i32
  %e = tensor.empty() : tensor<50xi32>
  %places = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<50xi32>) outs(%e : tensor<50xi32>) {
  ^bb0(%a: i32, %o: i32):
    %0 = arith.addi %a, %three : i32
    linalg.yield %0 : i32
  } -> tensor<50xi32>
  %result = scf.for %i = %zero to %end step %one iter_args(%old = %x) -> (tensor<50xi32>) {
    %number = tensor.extract %places[%i] : tensor<50xi32>
    %at = arith.index_cast %number : i32 to index
    %next = tensor.insert %number into %old[%at] : tensor<50xi32>
    scf.yield %next : tensor<50xi32>
  }
  return %result : tensor<50xi32>
}

// A dim of one element repeats nothing: what becomes a column is part of it, however much it takes.
#places = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @column(
//       CHECK:   linalg.generic
//       CHECK:     math.exp
//   CHECK-NOT:   linalg.generic
func.func @column(%x: tensor<50xf32>) -> tensor<50x1xf32> {
  %e = tensor.empty() : tensor<50xf32>
  %y = linalg.generic {indexing_maps = [#places, #places], iterator_types = ["parallel"]} ins(%x : tensor<50xf32>) outs(%e : tensor<50xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<50xf32>
  %c = tensor.empty() : tensor<50x1xf32>
  %z = linalg.generic {indexing_maps = [#place, #placed], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<50xf32>) outs(%c : tensor<50x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<50x1xf32>
  return %z : tensor<50x1xf32>
}

// Nor where a column becomes places again: it has no loop there.
#first = affine_map<(d0) -> (d0, 0)>
// CHECK-LABEL: func.func @of_a_column(
//       CHECK:   linalg.generic
//       CHECK:     math.exp
//       CHECK:     math.cos
//   CHECK-NOT:   linalg.generic
func.func @of_a_column(%x: tensor<50xf32>) -> tensor<50xf32> {
  %c = tensor.empty() : tensor<50x1xf32>
  %y = linalg.generic {indexing_maps = [#place, #placed], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<50xf32>) outs(%c : tensor<50x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<50x1xf32>
  %e = tensor.empty() : tensor<50xf32>
  %z = linalg.generic {indexing_maps = [#first, #places], iterator_types = ["parallel"]} ins(%y : tensor<50x1xf32>) outs(%e : tensor<50xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.cos %a : f32
    linalg.yield %0 : f32
  } -> tensor<50xf32>
  return %z : tensor<50xf32>
}

// Not where the column is repeated: a function of each element is taken once.
// What reads it has a loop of its own.
#second = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @column_repeated(
//       CHECK:   linalg.generic
//       CHECK:     math.exp
//       CHECK:   linalg.generic
func.func @column_repeated(%x: tensor<50xf32>) -> tensor<50x7xf32> {
  %c = tensor.empty() : tensor<50x1xf32>
  %y = linalg.generic {indexing_maps = [#place, #placed], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<50xf32>) outs(%c : tensor<50x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<50x1xf32>
  %e = tensor.empty() : tensor<50x7xf32>
  %z = linalg.generic {indexing_maps = [#second, #placed], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<50x1xf32>) outs(%e : tensor<50x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<50x7xf32>
  return %z : tensor<50x7xf32>
}

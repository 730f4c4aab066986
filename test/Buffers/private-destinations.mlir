// RUN: shard-opt %s --spmd-private-destinations | FileCheck %s

// What a loop carries on to an output is changed there. It is read elsewhere, so it must not begin in the output.
// CHECK-LABEL: func.func @carried_by_a_loop(
//       CHECK:   %[[OWN:.*]] = bufferization.alloc_tensor() : tensor<4xf32>
//       CHECK:   %[[MADE:.*]] = linalg.generic {{.*}} outs(%[[OWN]] : tensor<4xf32>)
//       CHECK:   scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[MADE]])
#map = affine_map<(i) -> (i)>
func.func @carried_by_a_loop(%x: tensor<4xf32>, %n: index, %first: memref<4xf32>, %second: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<4xf32>
  %made = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %b = arith.negf %a : f32
    linalg.yield %b : f32
  } -> tensor<4xf32>
  %last:2 = scf.while (%i = %c0, %t = %made) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i, %t : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %t: tensor<4xf32>):
    %twice = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) {
    ^bb0(%a: f32, %out: f32):
      %b = arith.addf %a, %a : f32
      linalg.yield %b : f32
    } -> tensor<4xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %twice : index, tensor<4xf32>
  }
  bufferization.materialize_in_destination %last#1 in restrict writable %first : (tensor<4xf32>, memref<4xf32>) -> ()
  bufferization.materialize_in_destination %made in restrict writable %second : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// Read nowhere else, it may be built in the output.
// CHECK-LABEL: func.func @carried_alone(
//   CHECK-NOT:   bufferization.alloc_tensor
//       CHECK:   return
func.func @carried_alone(%x: tensor<4xf32>, %n: index, %first: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<4xf32>
  %made = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %b = arith.negf %a : f32
    linalg.yield %b : f32
  } -> tensor<4xf32>
  %last:2 = scf.while (%i = %c0, %t = %made) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i, %t : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %t: tensor<4xf32>):
    %twice = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) {
    ^bb0(%a: f32, %out: f32):
      %b = arith.addf %a, %a : f32
      linalg.yield %b : f32
    } -> tensor<4xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %twice : index, tensor<4xf32>
  }
  bufferization.materialize_in_destination %last#1 in restrict writable %first : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// What is computed under another shape than the one it is inserted in is built where it is inserted.
// CHECK-LABEL: func.func @inserted_in_another_shape(
//       CHECK:   %[[PART:.*]] = tensor.extract_slice %{{.*}}[1] [6] [1] : tensor<9xf32> to tensor<6xf32>
//       CHECK:   %[[SHAPE:.*]] = tensor.expand_shape %[[PART]] {{\[\[}}0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
//       CHECK:   linalg.generic {{.*}} outs(%[[SHAPE]] : tensor<3x2xf32>)
//       CHECK:   tensor.insert_slice
#rows = affine_map<(d0, d1) -> (d0)>
#both = affine_map<(d0, d1) -> (d0, d1)>
func.func @inserted_in_another_shape(%x: tensor<3xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  %empty = tensor.empty() : tensor<3x2xf32>
  %twice = linalg.generic {indexing_maps = [#rows, #both], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3xf32>) outs(%empty : tensor<3x2xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<3x2xf32>
  %line = tensor.collapse_shape %twice [[0, 1]] : tensor<3x2xf32> into tensor<6xf32>
  %0 = tensor.insert_slice %line into %y[1] [6] [1] : tensor<6xf32> into tensor<9xf32>
  return %0 : tensor<9xf32>
}

// Not behind others that need memory: what it reads would be held beside them.
// CHECK-LABEL: func.func @made_before_others(
//   CHECK-NOT:   tensor.expand_shape
func.func @made_before_others(%x: tensor<3xf32>, %y: tensor<9xf32>) -> (tensor<9xf32>, tensor<3xf32>) {
  %empty = tensor.empty() : tensor<3x2xf32>
  %twice = linalg.generic {indexing_maps = [#rows, #both], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3xf32>) outs(%empty : tensor<3x2xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<3x2xf32>
  %line = tensor.collapse_shape %twice [[0, 1]] : tensor<3x2xf32> into tensor<6xf32>
  %other = tensor.empty() : tensor<3xf32>
  %exp = linalg.exp ins(%x : tensor<3xf32>) outs(%other : tensor<3xf32>) -> tensor<3xf32>
  %0 = tensor.insert_slice %line into %y[1] [6] [1] : tensor<6xf32> into tensor<9xf32>
  return %0, %exp : tensor<9xf32>, tensor<3xf32>
}


// Parts of an output: the first one begins in it, and so do the others.
// CHECK-LABEL: func.func @parts(
//  CHECK-SAME:   %[[OUT:[a-z0-9]+]]: memref<8x2xf32>
//       CHECK:   %[[BEGIN:.*]] = bufferization.to_tensor %[[OUT]] restrict writable
//       CHECK:   %[[ONE:.*]] = tensor.insert_slice %{{.*}} into %[[BEGIN]][0, 0]
//       CHECK:   %[[TWO:.*]] = tensor.insert_slice %{{.*}} into %[[ONE]][0, 1]
//       CHECK:   bufferization.materialize_in_destination %[[TWO]] in writable %[[OUT]]
func.func @parts(%x: tensor<8x1xf32>, %y: tensor<8x1xf32>, %out: memref<8x2xf32>) {
  %e = tensor.empty() : tensor<8x1xf32>
  %a = linalg.exp ins(%x : tensor<8x1xf32>) outs(%e : tensor<8x1xf32>) -> tensor<8x1xf32>
  %b = linalg.negf ins(%y : tensor<8x1xf32>) outs(%e : tensor<8x1xf32>) -> tensor<8x1xf32>
  %both = tensor.empty() : tensor<8x2xf32>
  %one = tensor.insert_slice %a into %both[0, 0] [8, 1] [1, 1] : tensor<8x1xf32> into tensor<8x2xf32>
  %two = tensor.insert_slice %b into %one[0, 1] [8, 1] [1, 1] : tensor<8x1xf32> into tensor<8x2xf32>
  bufferization.materialize_in_destination %two in restrict writable %out : (tensor<8x2xf32>, memref<8x2xf32>) -> ()
  return
}


// What is read between two parts is not built in the output.
// CHECK-LABEL: func.func @parts_read(
//   CHECK-NOT:   to_tensor
//       CHECK:   bufferization.alloc_tensor
func.func @parts_read(%x: tensor<8x1xf32>, %out: memref<8x2xf32>, %other: memref<8x2xf32>) {
  %both = tensor.empty() : tensor<8x2xf32>
  %one = tensor.insert_slice %x into %both[0, 0] [8, 1] [1, 1] : tensor<8x1xf32> into tensor<8x2xf32>
  %two = tensor.insert_slice %x into %one[0, 1] [8, 1] [1, 1] : tensor<8x1xf32> into tensor<8x2xf32>
  bufferization.materialize_in_destination %one in restrict writable %other : (tensor<8x2xf32>, memref<8x2xf32>) -> ()
  bufferization.materialize_in_destination %two in restrict writable %out : (tensor<8x2xf32>, memref<8x2xf32>) -> ()
  return
}

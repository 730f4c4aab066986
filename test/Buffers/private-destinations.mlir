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

// What is equal is computed once, also where all that could differ is in regions.
// RUN: shard-opt %s --spmd-merge-equal-ops -o %t && FileCheck %s < %t
// MLIR's own pass finds the same.
// RUN: shard-opt %s --cse | diff %t -

// Three loops with the same operands: the first and the last add the same, the one between them another argument. The attribute by which
// they are told apart is gone.
// CHECK-NOT: fingerprint
// CHECK-LABEL: func.func @loops
// CHECK: %[[A:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %arg0)
// CHECK: arith.addf %{{.*}}, %arg1
// CHECK: %[[B:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %arg0)
// CHECK: arith.addf %{{.*}}, %arg2
// CHECK-NOT: scf.for
// CHECK: return %[[A]], %[[B]], %[[A]]
func.func @loops(%zero: f32, %x: f32, %y: f32, %n: index) -> (f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %t = arith.addf %s, %y : f32
    scf.yield %t : f32
  }
  %c = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  }
  return %a, %b, %c : f32, f32, f32
}

// What two regions take from outside is equal only once it has been merged itself, or is one sum in two orders.
// CHECK-LABEL: func.func @captured
// CHECK-COUNT-1: arith.addi
// CHECK-COUNT-1: scf.if
// CHECK-NOT: scf.if
// CHECK: return %[[IF:.*]], %[[IF]]
func.func @captured(%p: i1, %x: i32, %y: i32) -> (i32, i32) {
  %s = arith.addi %x, %y : i32
  %t = arith.addi %y, %x : i32
  %a = scf.if %p -> i32 {
    scf.yield %s : i32
  } else {
    scf.yield %x : i32
  }
  %b = scf.if %p -> i32 {
    scf.yield %t : i32
  } else {
    scf.yield %x : i32
  }
  return %a, %b : i32, i32
}

// What a loop computes anew each time is what was computed before it.
// CHECK-LABEL: func.func @inside
// CHECK: %[[EXP:.*]] = linalg.generic
// CHECK: scf.for
// CHECK-NOT: linalg.generic
// CHECK: linalg.add ins(%{{.*}}, %[[EXP]]
func.func @inside(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %v = math.exp %in : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> tensor<4xf32> {
    %f = tensor.empty() : tensor<4xf32>
    %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %v = math.exp %in : f32
      linalg.yield %v : f32
    } -> tensor<4xf32>
    %t = linalg.add ins(%s, %b : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

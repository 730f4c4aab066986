// RUN: shard-opt %s --spmd-fit-memory=limit=40000 | FileCheck %s
// RUN: shard-opt %s --spmd-fit-memory=limit=100000000 | FileCheck %s --check-prefix=WIDE
// RUN: shard-opt %s --spmd-fit-memory="limit=100 blocks=false" | FileCheck %s --check-prefix=TIGHT

spmd.mesh @mesh = <["x"=2]>

// A chain on rows that ends in a sum is a loop with an accumulator; rows that are left
// over when blocks have one size come behind it.
// CHECK-LABEL: func.func @chain_of_rows(
//  CHECK-SAME:   local.memory_plan = #local.memory_plan<fits = true, {{.*}}repeated = 0, loops = 1, added_percent = 0>
//       CHECK:   %[[LOOP:.*]]:2 = stablehlo.while{{.*}}local.blocks = array<i64: {{[0-9]+}}, [[ROWS:[0-9]+]], 1009>
//       CHECK:     stablehlo.dynamic_slice {{.*}} -> tensor<[[ROWS]]x16xf32>
//       CHECK:     stablehlo.dot_general {{.*}} -> tensor<[[ROWS]]x16xf32>
//       CHECK:     stablehlo.tanh {{.*}} tensor<[[ROWS]]x16xf32>
//       CHECK:     %[[PART:.*]] = stablehlo.reduce
//       CHECK:     stablehlo.add %{{.*}}, %[[PART]] : tensor<16xf32>
//       CHECK:   %[[REST:.*]] = stablehlo.dynamic_slice
//       CHECK:   stablehlo.add %[[LOOP]]#1
//   CHECK-NOT:   tensor<1009x16xf32> ->
// WIDE-LABEL: func.func @chain_of_rows(
//   WIDE-NOT:   stablehlo.while
//       WIDE:   tanh {{.*}} tensor<1009x16xf32>
func.func @chain_of_rows(%x: tensor<1009x16xf32>, %w: tensor<16x16xf32>) -> tensor<16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1009x16xf32>, tensor<16x16xf32>) -> tensor<1009x16xf32>
  %1 = stablehlo.tanh %0 : tensor<1009x16xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<1009x16xf32>, tensor<16x16xf32>) -> tensor<1009x16xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1009x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}

// What waits for a late use is made again, behind a barrier that keeps it from being
// taken for the same.
// CHECK-LABEL: func.func @waits(
// TIGHT-LABEL: func.func @waits(
//       TIGHT:   stablehlo.dot_general %arg0, %arg1
//       TIGHT:   stablehlo.sort
//       TIGHT:   %[[AGAIN:.*]]:2 = stablehlo.optimization_barrier {local.again = 1 : i64} %arg0, %arg1
//       TIGHT:   %[[B:.*]] = stablehlo.dot_general %[[AGAIN]]#0, %[[AGAIN]]#1
//       TIGHT:   stablehlo.dot_general %{{.*}}, %[[B]]
func.func @waits(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [0] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "stablehlo.sort"(%1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %5 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = "stablehlo.sort"(%2) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %5 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = stablehlo.dot_general %3, %0, contracting_dims = [0] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// Sums of 16-bit floats are not taken apart, nor what starts from something else than zero.
// CHECK-LABEL: func.func @no_rows(
//   CHECK-NOT:   stablehlo.while
//       CHECK:   return
func.func @no_rows(%x: tensor<20000x16xbf16>, %y: tensor<20000x16xf32>, %start: tensor<f32>) -> (tensor<16xbf16>, tensor<16xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<20000x16xbf16>, tensor<bf16>) -> tensor<16xbf16>
  %1 = stablehlo.reduce(%y init: %start) applies stablehlo.add across dimensions = [0] : (tensor<20000x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0, %1 : tensor<16xbf16>, tensor<16xf32>
}

// What an exchange that is under way reads is held, and both of its halves read the same.
// TIGHT-LABEL: func.func @under_way(
//       TIGHT:   %[[SENT:.*]] = stablehlo.cosine
//       TIGHT:   %[[TOKEN:.*]] = local.exchange_start %[[SENT]]
//       TIGHT:   local.exchange_wait %[[TOKEN]] of %[[SENT]]
func.func @under_way(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.cosine %x : tensor<64x64xf32>
  %token = local.exchange_start %0 : tensor<64x64xf32>
  %1 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "stablehlo.sort"(%1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = local.exchange_wait %token of %0 "reverse" [<dim 0 along ["x"] : [0:64, 64:128] -> [64:128, 0:64]>] on @mesh : tensor<64x64xf32> -> tensor<64x64xf32>
  %4 = stablehlo.add %2, %3 : tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

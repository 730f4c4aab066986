// RUN: shard-opt %s --spmd-fuse-prologues --split-input-file | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// A scale before a product is part of it: one block meets each element.
// CHECK-LABEL: func @scale_of_few_columns(
//  CHECK-SAME:   %[[A:.*]]: tensor<?x256xf32>, %[[SCALE:.*]]: tensor<256xf32>, %[[B:.*]]: tensor<256x64xf32>
//   CHECK-NOT:   linalg.generic
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[SCALE]], %[[B]] :
//   CHECK-NOT:   linalg.generic
func.func @scale_of_few_columns(%a: tensor<?x256xf32>, %scale: tensor<256xf32>, %b: tensor<256x64xf32>, %e: tensor<?x256xf32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%a, %scale : tensor<?x256xf32>, tensor<256xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %1 = arith.mulf %x, %s : f32
    linalg.yield %1 : f32
  } -> tensor<?x256xf32>
  %2 = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %b : tensor<?x256xf32>, tensor<256x64xf32>) outs(%c : tensor<?x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
#second = affine_map<(d0, d1) -> (d1)>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// Eight blocks would compute it again; and of what two lines make, no operand has all elements.
// CHECK-LABEL: func @many_columns_and_outer_products(
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<512x256xf32>, tensor<256x1024xf32>)
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<512x256xf32>, tensor<256x64xf32>)
func.func @many_columns_and_outer_products(%a: tensor<512x256xf32>, %b: tensor<256x1024xf32>, %l: tensor<512xf32>, %m: tensor<256xf32>, %d: tensor<256x64xf32>,
    %e: tensor<512x256xf32>, %c: tensor<512x1024xf32>, %f: tensor<512x64xf32>) -> (tensor<512x1024xf32>, tensor<512x64xf32>) {
  %0 = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<512x256xf32>) outs(%e : tensor<512x256xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.mulf %x, %x : f32
    linalg.yield %1 : f32
  } -> tensor<512x256xf32>
  %2 = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%0, %b : tensor<512x256xf32>, tensor<256x1024xf32>) outs(%c : tensor<512x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<512x1024xf32>
  %5 = linalg.generic {indexing_maps = [#first, #second, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%l, %m : tensor<512xf32>, tensor<256xf32>) outs(%e : tensor<512x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %6 = arith.addf %x, %y : f32
    linalg.yield %6 : f32
  } -> tensor<512x256xf32>
  %7 = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%5, %d : tensor<512x256xf32>, tensor<256x64xf32>) outs(%f : tensor<512x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %8 = arith.mulf %x, %y : f32
    %9 = arith.addf %o, %8 : f32
    linalg.yield %9 : f32
  } -> tensor<512x64xf32>
  return %2, %7 : tensor<512x1024xf32>, tensor<512x64xf32>
}

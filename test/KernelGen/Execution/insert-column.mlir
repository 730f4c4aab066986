// RUN: kernel-check %s --dims=7,5,7,3 | FileCheck %s
// CHECK: EQUAL
// One column of one matrix of several, in a buffer of unknown strides: the insertion leaves out the last dim, and keeps a
// first one of one element too.
func.func @main(%u: tensor<1x?xf32>, %x: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %u, %c1 : tensor<1x?xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>],
                         iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x?x?xf32>) outs(%x : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x?x?xf32>
  %0 = tensor.insert_slice %u into %sum[%c2, 0, %c1] [1, %n, 1] [1, 1, 1] : tensor<1x?xf32> into tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

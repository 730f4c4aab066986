// RUN: kernel-check %s  | FileCheck %s
// RUN: kernel-check %s --vector-bits=256  | FileCheck %s
// RUN: kernel-check %s --vector-bits=128  | FileCheck %s
// CHECK: EQUAL
#id = affine_map<(a, b) -> (a, b)>
#t = affine_map<(a, b) -> (b, a)>
#row = affine_map<(a, b) -> (a)>
func.func @main(%x: tensor<33x47xf32>, %i: tensor<20xi32>, %k: tensor<33x47xi1>, %y: tensor<33x47xf32>) -> (tensor<47x33xf32>, tensor<20x47xf32>, tensor<33xf32>, tensor<33xi32>, tensor<33x47xi1>, tensor<33x47xf32>, tensor<33x47xi32>, tensor<35x49xf32>, tensor<53x47xf32>, tensor<16x23xf32>, tensor<33x47xf32>) {
  %ninf = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 0 : i32
  // transpose
  %et = tensor.empty() : tensor<47x33xf32>
  %tr = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<33x47xf32>) outs(%et : tensor<47x33xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<47x33xf32>
  // gather of rows
  %eg = tensor.empty() : tensor<20x47xf32>
  %g = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<20xi32>) outs(%eg : tensor<20x47xf32>) {
  ^bb0(%a: i32, %o: f32):
    %0 = arith.index_cast %a : i32 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %x[%0, %c] : tensor<33x47xf32>
    linalg.yield %v : f32
  } -> tensor<20x47xf32>
  // argmax
  %er = tensor.empty() : tensor<33xf32>
  %eri = tensor.empty() : tensor<33xi32>
  %fm = linalg.fill ins(%ninf : f32) outs(%er : tensor<33xf32>) -> tensor<33xf32>
  %fi = linalg.fill ins(%zi : i32) outs(%eri : tensor<33xi32>) -> tensor<33xi32>
  %am:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<33x47xf32>) outs(%fm, %fi : tensor<33xf32>, tensor<33xi32>) {
  ^bb0(%a: f32, %m: f32, %mi: i32):
    %j = linalg.index 1 : index
    %ji = arith.index_cast %j : index to i32
    %gt = arith.cmpf ogt, %a, %m : f32
    %nv = arith.select %gt, %a, %m : f32
    %ni = arith.select %gt, %ji, %mi : i32
    linalg.yield %nv, %ni : f32, i32
  } -> (tensor<33xf32>, tensor<33xi32>)
  // booleans
  %ek = tensor.empty() : tensor<33x47xi1>
  %b = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y, %k : tensor<33x47xf32>, tensor<33x47xf32>, tensor<33x47xi1>) outs(%ek : tensor<33x47xi1>) {
  ^bb0(%a: f32, %c: f32, %d: i1, %o: i1):
    %0 = arith.cmpf olt, %a, %c : f32
    %1 = arith.xori %0, %d : i1
    linalg.yield %1 : i1
  } -> tensor<33x47xi1>
  %e = tensor.empty() : tensor<33x47xf32>
  %sel = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%b, %x, %y : tensor<33x47xi1>, tensor<33x47xf32>, tensor<33x47xf32>) outs(%e : tensor<33x47xf32>) {
  ^bb0(%c: i1, %a: f32, %d: f32, %o: f32):
    %1 = arith.select %c, %a, %d : f32
    linalg.yield %1 : f32
  } -> tensor<33x47xf32>
  // iota
  %ei = tensor.empty() : tensor<33x47xi32>
  %io = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%ei : tensor<33x47xi32>) {
  ^bb0(%o: i32):
    %p = linalg.index 0 : index
    %q = linalg.index 1 : index
    %r = arith.muli %p, %q : index
    %s = arith.index_cast %r : index to i32
    linalg.yield %s : i32
  } -> tensor<33x47xi32>
  %pad = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%p: index, %q: index):
    tensor.yield %z : f32
  } : tensor<33x47xf32> to tensor<35x49xf32>
  %cat = tensor.concat dim(0) %g, %x : (tensor<20x47xf32>, tensor<33x47xf32>) -> tensor<53x47xf32>
  // strided slice, then reversed
  %sl = tensor.extract_slice %x[1, 1] [16, 23] [2, 2] : tensor<33x47xf32> to tensor<16x23xf32>
  %es = tensor.empty() : tensor<16x23xf32>
  %rev = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, 22 - b)>, #id], iterator_types = ["parallel", "parallel"]} ins(%sl : tensor<16x23xf32>) outs(%es : tensor<16x23xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<16x23xf32>
  %mf = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<33x47xf32>, tensor<33x47xf32>) outs(%e : tensor<33x47xf32>) {
  ^bb0(%a: f32, %d: f32, %o: f32):
    %0 = math.sin %a : f32
    %1 = math.cos %d : f32
    %2 = math.absf %a : f32
    %3 = math.log1p %2 : f32
    %4 = math.powf %2, %d : f32
    %5 = math.atan2 %a, %d : f32
    %6 = math.sqrt %2 : f32
    %7 = arith.addf %0, %1 : f32
    %8 = arith.addf %7, %3 : f32
    %9 = arith.addf %8, %4 : f32
    %10 = arith.addf %9, %5 : f32
    %11 = arith.addf %10, %6 : f32
    linalg.yield %11 : f32
  } -> tensor<33x47xf32>
  return %tr, %g, %am#0, %am#1, %b, %sel, %io, %pad, %cat, %rev, %mf : tensor<47x33xf32>, tensor<20x47xf32>, tensor<33xf32>, tensor<33xi32>, tensor<33x47xi1>, tensor<33x47xf32>, tensor<33x47xi32>, tensor<35x49xf32>, tensor<53x47xf32>, tensor<16x23xf32>, tensor<33x47xf32>
}

// Where registers can be permuted, coefficients of erfc are looked up: in a
// vector of 16 twice in tables of 8 numbers, or once in fewer tables of 16 with
// AVX-512, of a number in the first lane of a register. Of 16 bits a shorter
// form has fewer tables.
// RUN: shard-opt %s --spmd-approximate-math=permutes=8 | FileCheck %s
// RUN: shard-opt %s --spmd-approximate-math=permutes=16 | FileCheck %s --check-prefix=WIDE
// RUN: shard-opt %s --spmd-approximate-math | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: permps
// PLAIN-NOT: permvar

// CHECK-LABEL: func.func @lanes
// CHECK-COUNT-18: llvm.x86.avx2.permps
// CHECK-NOT: permps
// WIDE-LABEL: func.func @lanes
// WIDE-COUNT-8: llvm.x86.avx512.permvar.sf.512"({{.*}}) : (vector<16xf32>, vector<16xi32>)
// WIDE-NOT: perm
// WIDE: llvm.x86.avx512.mask.scalef.ps.512
// WIDE-NOT: scalef
// WIDE: return
func.func @lanes(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.erfc %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func.func @number
// CHECK-COUNT-9: llvm.x86.avx2.permps
// CHECK-NOT: permps
func.func @number(%x: f32) -> f32 {
  %0 = math.erfc %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @few
// CHECK-COUNT-9: llvm.x86.avx2.permps
// CHECK-NOT: permps
func.func @few(%x: vector<2x3xf32>) -> vector<2x3xf32> {
  %0 = math.erfc %x : vector<2x3xf32>
  return %0 : vector<2x3xf32>
}

// CHECK-LABEL: func.func @narrow
// CHECK-COUNT-8: llvm.x86.avx2.permps
// CHECK-NOT: permps
// CHECK: return
// WIDE-LABEL: func.func @narrow
// WIDE-COUNT-5: llvm.x86.avx512.permvar.sf.512
// WIDE-NOT: perm
// WIDE: return
func.func @narrow(%x: vector<8xbf16>) -> vector<8xbf16> {
  %0 = arith.extf %x : vector<8xbf16> to vector<8xf32>
  %1 = math.erfc %0 {kernel.brief} : vector<8xf32>
  %2 = arith.truncf %1 : vector<8xf32> to vector<8xbf16>
  return %2 : vector<8xbf16>
}

// Rounding to whole numbers, the even one of two, is an instruction there.
// CHECK-LABEL: func.func @whole(
//  CHECK-NEXT:   math.roundeven
//  CHECK-NEXT:   return
// WIDE-LABEL: func.func @whole(
//  WIDE-NEXT:   math.roundeven
// PLAIN-LABEL: func.func @whole(
//   PLAIN-NOT:   math.roundeven
//       PLAIN:   return
func.func @whole(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.roundeven %x : vector<16xf32>
  return %0 : vector<16xf32>
}

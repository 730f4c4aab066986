// RUN: shard-opt %s --spmd-round-bfloats | FileCheck %s
// RUN: shard-opt %s --spmd-round-bfloats=converts | FileCheck %s --check-prefix=AVX

// Whole registers are converted two at a time, unless a lane is NaN (1, 128) or
// subnormal (32): then all of them go by integers.
// CHECK-LABEL: func @registers(
//   CHECK-NOT:   llvm.
//       CHECK:   arith.addi
//       CHECK:   return
//   AVX-LABEL: func @registers(
//         AVX:   %[[KINDS:.*]] = arith.constant 161 : i32
// AVX-COUNT-2:   llvm.call_intrinsic "llvm.x86.avx512.fpclass.ps.512"({{.*}}, %[[KINDS]])
//         AVX:   %[[RARE:.*]] = vector.reduction <or>
//         AVX:   scf.if %[[RARE]] -> (vector<32xbf16>) {
//         AVX:     arith.addi
//         AVX:   } else {
//     AVX-NOT:     arith.addi
//         AVX:     llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
//         AVX:   }
func.func @registers(%x: vector<32xf32>) -> vector<32xbf16> {
  %0 = arith.truncf %x : vector<32xf32> to vector<32xbf16>
  return %0 : vector<32xbf16>
}

// AVX-LABEL: func @one_register(
//       AVX:   llvm.call_intrinsic "llvm.x86.avx512bf16.cvtneps2bf16.512"
func.func @one_register(%x: vector<4x4xf32>) -> vector<4x4xbf16> {
  %0 = arith.truncf %x : vector<4x4xf32> to vector<4x4xbf16>
  return %0 : vector<4x4xbf16>
}

// What goes on in f32 stays in its register.
// AVX-LABEL: func @goes_on(
//   AVX-NOT:   llvm.
//       AVX:   return
func.func @goes_on(%x: vector<16xf32>) -> (vector<16xbf16>, vector<16xf32>) {
  %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  %1 = arith.extf %0 : vector<16xbf16> to vector<16xf32>
  return %0, %1 : vector<16xbf16>, vector<16xf32>
}

// Remainders of loops go by integers.
// AVX-LABEL: func @few(
//   AVX-NOT:   llvm.
//       AVX:   return
func.func @few(%x: vector<8xf32>) -> vector<8xbf16> {
  %0 = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  return %0 : vector<8xbf16>
}

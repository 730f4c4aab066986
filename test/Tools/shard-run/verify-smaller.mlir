// More elements than the interpreter computes: a copy with smaller dims is partitioned and compared, and a remark says
// so. What is wrong in the copy's local view is refused.
// RUN: shard-translate %s --verify-partition --emit=llvmir -o %t.ll 2>&1 | FileCheck %s
// CHECK: remark: partition verified on a smaller copy: its 117440512 elements are too many, with dims of at most 128 they are 65536
// RUN: shard-opt %s --spmd-shrink=most=16 -o %t.small.mlir
// RUN: FileCheck %s --check-prefix=SMALL < %t.small.mlir
// SMALL: @main(%arg0: tensor<16x16xf32> {{.*}}, %arg1: tensor<16x16xf32>
// RUN: shard-opt %t.small.mlir --spmd-import --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate -o %t.local.mlir
// RUN: shard-opt %t.local.mlir --spmd-verify-partition=global=%t.small.mlir -o %t.same.mlir
// RUN: sed 's/local.all_reduce sum/local.all_reduce max/' %t.local.mlir > %t.wrong.mlir
// RUN: not cmp %t.local.mlir %t.wrong.mlir
// RUN: not shard-opt %t.wrong.mlir --spmd-verify-partition=global=%t.small.mlir -o %t.same.mlir 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: gives result 0 other elements than the program
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8192x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8192x4096xf32>, tensor<4096x4096xf32>) -> tensor<8192x4096xf32>
  %1 = stablehlo.tanh %0 : tensor<8192x4096xf32>
  return %1 : tensor<8192x4096xf32>
}

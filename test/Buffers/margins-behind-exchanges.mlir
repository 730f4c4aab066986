// RUN: shard-opt %s --spmd-import=dynamic=all --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate --spmd-lower-cpu \
// RUN:   --mlir-disable-threading --mlir-print-ir-after=spmd-margins-in-place 2>&1 | FileCheck %s
// RUN: shard-run %s --dynamic=all --sizes=0:0=0,7,24,1 --check
// RUN: shard-run %s --dynamic=all --sizes=0:0=0,7,24,1 --sizes=1:0=9,7,8,8 --check

// A wave: a loop carries two fields. The second argument moves to where the first lies, as sizes are open. What this exchange
// receives is copied into a buffer with margins once; in the loop only margins move.
//       CHECK: func.func @main(%[[X:[a-z0-9]+]]: memref<?x16xf32> {{[^%]*}}, %[[BEFORE:[a-z0-9]+]]: memref<?x16xf32>
//       CHECK: kernel.run_site 0 ins(%[[BEFORE]] : {{.*}}) outs(%[[DENSE:[a-z0-9_]+]] : {{.*}})
//  CHECK-NEXT: memref.copy %[[DENSE]],
//       CHECK: scf.for
//       CHECK:   kernel.run_site 1 ins(%[[OLD:[a-z0-9]+]] : {{.*}}) outs(%[[OLD]] : {{.*}})
//   CHECK-NOT:   memref.copy
//       CHECK:   scf.yield
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %before: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<32x16xf32>, tensor<32x16xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %count = stablehlo.constant dense<5> : tensor<i32>
    %0:3 = stablehlo.while(%i = %zero, %y = %x, %z = %before) : tensor<i32>, tensor<32x16xf32>, tensor<32x16xf32>
    cond {
      %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %a = stablehlo.slice %y [31:32, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
      %b = stablehlo.slice %y [0:31, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
      %up = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x16xf32>, tensor<31x16xf32>) -> tensor<32x16xf32>
      %c = stablehlo.slice %y [1:32, 0:16] : (tensor<32x16xf32>) -> tensor<31x16xf32>
      %d = stablehlo.slice %y [0:1, 0:16] : (tensor<32x16xf32>) -> tensor<1x16xf32>
      %down = stablehlo.concatenate %c, %d, dim = 0 : (tensor<31x16xf32>, tensor<1x16xf32>) -> tensor<32x16xf32>
      %sum = stablehlo.add %up, %down : tensor<32x16xf32>
      %next = stablehlo.subtract %sum, %z : tensor<32x16xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %y : tensor<i32>, tensor<32x16xf32>, tensor<32x16xf32>
    }
    return %0#1, %0#2 : tensor<32x16xf32>, tensor<32x16xf32>
  }
}

// RUN: shard-run %s --machine=generic,cache=256B,fork=1ns --check --check=interpreter
// RUN: shard-run %s --machine=generic,cache=256B,fork=1ns --mesh=x=1 --threads=3 --check --check=interpreter
// RUN: shard-run %s --machine=generic,cache=256B,fork=1ns --mesh=x=3 --sizes=0:0=20,0,2 --sizes=1:0=20,0,2 --check --check=interpreter
// RUN: shard-opt %s --shardc-pipeline="machine=generic,cache=256B,fork=1ns" --mlir-print-ir-after=spmd-fuse-rows 2>&1 | FileCheck %s

// A cache that is as small as the rows makes them blocks: sums of rows, what
// reads them, and sums of columns and of everything beside them.
// CHECK: IR Dump After FuseRowsPass
// CHECK: scf.for
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]
// CHECK: linalg.generic {{.*}}["reduction", "parallel"]

sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<22x37xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %dy: tensor<22x37xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<22x37xf32>, tensor<37xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %most = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<22x37xf32>, tensor<f32>) -> tensor<22xf32>
  %mostOfRow = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<22xf32>) -> tensor<22x37xf32>
  %below = stablehlo.subtract %x, %mostOfRow : tensor<22x37xf32>
  %power = stablehlo.exponential %below : tensor<22x37xf32>
  %sum = stablehlo.reduce(%power init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<22x37xf32>, tensor<f32>) -> tensor<22xf32>
  %sumOfRow = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<22xf32>) -> tensor<22x37xf32>
  %y = stablehlo.divide %power, %sumOfRow : tensor<22x37xf32>
  %product = stablehlo.multiply %y, %dy : tensor<22x37xf32>
  %columns = stablehlo.reduce(%product init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<22x37xf32>, tensor<f32>) -> tensor<37xf32>
  %total = stablehlo.reduce(%dy init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<22x37xf32>, tensor<f32>) -> tensor<f32>
  return %y, %columns, %total : tensor<22x37xf32>, tensor<37xf32>, tensor<f32>
}

// RUN: shard-opt %s --spmd-import=dynamic=all --spmd-raise --spmd-propagate --spmd-partition --spmd-communicate --spmd-lower-cpu \
// RUN:   --mlir-disable-threading --mlir-print-ir-after=spmd-read-in-place 2>&1 | FileCheck %s
// RUN: shard-run %s --dynamic=all --check
// RUN: shard-run %s --dynamic=all --sizes=0:0=0,7,24,1 --sizes=1:0=0,7,24,1 --sizes=2:0=0,7,24,1 --check
// RUN: shard-run %s --dynamic=all --sizes=0:0=0,7,24,1 --sizes=1:0=9,7,8,8 --sizes=2:0=0,7,0,25 --check
// RUN: shard-run %s --dynamic=all --sizes=0:0=0,7,24,1 --sizes=1:0=0,7,24,1 --sizes=2:0=0,7,0,25 --check --processes=4
// RUN: shard-run %s --dynamic=all --sizes=0:0=0,7,24,1 --sizes=1:0=0,7,24,1 --check --threads=2 --repeat=3

// Arguments meet: the second and third move to where the first lies. Both are only read, so they are read where they lie in
// bindings by which nothing moves; also the third, which is donated, as no result lies like it in all bindings.
//       CHECK: func.func @main(%[[X:[a-z0-9]+]]: memref<?x16xf32> {{[^%]*}}, %[[Y:[a-z0-9]+]]: memref<?x16xf32>
//       CHECK: %[[COPY:.*]] = memref.alloc
//       CHECK: %[[READ:.*]] = kernel.received %[[COPY]] by 0
//       CHECK: kernel.run_site 0 ins(%[[Y]] : {{.*}}) outs(%[[READ]] :
//       CHECK: linalg.generic {{.*}} ins({{.*}}%[[READ]]
//       CHECK: llvm.call @shardrt_exchange_place
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %y: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %z: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tf.aliasing_output = 1 : i32})
      -> (tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %a = stablehlo.add %x, %y : tensor<32x16xf32>
    %b = stablehlo.multiply %z, %x : tensor<32x16xf32>
    %c = stablehlo.dot_general %b, %z, contracting_dims = [1] x [1] : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x32xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
    %t = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<32xf32>) -> tensor<32x16xf32>
    %d = stablehlo.add %a, %t : tensor<32x16xf32>
    %e = stablehlo.subtract %b, %y : tensor<32x16xf32>
    return %d, %e : tensor<32x16xf32>, tensor<32x16xf32>
  }
}

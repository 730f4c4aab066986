// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --check --check=interpreter
// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --mesh=x=1 --threads=3 --check=interpreter
// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --mesh=x=1 --arch=x86-64-v3 --check=interpreter
// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --mesh=x=3 --sizes=0:0=2000,0,507 --sizes=1:0=1,2506,0 --check --check=interpreter
// RUN: shard-opt %s --shardc-pipeline="machine=generic,cache=64KB,fork=1ns" --mlir-print-ir-after=spmd-fuse-rows 2>&1 | FileCheck %s

// The columns of a cross product, as JAX writes it, are one loop, which stores them
// where the transposed stack has them; so are the halves of rotated pairs. What reads
// a result is no part of that loop.
// CHECK: IR Dump After FuseRowsPass
// CHECK-NOT: memref<3x?xf32
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<?x1xf32{{.*}}>, memref<?x1xf32{{.*}}>, memref<?x1xf32{{.*}}>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : memref<?x16xf32{{.*}}>, memref<?x16xf32{{.*}}>)
// CHECK: linalg.generic {{.*}} outs(%{{[a-z0-9_]*}} : memref<?x16xf32>)
// CHECK: return

sdy.mesh @mesh = <["x"=2]>
func.func @main(%p: tensor<2507x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %x: tensor<2507x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %q: tensor<2507x3xf32>, %cos: tensor<2507x16xf32>, %sin: tensor<2507x16xf32>)
    -> (tensor<2507x3xf32>, tensor<2507x32xf32>, tensor<2507x16xf32>) {
  %pa = stablehlo.slice %p [0:2507, 0:1] : (tensor<2507x3xf32>) -> tensor<2507x1xf32>
  %pb = stablehlo.slice %p [0:2507, 1:2] : (tensor<2507x3xf32>) -> tensor<2507x1xf32>
  %pc = stablehlo.slice %p [0:2507, 2:3] : (tensor<2507x3xf32>) -> tensor<2507x1xf32>
  %qa = stablehlo.slice %q [0:2507, 0:1] : (tensor<2507x3xf32>) -> tensor<2507x1xf32>
  %qb = stablehlo.slice %q [0:2507, 1:2] : (tensor<2507x3xf32>) -> tensor<2507x1xf32>
  %qc = stablehlo.slice %q [0:2507, 2:3] : (tensor<2507x3xf32>) -> tensor<2507x1xf32>
  %p0 = stablehlo.reshape %pa : (tensor<2507x1xf32>) -> tensor<2507xf32>
  %p1 = stablehlo.reshape %pb : (tensor<2507x1xf32>) -> tensor<2507xf32>
  %p2 = stablehlo.reshape %pc : (tensor<2507x1xf32>) -> tensor<2507xf32>
  %q0 = stablehlo.reshape %qa : (tensor<2507x1xf32>) -> tensor<2507xf32>
  %q1 = stablehlo.reshape %qb : (tensor<2507x1xf32>) -> tensor<2507xf32>
  %q2 = stablehlo.reshape %qc : (tensor<2507x1xf32>) -> tensor<2507xf32>
  %a0 = stablehlo.multiply %p1, %q2 : tensor<2507xf32>
  %b0 = stablehlo.multiply %p2, %q1 : tensor<2507xf32>
  %c0 = stablehlo.subtract %a0, %b0 : tensor<2507xf32>
  %a1 = stablehlo.multiply %p2, %q0 : tensor<2507xf32>
  %b1 = stablehlo.multiply %p0, %q2 : tensor<2507xf32>
  %c1 = stablehlo.subtract %a1, %b1 : tensor<2507xf32>
  %a2 = stablehlo.multiply %p0, %q1 : tensor<2507xf32>
  %b2 = stablehlo.multiply %p1, %q0 : tensor<2507xf32>
  %c2 = stablehlo.subtract %a2, %b2 : tensor<2507xf32>
  %r0 = stablehlo.broadcast_in_dim %c0, dims = [1] : (tensor<2507xf32>) -> tensor<1x2507xf32>
  %r1 = stablehlo.broadcast_in_dim %c1, dims = [1] : (tensor<2507xf32>) -> tensor<1x2507xf32>
  %r2 = stablehlo.broadcast_in_dim %c2, dims = [1] : (tensor<2507xf32>) -> tensor<1x2507xf32>
  %stack = stablehlo.concatenate %r0, %r1, %r2, dim = 0 : (tensor<1x2507xf32>, tensor<1x2507xf32>, tensor<1x2507xf32>) -> tensor<3x2507xf32>
  %cross = stablehlo.transpose %stack, dims = [1, 0] : (tensor<3x2507xf32>) -> tensor<2507x3xf32>
  %left = stablehlo.slice %x [0:2507, 0:16] : (tensor<2507x32xf32>) -> tensor<2507x16xf32>
  %right = stablehlo.slice %x [0:2507, 16:32] : (tensor<2507x32xf32>) -> tensor<2507x16xf32>
  %lc = stablehlo.multiply %left, %cos : tensor<2507x16xf32>
  %rs = stablehlo.multiply %right, %sin : tensor<2507x16xf32>
  %first = stablehlo.subtract %lc, %rs : tensor<2507x16xf32>
  %rc = stablehlo.multiply %right, %cos : tensor<2507x16xf32>
  %ls = stablehlo.multiply %left, %sin : tensor<2507x16xf32>
  %second = stablehlo.add %rc, %ls : tensor<2507x16xf32>
  %turned = stablehlo.concatenate %first, %second, dim = 1 : (tensor<2507x16xf32>, tensor<2507x16xf32>) -> tensor<2507x32xf32>
  %ac = stablehlo.multiply %second, %cos : tensor<2507x16xf32>
  return %cross, %turned, %ac : tensor<2507x3xf32>, tensor<2507x32xf32>, tensor<2507x16xf32>
}

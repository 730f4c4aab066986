// f32 as three products of tf32 on warpgroups (precision HIGH): TMA copies load what threads split, or threads load it as well; batches, windows,
// a depth that is cut, numbers that are cast, sizes of a rank; what is infinite stays so.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=tf32 --check-kernels --expect=@%t.npz --atol=4e-6 --rtol=4e-6
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=tf32 --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --atol=4e-6 --rtol=4e-6
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=tf32 --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --atol=4e-6 --rtol=4e-6
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=tf32 --arch=sm_80 --check-kernels --expect=@%t.npz --atol=4e-6 --rtol=4e-6
// Other rows on each rank, none on one.
// RUN: shard-run %s --mesh=x=3 --sizes=0:0=70,0,80 --seed=4 --device=emulated-cuda --precision=tf32 --check-kernels --expect=@%t.npz --atol=4e-6 --rtol=4e-6
// Four depths of a stage, three products each.
// RUN: shard-translate %s --precision=tf32 --target=cuda --arch=sm_90a --emit=ptx -o - | FileCheck %s
// CHECK-COUNT-72: wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32
// CHECK-NOT: wgmma.mma_async
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x0: tensor<150x76xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y0: tensor<200x76xf32>, %h0: tensor<2x80x136xf32>, %g0: tensor<2x72x80xf32>,
                %im0: tensor<1x12x11x8xf32>, %k0: tensor<3x3x8x72xf32>, %p0: tensor<66x1500xf32>, %q0: tensor<1500x72xf32>, %s: tensor<72x80xbf16>)
    -> (tensor<150x200xf32>, tensor<2x136x72xf32>, tensor<1x10x9x72xf32>, tensor<66x72xf32>, tensor<136x72xf32>, tensor<150x200xf32>, tensor<150x200xi1>) {
  // Numbers of the generator are short; thirds are not.
  %three = stablehlo.constant dense<3.0> : tensor<f32>
  %x3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<150x76xf32>
  %x = stablehlo.divide %x0, %x3 : tensor<150x76xf32>
  %y3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<200x76xf32>
  %y = stablehlo.divide %y0, %y3 : tensor<200x76xf32>
  %h3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<2x80x136xf32>
  %h = stablehlo.divide %h0, %h3 : tensor<2x80x136xf32>
  %g3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<2x72x80xf32>
  %g = stablehlo.divide %g0, %g3 : tensor<2x72x80xf32>
  %im3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<1x12x11x8xf32>
  %im = stablehlo.divide %im0, %im3 : tensor<1x12x11x8xf32>
  %k3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<3x3x8x72xf32>
  %k = stablehlo.divide %k0, %k3 : tensor<3x3x8x72xf32>
  %p3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<66x1500xf32>
  %p = stablehlo.divide %p0, %p3 : tensor<66x1500xf32>
  %q3 = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<1500x72xf32>
  %q = stablehlo.divide %q0, %q3 : tensor<1500x72xf32>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1], precision = [HIGH, HIGH] : (tensor<150x76xf32>, tensor<200x76xf32>) -> tensor<150x200xf32>
  %1 = stablehlo.dot_general %h, %g, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [HIGH, HIGH] : (tensor<2x80x136xf32>, tensor<2x72x80xf32>) -> tensor<2x136x72xf32>
  %2 = stablehlo.convolution(%im, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]} : (tensor<1x12x11x8xf32>, tensor<3x3x8x72xf32>) -> tensor<1x10x9x72xf32>
  %3 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0], precision = [HIGH, HIGH] : (tensor<66x1500xf32>, tensor<1500x72xf32>) -> tensor<66x72xf32>
  %wide = stablehlo.convert %s : (tensor<72x80xbf16>) -> tensor<72x80xf32>
  %h1 = stablehlo.slice %h [0:1, 0:80, 0:136] : (tensor<2x80x136xf32>) -> tensor<1x80x136xf32>
  %h2 = stablehlo.reshape %h1 : (tensor<1x80x136xf32>) -> tensor<80x136xf32>
  %4 = stablehlo.dot_general %h2, %wide, contracting_dims = [0] x [1], precision = [HIGH, HIGH] : (tensor<80x136xf32>, tensor<72x80xf32>) -> tensor<136x72xf32>
  // Infinities, and the largest numbers, times short numbers, whose rest is zero.
  %i = stablehlo.iota dim = 0 : tensor<200x76xi32>
  %j = stablehlo.iota dim = 1 : tensor<200x76xi32>
  %ij = stablehlo.multiply %i, %j : tensor<200x76xi32>
  %at = stablehlo.constant dense<75> : tensor<200x76xi32>
  %here = stablehlo.compare EQ, %ij, %at : (tensor<200x76xi32>, tensor<200x76xi32>) -> tensor<200x76xi1>
  %infinite = stablehlo.constant dense<0xFF800000> : tensor<200x76xf32>
  %some = stablehlo.select %here, %infinite, %y0 : tensor<200x76xi1>, tensor<200x76xf32>
  %beyond = stablehlo.constant dense<4000> : tensor<200x76xi32>
  %there = stablehlo.compare EQ, %ij, %beyond : (tensor<200x76xi32>, tensor<200x76xi32>) -> tensor<200x76xi1>
  %largest = stablehlo.constant dense<0x7F7FFFFF> : tensor<200x76xf32>
  %more = stablehlo.select %there, %largest, %y0 : tensor<200x76xi1>, tensor<200x76xf32>
  %most = stablehlo.dot_general %x0, %more, contracting_dims = [1] x [1], precision = [HIGH, HIGH] : (tensor<150x76xf32>, tensor<200x76xf32>) -> tensor<150x200xf32>
  %6 = stablehlo.compare EQ, %most, %most : (tensor<150x200xf32>, tensor<150x200xf32>) -> tensor<150x200xi1>
  %5 = stablehlo.dot_general %x0, %some, contracting_dims = [1] x [1], precision = [HIGH, HIGH] : (tensor<150x76xf32>, tensor<200x76xf32>) -> tensor<150x200xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<150x200xf32>, tensor<2x136x72xf32>, tensor<1x10x9x72xf32>, tensor<66x72xf32>, tensor<136x72xf32>, tensor<150x200xf32>, tensor<150x200xi1>
}

// What is multiplied is computed where tiles are loaded, if few blocks read it: a normalisation's scale and shift and a cast before a
// product (of bf16), a residual and an activation (of f32), the right operand, one of several in a batch, work on 16-bit numbers. The host's
// kernels must agree, also where rows are as many as a rank knows when it runs.
// RUN: shard-run %s --seed=4 --outputs=@%t.npz
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-3
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-3
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-3
// RUN: shard-run %s --seed=4 --device=emulated-cuda --precision=highest --arch=sm_80 --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-3
// RUN: shard-run %s --seed=4 --mesh=x=3 --sizes=0:0=60,0,73 --sizes=4:0=3,100,30 --device=emulated-cuda --precision=highest --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-3
// Four products, each a kernel (sm_80); an operand that many blocks would compute is computed before, in the launch of another product.
// RUN: shard-translate %s --target=cuda --precision=highest --arch=sm_80 --emit=ptx -o - | grep -c "^.visible .entry" | FileCheck %s
// CHECK: {{^}}4{{$}}
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<133x72xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %scale: tensor<72xf32>, %shift: tensor<72xf32>,
                %w: tensor<72x80xbf16>, %f: tensor<133x72xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %v: tensor<72x40xf32>,
                %a: tensor<2x70x64xbf16>, %b: tensor<2x50x64xbf16>, %m: tensor<2x50x64xbf16>, %wide: tensor<72x200xf32>)
    -> (tensor<133x80xf32>, tensor<133x40xf32>, tensor<2x70x50xf32>, tensor<133x200xf32>) {
  %scales = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<72xf32>) -> tensor<133x72xf32>
  %shifts = stablehlo.broadcast_in_dim %shift, dims = [1] : (tensor<72xf32>) -> tensor<133x72xf32>
  %0 = stablehlo.multiply %x, %scales : tensor<133x72xf32>
  %1 = stablehlo.add %0, %shifts : tensor<133x72xf32>
  %2 = stablehlo.convert %1 : (tensor<133x72xf32>) -> tensor<133x72xbf16>
  %p = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<133x72xbf16>, tensor<72x80xbf16>) -> tensor<133x80xf32>
  %z = stablehlo.constant dense<0.0> : tensor<133x72xf32>
  %3 = stablehlo.add %x, %f : tensor<133x72xf32>
  %4 = stablehlo.maximum %3, %z : tensor<133x72xf32>
  %q = stablehlo.dot_general %4, %v, contracting_dims = [1] x [0] : (tensor<133x72xf32>, tensor<72x40xf32>) -> tensor<133x40xf32>
  %5 = stablehlo.multiply %b, %m : tensor<2x50x64xbf16>
  %6 = stablehlo.negate %a : tensor<2x70x64xbf16>
  %r = stablehlo.dot_general %6, %5, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x70x64xbf16>, tensor<2x50x64xbf16>) -> tensor<2x70x50xf32>
  %7 = stablehlo.subtract %x, %f : tensor<133x72xf32>
  %s = stablehlo.dot_general %7, %wide, contracting_dims = [1] x [0] : (tensor<133x72xf32>, tensor<72x200xf32>) -> tensor<133x200xf32>
  return %p, %q, %r, %s : tensor<133x80xf32>, tensor<133x40xf32>, tensor<2x70x50xf32>, tensor<133x200xf32>
}

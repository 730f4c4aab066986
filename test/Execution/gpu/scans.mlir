// Scans: a warp or a block a line, blocks that share a line, lines that lie side by side; from either end, of one element and of none;
// a combination of two operands that does not commute. Integers are those of the host, floats are combined in another order than its own.
// RUN: shard-run %s --seed=3 --outputs=@%t.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-4
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=run-ahead --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-4
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=random=5 --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-4
// The order depends on sizes alone: the same to the bit in every schedule.
// RUN: shard-run %s --seed=3 --device=emulated-cuda --outputs=@%t.gpu.npz
// RUN: shard-run %s --seed=3 --device=emulated-cuda --kernel-schedule=random=7 --expect=@%t.gpu.npz --rtol=0 --atol=0
// Lines of other sizes on each rank, none on one.
// RUN: shard-run %s --mesh=x=3 --sizes=0:1=2500,0,3500 --sizes=1:0=0,5,2 --sizes=2:0=100,0,301 --seed=3 --device=emulated-cuda --check-kernels --expect=@%t.npz --rtol=1e-4 --atol=1e-4
// RUN: shard-translate %s --target=cuda --emit=ptx -o - | FileCheck %s
// CHECK: shfl.sync.up.b32
// CHECK: shfl.sync.idx.b32
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<3x6000xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %y: tensor<7x40xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %z: tensor<401x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %h: tensor<2x300xbf16>, %d: tensor<2x700xf64>, %one: tensor<3x1xf32>, %none: tensor<4x0xf32>)
    -> (tensor<3x6000xf32>, tensor<7x40xf32>, tensor<401x5xf32>, tensor<401x5xf32>, tensor<2x300xbf16>, tensor<2x700xf64>, tensor<2x700xi64>,
        tensor<3x6000xf32>, tensor<3x6000xf32>, tensor<3x1xf32>, tensor<4x0xf32>, tensor<3x6000xi1>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %unit = stablehlo.constant dense<1.0> : tensor<f32>
  %hzero = stablehlo.constant dense<0.0> : tensor<bf16>
  %dzero = stablehlo.constant dense<0.0> : tensor<f64>
  %low = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 6000>, padding = dense<[[0, 0], [5999, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x6000xf32>, tensor<f32>) -> tensor<3x6000xf32>
  %1 = "stablehlo.reduce_window"(%y, %zero) <{window_dimensions = array<i64: 1, 40>, padding = dense<[[0, 0], [0, 39]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<7x40xf32>, tensor<f32>) -> tensor<7x40xf32>
  %2 = "stablehlo.reduce_window"(%z, %zero) <{window_dimensions = array<i64: 401, 1>, padding = dense<[[400, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<401x5xf32>, tensor<f32>) -> tensor<401x5xf32>
  %3 = "stablehlo.reduce_window"(%z, %zero) <{window_dimensions = array<i64: 401, 1>, padding = dense<[[0, 400], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<401x5xf32>, tensor<f32>) -> tensor<401x5xf32>
  %4 = "stablehlo.reduce_window"(%h, %hzero) <{window_dimensions = array<i64: 1, 300>, padding = dense<[[0, 0], [299, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<2x300xbf16>, tensor<bf16>) -> tensor<2x300xbf16>
  %5 = "stablehlo.reduce_window"(%d, %dzero) <{window_dimensions = array<i64: 1, 700>, padding = dense<[[0, 0], [0, 699]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %s = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) : (tensor<2x700xf64>, tensor<f64>) -> tensor<2x700xf64>
  %many = stablehlo.constant dense<1.0e+12> : tensor<2x700xf64>
  %scaled = stablehlo.multiply %d, %many : tensor<2x700xf64>
  %long = stablehlo.convert %scaled : (tensor<2x700xf64>) -> tensor<2x700xi64>
  %6 = "stablehlo.reduce_window"(%long, %low) <{window_dimensions = array<i64: 1, 700>, padding = dense<[[0, 0], [699, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.maximum %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) : (tensor<2x700xi64>, tensor<i64>) -> tensor<2x700xi64>
  // x -> a x + b, one after another.
  %half = stablehlo.constant dense<0.5> : tensor<3x6000xf32>
  %scale = stablehlo.multiply %x, %half : tensor<3x6000xf32>
  %7:2 = "stablehlo.reduce_window"(%scale, %x, %unit, %zero) <{window_dimensions = array<i64: 1, 6000>, padding = dense<[[0, 0], [5999, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %e: tensor<f32>):
    %p = stablehlo.multiply %a, %c : tensor<f32>
    %q = stablehlo.multiply %b, %c : tensor<f32>
    %r = stablehlo.add %q, %e : tensor<f32>
    stablehlo.return %p, %r : tensor<f32>, tensor<f32>
  }) : (tensor<3x6000xf32>, tensor<3x6000xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x6000xf32>, tensor<3x6000xf32>)
  %8 = "stablehlo.reduce_window"(%one, %zero) <{window_dimensions = array<i64: 3, 1>, padding = dense<[[2, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %9 = "stablehlo.reduce_window"(%none, %zero) <{window_dimensions = array<i64: 4, 1>, padding = dense<[[3, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x0xf32>, tensor<f32>) -> tensor<4x0xf32>
  // Bits.
  %edge = stablehlo.constant dense<0.99> : tensor<3x6000xf32>
  %rare = stablehlo.compare GT, %x, %edge : (tensor<3x6000xf32>, tensor<3x6000xf32>) -> tensor<3x6000xi1>
  %10 = "stablehlo.reduce_window"(%rare, %false) <{window_dimensions = array<i64: 1, 6000>, padding = dense<[[0, 0], [5999, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %s = stablehlo.or %a, %b : tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<3x6000xi1>, tensor<i1>) -> tensor<3x6000xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7#0, %7#1, %8, %9, %10
      : tensor<3x6000xf32>, tensor<7x40xf32>, tensor<401x5xf32>, tensor<401x5xf32>, tensor<2x300xbf16>, tensor<2x700xf64>, tensor<2x700xi64>,
        tensor<3x6000xf32>, tensor<3x6000xf32>, tensor<3x1xf32>, tensor<4x0xf32>, tensor<3x6000xi1>
}

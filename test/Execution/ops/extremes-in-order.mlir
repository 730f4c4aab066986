// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --check --check=interpreter
// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --mesh=x=1 --threads=3 --check=interpreter
// RUN: shard-run %s --machine=generic,cache=64KB,fork=1ns --mesh=x=1 --arch=x86-64-v3 --check=interpreter
// RUN: shard-run %s --mesh=x=3 --sizes=0:0=4098,0,1 --check --check=interpreter

// argmax and argmin of many short rows, and of columns side by side, each in the order of
// its elements: infinities, NaNs, many that are equal, and rows where none is beyond
// the initial value. Long rows of bf16 are searched for the value first, in f32.
sdy.mesh @mesh = <["x"=2]>
func.func @main(%numbersIn: tensor<4099x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<3x7x1400xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %h: tensor<9x200xbf16>) -> (tensor<4099xf32>, tensor<4099xi32>, tensor<4099xf32>, tensor<4099xi32>, tensor<4099xbf16>, tensor<4099xi32>, tensor<3x1400xi32>, tensor<3x1400xi32>, tensor<9xbf16>, tensor<9xi32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %most = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %mostHalf = stablehlo.constant dense<0x7F80> : tensor<bf16>
  %leastHalf = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %lowest = stablehlo.constant dense<-2147483648> : tensor<i32>
  %two = stablehlo.constant dense<2.0> : tensor<4099x5xf32>
  %three = stablehlo.constant dense<3.0> : tensor<4099x5xf32>
  %inLong = stablehlo.iota dim = 1 : tensor<9x200xi32>
  %inRow = stablehlo.iota dim = 1 : tensor<4099x5xi32>
  %inColumn = stablehlo.iota dim = 1 : tensor<3x7x1400xi32>
  %coarse = stablehlo.multiply %numbersIn, %two : tensor<4099x5xf32>
  %steps = stablehlo.floor %coarse : tensor<4099x5xf32>
  %other = stablehlo.multiply %numbersIn, %three : tensor<4099x5xf32>
  %parts = stablehlo.floor %other : tensor<4099x5xf32>
  %numbers = stablehlo.divide %steps, %parts : tensor<4099x5xf32>
  %half = stablehlo.convert %numbers : (tensor<4099x5xf32>) -> tensor<4099x5xbf16>
  %four = stablehlo.constant dense<4.0> : tensor<3x7x1400xf32>
  %scaled = stablehlo.multiply %c, %four : tensor<3x7x1400xf32>
  %whole = stablehlo.convert %scaled : (tensor<3x7x1400xf32>) -> tensor<3x7x1400xi32>
  %rows:2 = stablehlo.reduce(%numbers init: %least), (%inRow init: %z) across dimensions = [1] : (tensor<4099x5xf32>, tensor<4099x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<4099xf32>, tensor<4099xi32>)
   reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %beyond = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %keeps = stablehlo.or %beyond, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %first = stablehlo.or %keeps, %tie : tensor<i1>
    %value = stablehlo.select %keeps, %x, %y : tensor<i1>, tensor<f32>
    %place = stablehlo.select %first, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %value, %place : tensor<f32>, tensor<i32>
  }
  %lowestOfRows:2 = stablehlo.reduce(%numbers init: %most), (%inRow init: %z) across dimensions = [1] : (tensor<4099x5xf32>, tensor<4099x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<4099xf32>, tensor<4099xi32>)
   reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %beyond = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %keeps = stablehlo.or %beyond, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %first = stablehlo.or %keeps, %tie : tensor<i1>
    %value = stablehlo.select %keeps, %x, %y : tensor<i1>, tensor<f32>
    %place = stablehlo.select %first, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %value, %place : tensor<f32>, tensor<i32>
  }
  %halves:2 = stablehlo.reduce(%half init: %leastHalf), (%inRow init: %z) across dimensions = [1] : (tensor<4099x5xbf16>, tensor<4099x5xi32>, tensor<bf16>, tensor<i32>) -> (tensor<4099xbf16>, tensor<4099xi32>)
   reducer(%x: tensor<bf16>, %y: tensor<bf16>) (%p: tensor<i32>, %q: tensor<i32>) {
    %beyond = stablehlo.compare GT, %x, %y, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    %nan = stablehlo.compare NE, %x, %x, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    %keeps = stablehlo.or %beyond, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %first = stablehlo.or %keeps, %tie : tensor<i1>
    %value = stablehlo.select %keeps, %x, %y : tensor<i1>, tensor<bf16>
    %place = stablehlo.select %first, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %value, %place : tensor<bf16>, tensor<i32>
  }
  %middle:2 = stablehlo.reduce(%whole init: %lowest), (%inColumn init: %z) across dimensions = [1] : (tensor<3x7x1400xi32>, tensor<3x7x1400xi32>, tensor<i32>, tensor<i32>) -> (tensor<3x1400xi32>, tensor<3x1400xi32>)
   reducer(%x: tensor<i32>, %y: tensor<i32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %beyond = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %first = stablehlo.or %beyond, %tie : tensor<i1>
    %value = stablehlo.select %beyond, %x, %y : tensor<i1>, tensor<i32>
    %place = stablehlo.select %first, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %value, %place : tensor<i32>, tensor<i32>
  }
  %longHalves:2 = stablehlo.reduce(%h init: %mostHalf), (%inLong init: %z) across dimensions = [1] : (tensor<9x200xbf16>, tensor<9x200xi32>, tensor<bf16>, tensor<i32>) -> (tensor<9xbf16>, tensor<9xi32>)
   reducer(%x: tensor<bf16>, %y: tensor<bf16>) (%p: tensor<i32>, %q: tensor<i32>) {
    %beyond = stablehlo.compare LT, %x, %y, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    %nan = stablehlo.compare NE, %x, %x, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    %keeps = stablehlo.or %beyond, %nan : tensor<i1>
    %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %eq, %lt : tensor<i1>
    %first = stablehlo.or %keeps, %tie : tensor<i1>
    %value = stablehlo.select %keeps, %x, %y : tensor<i1>, tensor<bf16>
    %place = stablehlo.select %first, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %value, %place : tensor<bf16>, tensor<i32>
  }
  return %rows#0, %rows#1, %lowestOfRows#0, %lowestOfRows#1, %halves#0, %halves#1, %middle#0, %middle#1, %longHalves#0, %longHalves#1
      : tensor<4099xf32>, tensor<4099xi32>, tensor<4099xf32>, tensor<4099xi32>, tensor<4099xbf16>, tensor<4099xi32>, tensor<3x1400xi32>, tensor<3x1400xi32>, tensor<9xbf16>, tensor<9xi32>
}

// Integers of four and two bits arrive and leave as whole bytes, with their sign: 10 is no i4, and the bits above a
// number do not count. Expected values are two's complement of that many bits, by hand.
// RUN: %npz write %t.npz 'in0=|i1:4:-6,7,-8,3' 'in1=|u1:4:10,7,8,3' 'in2=|i1:4:-2,1,-1,0' \
// RUN:   'out0=|i1:4:6,-7,-8,-3' 'out1=|i1:4:2,3,1,2' 'out2=|i1:4:5,3,4,1' 'out3=|i1:4:-6,3,-8,3' \
// RUN:   'out4=|u1:4:6,9,8,13' 'out5=|i1:4:-6,7,-8,3' 'out6=|i1:4:-2,-2,-2,0' 'out7=|i1:4:-4,-4,-4,-4' 'out8=|i1:4:-6,7,-8,3' \
// RUN:   'out9=|i1:4:-8,-8,-8,-8' 'out10=|i1:4:2,2,2,2' 'out11=|i1:4:-8,-6,3,7'
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --check=interpreter
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --mesh=x=3
// RUN: shard-run %s --inputs=@%t.npz --expect=@%t.npz --mesh=x=1
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4xi4> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %u: tensor<4xui4>, %c: tensor<4xi2>)
    -> (tensor<4xi4>, tensor<4xi4>, tensor<4xi4>, tensor<4xi4>, tensor<4xui4>, tensor<4xi4>, tensor<4xi2>, tensor<4xi4>, tensor<4xi4>,
        tensor<4xi4>, tensor<4xi4>, tensor<4xi4>) {
  %negated = stablehlo.negate %a : tensor<4xi4>
  %bits = stablehlo.popcnt %a : tensor<4xi4>
  %one = stablehlo.constant dense<1> : tensor<4xi4>
  %shifted = stablehlo.shift_right_logical %a, %one : tensor<4xi4>
  %three = stablehlo.constant dense<3> : tensor<4xi4>
  %least = stablehlo.minimum %a, %three : tensor<4xi4>
  %opposite = stablehlo.negate %u : tensor<4xui4>
  %signed = stablehlo.convert %u : (tensor<4xui4>) -> tensor<4xi4>
  // Squares are 0, 1, 1 and 0 (4 wraps); 1 and 1 are 2, which is -2 in two bits.
  %square = stablehlo.multiply %c, %c : tensor<4xi2>
  %minus = stablehlo.constant dense<[-2, 1, 1, 0]> : tensor<4xi2>
  %zero = stablehlo.constant dense<0> : tensor<i4>
  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xi4>, tensor<i4>) -> tensor<i4>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<i4>) -> tensor<4xi4>
  %mixed = stablehlo.add %square, %minus : tensor<4xi2>
  // What ranks combine: the least of negative numbers, and the bits of a negative sum (-4 is 1100).
  %most = stablehlo.constant dense<7> : tensor<i4>
  %lowest = stablehlo.reduce(%a init: %most) applies stablehlo.minimum across dimensions = [0] : (tensor<4xi4>, tensor<i4>) -> tensor<i4>
  %lowests = stablehlo.broadcast_in_dim %lowest, dims = [] : (tensor<i4>) -> tensor<4xi4>
  %ones = stablehlo.popcnt %sums : tensor<4xi4>
  %sorted = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%l: tensor<i4>, %r: tensor<i4>):
    %less = stablehlo.compare LT, %l, %r : (tensor<i4>, tensor<i4>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<4xi4>) -> tensor<4xi4>
  return %negated, %bits, %shifted, %least, %opposite, %signed, %mixed, %sums, %a, %lowests, %ones, %sorted
      : tensor<4xi4>, tensor<4xi4>, tensor<4xi4>, tensor<4xi4>, tensor<4xui4>, tensor<4xi4>, tensor<4xi2>, tensor<4xi4>, tensor<4xi4>,
        tensor<4xi4>, tensor<4xi4>, tensor<4xi4>
}

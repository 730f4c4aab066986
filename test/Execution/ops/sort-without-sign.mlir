// Floats without a sign, whose first bit is part of the exponent: sorted, compared in total order, and chosen from.
// RUN: shard-run %s
// RUN: shard-run %s --interpret
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0, 0.25, 4.0, 0.5]> : tensor<5xf8E8M0FNU>
  %sorted = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f8E8M0FNU>, %b: tensor<f8E8M0FNU>):
    %less = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<5xf8E8M0FNU>) -> tensor<5xf8E8M0FNU>
  %wide = stablehlo.convert %sorted : (tensor<5xf8E8M0FNU>) -> tensor<5xf32>
  %ascending = stablehlo.constant dense<[0.25, 0.5, 1.0, 2.0, 4.0]> : tensor<5xf32>
  check.expect_eq %wide, %ascending : tensor<5xf32>

  // A comparator with two compares is a loop.
  %order, %places = "stablehlo.sort"(%x, %x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f8E8M0FNU>, %b: tensor<f8E8M0FNU>, %c: tensor<f8E8M0FNU>, %d: tensor<f8E8M0FNU>):
    %first = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<i1>
    %second = stablehlo.compare GT, %c, %d, TOTALORDER : (tensor<f8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<i1>
    %both = stablehlo.and %first, %second : tensor<i1>
    stablehlo.return %both : tensor<i1>
  }) : (tensor<5xf8E8M0FNU>, tensor<5xf8E8M0FNU>) -> (tensor<5xf8E8M0FNU>, tensor<5xf8E8M0FNU>)
  %wideOrder = stablehlo.convert %order : (tensor<5xf8E8M0FNU>) -> tensor<5xf32>
  %descending = stablehlo.constant dense<[4.0, 2.0, 1.0, 0.5, 0.25]> : tensor<5xf32>
  check.expect_eq %wideOrder, %descending : tensor<5xf32>

  %values, %indices = chlo.top_k(%x, k = 2) : tensor<5xf8E8M0FNU> -> (tensor<2xf8E8M0FNU>, tensor<2xi32>)
  %wideValues = stablehlo.convert %values : (tensor<2xf8E8M0FNU>) -> tensor<2xf32>
  %largest = stablehlo.constant dense<[4.0, 2.0]> : tensor<2xf32>
  %at = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
  check.expect_eq %wideValues, %largest : tensor<2xf32>
  check.expect_eq %indices, %at : tensor<2xi32>
  return
}

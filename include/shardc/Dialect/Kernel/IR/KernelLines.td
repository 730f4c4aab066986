//===- KernelLines.td - Algorithms on the lines of a tensor --*- tablegen -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELLINES_TD
#define SHARDC_DIALECT_KERNEL_IR_KERNELLINES_TD

include "shardc/Dialect/Kernel/IR/KernelDialect.td"

def Kernel_LinesOp : Kernel_Op<"lines", [DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Do an algorithm to all lines along a dim, each by itself.";
  let description = [{
    What many threads do together and no loop nest says: made for GPUs, whose kernels it becomes. Local view, on
    lowered types. `inputs` have one shape; lines are along `dim`. `inits` are written, not read.

        sort     Each line of all inputs in the order of the region, which is given two elements of each input (x0, y0, x1,
                 y1, ...) and says whether the first ones belong before the second. Equals keep their order. An init for
                 each input takes the first elements of the sorted lines, as many as fit; with `positions` a further one,
                 of integers, where in their lines they were.
        scan     Running combinations, with `backward` from the end. The region is given an accumulator of each input and an
                 element of each, and yields the accumulators; it is associative. `starts` (scalars) are what comes
                 before the first element. Floats are combined in an order that depends on sizes alone.
        fourier  Sums over j of x[j] (cosines[jk mod n] + i sines[jk mod n]), n the size of `dim`; inputs and inits are
                 real and imaginary parts. Two further inputs are the tables of n numbers, of exp(-2 pi i k / n): sums are
                 those of the forward transform. Sizes of `dim` are static. Or numbers as they are: one input, complex
                 or real, behind it the two tables, and one init; where one side is real, n is its size and the
                 other's is n / 2 + 1. The one of `starts` is what results are multiplied with, `backward` the
                 inverse transform: sums with exp(+2 pi i k / n).
    ```mlir
    %values, %places = kernel.lines sort dim 1 positions ins(%x : tensor<8x100xf32>) outs(%v, %p : tensor<8x5xf32>, tensor<8x5xi32>) body {
    ^bb0(%a: f32, %b: f32):
      %before = arith.cmpf ogt, %a, %b : f32
      kernel.yield %before : i1
    } -> tensor<8x5xf32>, tensor<8x5xi32>
    ```
  }];
  let arguments = (ins Kernel_LineKind:$kind, I64Attr:$dim, UnitAttr:$backward, UnitAttr:$positions,
                       Variadic<AnyShaped>:$inputs, Variadic<AnyType>:$starts, Variadic<AnyShaped>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    $kind `dim` $dim (`backward` $backward^)? (`positions` $positions^)? `ins` `(` $inputs `:` type($inputs) `)`
    (`starts` `(` $starts^ `:` type($starts) `)`)? `outs` `(` $inits `:` type($inits) `)` attr-dict
    (`body` $body^)? (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
  let hasVerifier = 1;
}

def Kernel_LineYieldOp : Kernel_Op<"yield", [Pure, Terminator, HasParent<"LinesOp">]> {
  let summary = "Ends the body of an op on lines.";
  let description = [{
    ```mlir
    // The smallest number first.
    %values = kernel.lines sort dim 0 ins(%x : tensor<100xi32>) outs(%v : tensor<100xi32>) body {
    ^bb0(%a: i32, %b: i32):
      %before = arith.cmpi slt, %a, %b : i32
      kernel.yield %before : i1
    } -> tensor<100xi32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELLINES_TD

//===- ChloScan.td - chlo.scan --------------------------------------------===//
//
// The one op of chlo with a region. Import makes a loop of it, so that it has a
// header of its own.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_CHLO_IR_CHLOSCAN_TD
#define SHARDC_DIALECT_CHLO_IR_CHLOSCAN_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// That of ChloOps.td, whose ops are generated there.
def Chlo_ScanDialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::shardc::chlo";
}

def Chlo_ScanOp : Op<Chlo_ScanDialect, "scan", [RecursiveMemoryEffects, AttrSizedOperandSegments,
                                                AttrSizedResultSegments]> {
  let summary = "Carry values along a dim, slice by slice.";
  let description = [{
    The region takes a slice of each input, without the dim, and what is carried; it returns slices of
    the outputs, and what is carried on.
    ```mlir
    %0:2 = chlo.scan(%x) inits(%zero) dimension=0 {
    ^bb0(%element: tensor<i32>, %sum: tensor<i32>):
      %1 = stablehlo.add %element, %sum : tensor<i32>
      stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
    } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$inits,
      I64Attr:$dimension, OptionalAttr<I64Attr>:$scan_dim_size,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse,
      OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<AnyRankedTensor>:$outputs, Variadic<AnyRankedTensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // SHARDC_DIALECT_CHLO_IR_CHLOSCAN_TD

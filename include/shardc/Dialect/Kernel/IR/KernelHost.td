//===- KernelHost.td - Calls of the process that runs a program ---*- tablegen -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELHOST_TD
#define SHARDC_DIALECT_KERNEL_IR_KERNELHOST_TD

include "shardc/Dialect/Kernel/IR/KernelDialect.td"

def Kernel_RunHostOp : Kernel_Op<"run_host", [DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "`spmd.host_call` into destinations.";
  let description = [{
    Once communication is lowered: on tensors results are `inits`, overwritten; on buffers there are none.
    ```mlir
    %r = kernel.run_host 0 ins(%w : tensor<?x4xf32>) outs(%e : tensor<?xf32>) effects as [tensor<8x4xf32>, tensor<8xf32>] along ["x"]
        on @mesh -> tensor<?xf32>
    ```
  }];
  let arguments = (ins I64Attr:$index, Variadic<AnyShaped>:$inputs, Variadic<AnyShaped>:$inits, UnitAttr:$has_effect,
                       UnitAttr:$ordered, TypeArrayAttr:$types, StrArrayAttr:$axes, FlatSymbolRefAttr:$mesh);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $index (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $inits^ `:` type($inits) `)`)?
    (`effects` $has_effect^)? (`ordered` $ordered^)? `as` $types `along` $axes `on` $mesh attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELHOST_TD

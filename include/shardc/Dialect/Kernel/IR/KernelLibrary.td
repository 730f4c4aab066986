//===- KernelLibrary.td - Operators done by a vendor's library ---*- tablegen -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELLIBRARY_TD
#define SHARDC_DIALECT_KERNEL_IR_KERNELLIBRARY_TD

include "shardc/Dialect/Kernel/IR/KernelDialect.td"

def Kernel_LibraryCallOp : Kernel_Op<"library_call", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Ask the library of the device's vendor to do a plain big operator.";
  let description = [{
    Once communication is lowered: of `inputs` into `inits`, which are overwritten (`product` may add to it, where the first of `numbers` is 1). `done` is
    false, and `inits` undefined, where the library is not there or does not take such operands: the program then does it
    itself. With `required` it is an error that the library is not there; with `tcgen05` GPUs alone ask it that have these instructions, for which
    there are no kernels. With `tf32` factors of f32 may be rounded to tf32. `kind` is `product`, `convolution`,
    `transform` or `attention`; shardrt/LibraryCall.h says which dims operands have and what `numbers` are; `at` are more of these, known when it runs. `dims` lists, for each operand and each of these
    dims, the operand's own, outermost first, which are contiguous together in memory; none: one element.
    `epilogue` is done to a product before it is stored: `bias` (the input behind the factors), `relu`, `gelu`.
    ```mlir
    // 64x32 times the transpose of 48x32, a bias of 48.
    %done = kernel.library_call "product" ins(%a, %b, %v : memref<64x32xbf16>, memref<48x32xbf16>, memref<48xf32>)
        outs(%c : memref<64x48xf32>) dims [[[], [0], [1]], [[], [1], [0]], [[0]], [[], [0], [1]]] numbers [0, 2] epilogue ["bias"]
    ```
    A result on tensors is that of the one init.
  }];
  let arguments = (ins StrAttr:$kind, Variadic<AnyShaped>:$inputs, Variadic<AnyShaped>:$inits, Variadic<Index>:$at, ArrayAttr:$dims,
                       DenseI64ArrayAttr:$numbers, OptionalAttr<StrArrayAttr>:$epilogue, UnitAttr:$required,
                       UnitAttr:$tcgen05, UnitAttr:$tf32);
  let results = (outs Optional<AnyRankedTensor>:$result, I1:$done);
  let assemblyFormat = [{
    $kind `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $inits `:` type($inits) `)` `dims` $dims
    `numbers` $numbers (`at` `(` $at^ `)`)? (`epilogue` $epilogue^)? (`required` $required^)? (`tcgen05` $tcgen05^)?
    (`tf32` $tf32^)? attr-dict (`:` type($result)^)?
  }];
  let extraClassDeclaration = [{
    /// Inputs, then inits.
    ::llvm::SmallVector<::mlir::Value> getShapedOperands();
    /// Per dim of the kind, those of operand `number`.
    ::llvm::SmallVector<::llvm::SmallVector<int64_t>> getGroups(unsigned number);
    /// shardrt_library_call_kind and shardrt_library_call_epilogue.
    int64_t getKindCode();
    int64_t getEpilogueCode();
  }];
  let hasVerifier = 1;
}

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELLIBRARY_TD

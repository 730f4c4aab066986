//===- KernelMatrices.td - Algorithms on matrices ------------*- tablegen -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELMATRICES_TD
#define SHARDC_DIALECT_KERNEL_IR_KERNELMATRICES_TD

include "shardc/Dialect/Kernel/IR/KernelDialect.td"

def Kernel_EighOp : Kernel_Op<"eigh", [DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Ascending eigenvalues of Hermitian matrices, and eigenvectors.";
  let description = [{
    What the host's runtime does to each matrix of a batch by itself. Local view, on lowered types. The last two dims of
    `input` are a matrix, of which the lower triangle is read, with `upper` the other one. `inits` are written, not
    read: the first takes the eigenvalues, a second one, where there is one, eigenvectors of norm one as columns. A
    matrix with NaN or infinities gives NaN. With `fixed_level` the bits are the same on all processors that have AVX2;
    else a processor with wider registers sums in another order.
    ```mlir
    %values, %vectors = kernel.eigh ins(%a : tensor<8x64x64xf32>) outs(%w, %v : tensor<8x64xf32>, tensor<8x64x64xf32>)
        -> tensor<8x64xf32>, tensor<8x64x64xf32>
    ```
  }];
  let arguments = (ins UnitAttr:$upper, UnitAttr:$fixedLevel, AnyShaped:$input, Variadic<AnyShaped>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    (`upper` $upper^)? (`fixed_level` $fixedLevel^)? `ins` `(` $input `:` type($input) `)` `outs` `(` $inits `:` type($inits) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
  let hasVerifier = 1;
}

def Kernel_SvdOp : Kernel_Op<"svd", [DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Descending singular values of matrices, and singular vectors.";
  let description = [{
    As `kernel.eigh`, of matrices with at least as many rows as columns. The first of `inits` takes the singular values;
    where there are two more, they take as columns the left singular vectors, each times its value, and the right ones.
    ```mlir
    %values, %left, %right = kernel.svd ins(%a : tensor<8x64x32xf32>)
        outs(%s, %w, %v : tensor<8x32xf32>, tensor<8x64x32xf32>, tensor<8x32x32xf32>)
        -> tensor<8x32xf32>, tensor<8x64x32xf32>, tensor<8x32x32xf32>
    ```
  }];
  let arguments = (ins UnitAttr:$fixedLevel, AnyShaped:$input, Variadic<AnyShaped>:$inits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    (`fixed_level` $fixedLevel^)? `ins` `(` $input `:` type($input) `)` `outs` `(` $inits `:` type($inits) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
  let hasVerifier = 1;
}

/// What is done by reflectors, each with a word of MatrixCall.h.
class Kernel_ReflectorsOp<string mnemonic> : Kernel_Op<mnemonic, [DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  code destination = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}
class Kernel_FactorOp<string mnemonic> : Kernel_ReflectorsOp<mnemonic> {
  let arguments = (ins UnitAttr:$fixedLevel, AnyShaped:$input, Variadic<AnyShaped>:$inits);
  let assemblyFormat = [{
    (`fixed_level` $fixedLevel^)? `ins` `(` $input `:` type($input) `)` `outs` `(` $inits `:` type($inits) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = destination # [{
    ::mlir::Value getPacked() { return getInits().front(); }
    ::mlir::Value getTaus() { return getInits().back(); }
  }];
}

def Kernel_QrOp : Kernel_FactorOp<"qr"> {
  let summary = "Householder's Q R of matrices.";
  let description = [{
    As `kernel.eigh`, of matrices of any shape. Of `inits` the first takes the packed matrices and the second the taus, in
    the conventions of `solver.qr`.
    ```mlir
    %packed, %taus = kernel.qr ins(%a : tensor<8x64x32xf32>) outs(%p, %t : tensor<8x64x32xf32>, tensor<8x32xf32>)
        -> tensor<8x64x32xf32>, tensor<8x32xf32>
    ```
  }];
}

def Kernel_HessenbergOp : Kernel_FactorOp<"hessenberg"> {
  let summary = "Hessenberg's form of square matrices.";
  let description = [{
    As `kernel.qr`, in the conventions of `solver.hessenberg`.
    ```mlir
    %packed, %taus = kernel.hessenberg ins(%a : tensor<64x64xf32>) outs(%p, %t : tensor<64x64xf32>, tensor<63xf32>)
        -> tensor<64x64xf32>, tensor<63xf32>
    ```
  }];
}

def Kernel_HouseholderProductOp : Kernel_ReflectorsOp<"householder_product"> {
  let summary = "The first columns of the product of reflectors.";
  let description = [{
    As `kernel.qr`, of what that one packs: `inits` takes the columns of Q.
    ```mlir
    %q = kernel.householder_product ins(%p, %t : tensor<8x64x32xf32>, tensor<8x32xf32>) outs(%r : tensor<8x64x32xf32>)
        -> tensor<8x64x32xf32>
    ```
  }];
  let arguments = (ins UnitAttr:$fixedLevel, AnyShaped:$input, AnyShaped:$taus, Variadic<AnyShaped>:$inits);
  let assemblyFormat = [{
    (`fixed_level` $fixedLevel^)? `ins` `(` $input `,` $taus `:` type($input) `,` type($taus) `)` `outs` `(` $inits `:` type($inits) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = destination # [{
    ::mlir::Value getPacked() { return getInits().front(); }
  }];
}

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELMATRICES_TD

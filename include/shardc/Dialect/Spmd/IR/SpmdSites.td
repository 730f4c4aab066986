//===- SpmdSites.td - Ops of lowered communication and of calls *- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDSITES_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDSITES_TD

include "shardc/Dialect/Spmd/IR/SpmdBase.td"
include "shardc/Dialect/Spmd/IR/SpmdHost.td"
include "shardc/Dialect/Spmd/IR/SpmdLibrary.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def Spmd_RunSiteOp : Spmd_Op<"run_site", [DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Run one communication site into a destination.";
  let description = [{
    On tensors the result is `init`, overwritten; on buffers there is no result. With a token it is the second
    half of an exchange that `spmd.start_site` began, or a use of the plan that one made. `accumulates`: the
    site changes some of what is in `init`.
    ```mlir
    %1 = spmd.run_site 3 ins(%0, %zero : tensor<8x4xf32>, tensor<f32>) outs(%init : tensor<10x4xf32>) -> tensor<10x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$site, Optional<I64>:$token, Variadic<AnyShaped>:$inputs, Variadic<AnyShaped>:$inits,
                       UnitAttr:$accumulates);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $site (`after` $token^)? `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $inits `:` type($inits) `)` (`accumulates` $accumulates^)? attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

def Spmd_StartSiteOp : Spmd_Op<"start_site", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Begin the exchange of one site; `spmd.run_site` with the token ends it.";
  let description = [{
    On tensors `held` is the input as peers read it, perhaps a dense copy: the `spmd.run_site` takes it, so that it
    stays until then. On buffers there is the token alone.
    ```mlir
    %t, %held = spmd.start_site 3 ins(%0 : tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$site, AnyShaped:$input);
  let results = (outs I64:$token, Optional<AnyRankedTensor>:$held);
  let assemblyFormat = "$site `ins` `(` $input `:` type($input) `)` attr-dict (`->` type($held)^)?";
}

def Spmd_ReleaseSiteOp : Spmd_Op<"release_site", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait until nobody reads the source of an exchange any more.";
  let description = [{
    Of a site whose `spmd.run_site` does not wait for that: until here the buffer stays as it is.
    ```mlir
    spmd.release_site 3 of %0 : memref<8x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$site, AnyMemRef:$input);
  let assemblyFormat = "$site `of` $input attr-dict `:` type($input)";
}

def Spmd_ReceivedOp : Spmd_Op<"received", [Pure, AllTypesMatch<["buffer", "result"]>, ViewLikeOpInterface]> {
  let summary = "What the exchange of one site receives, wherever it is issued.";
  let description = [{
    Either `buffer`, or the argument that the `spmd.run_site` into the result reads, where the exchange leaves that as it is: the runtime
    says which, by rank. Nothing but that site writes it.
    ```mlir
    %0 = spmd.received %buffer by 3 : memref<?x4xf32>
    spmd.run_site 3 ins(%argument : memref<?x4xf32>) outs(%0 : memref<?x4xf32>)
    ```
  }];
  let arguments = (ins AnyMemRef:$buffer, I64Attr:$site);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$buffer `by` $site attr-dict `:` type($buffer)";
  let extraClassDeclaration = [{
    ::mlir::Value getViewSource() { return getBuffer(); }
  }];
}

#endif // SHARDC_DIALECT_SPMD_IR_SPMDSITES_TD

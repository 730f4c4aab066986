//===- KernelSites.td - Ops of lowered communication and of calls *- tablegen -*-===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELSITES_TD
#define SHARDC_DIALECT_KERNEL_IR_KERNELSITES_TD

include "shardc/Dialect/Kernel/IR/KernelDialect.td"
include "shardc/Dialect/Kernel/IR/KernelHost.td"
include "shardc/Dialect/Kernel/IR/KernelLibrary.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def Kernel_RunSiteOp : Kernel_Op<"run_site", [DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Run one communication site into a destination.";
  let description = [{
    On tensors the result is `init`, overwritten; on buffers there is no result. With a token it is the second
    half of an exchange that `kernel.start_site` began, or a use of the plan that one made. `accumulates`: the
    site changes some of what is in `init`.
    ```mlir
    %1 = kernel.run_site 3 ins(%0, %zero : tensor<8x4xf32>, tensor<f32>) outs(%init : tensor<10x4xf32>) -> tensor<10x4xf32>
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

def Kernel_StartSiteOp : Kernel_Op<"start_site", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Begin the exchange of one site; `kernel.run_site` with the token ends it.";
  let description = [{
    On tensors `held` is the input as peers read it, perhaps a dense copy: the `kernel.run_site` takes it, so that it
    stays until then. On buffers there is the token alone.
    ```mlir
    %t, %held = kernel.start_site 3 ins(%0 : tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$site, AnyShaped:$input);
  let results = (outs I64:$token, Optional<AnyRankedTensor>:$held);
  let assemblyFormat = "$site `ins` `(` $input `:` type($input) `)` attr-dict (`->` type($held)^)?";
}

def Kernel_ReleaseSiteOp : Kernel_Op<"release_site", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait until nobody reads the source of an exchange any more.";
  let description = [{
    Of a site whose `kernel.run_site` does not wait for that: until here the buffer stays as it is.
    ```mlir
    kernel.release_site 3 of %0 : memref<8x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$site, AnyMemRef:$input);
  let assemblyFormat = "$site `of` $input attr-dict `:` type($input)";
}

def Kernel_ReceivedOp : Kernel_Op<"received", [Pure, AllTypesMatch<["buffer", "result"]>, ViewLikeOpInterface]> {
  let summary = "What the exchange of one site receives, wherever it is issued.";
  let description = [{
    Either `buffer`, or the argument that the `kernel.run_site` into the result reads, where the exchange leaves that as it is: the runtime
    says which, by rank. Nothing but that site writes it.
    ```mlir
    %0 = kernel.received %buffer by 3 : memref<?x4xf32>
    kernel.run_site 3 ins(%argument : memref<?x4xf32>) outs(%0 : memref<?x4xf32>)
    ```
  }];
  let arguments = (ins AnyMemRef:$buffer, I64Attr:$site);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$buffer `by` $site attr-dict `:` type($buffer)";
  let extraClassDeclaration = [{
    ::mlir::Value getViewSource() { return getBuffer(); }
  }];
}

def Kernel_ArenaPlaceOp : Kernel_Op<"arena_place", [Pure]> {
  let summary = "Where a buffer of the arena begins, or where the arena ends.";
  let description = [{
    The offset in bytes of buffer `number` of the module's `kernel.arena_plan` on this rank; of the number behind the last one
    the bytes of the arena.
    ```mlir
    %offset = kernel.arena_place 3
    ```
  }];
  let arguments = (ins I64Attr:$number);
  let results = (outs Index:$offset);
  let assemblyFormat = "$number attr-dict";
}

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELSITES_TD

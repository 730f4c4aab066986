//===- SdyOps.td - Shardy's ops -------------------------------------------===//
#ifndef SHARDC_DIALECT_SDY_IR_SDYOPS_TD
#define SHARDC_DIALECT_SDY_IR_SDYOPS_TD

include "shardc/Dialect/Sdy/IR/SdyAttrs.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Sdy_Op<string mnemonic, list<Trait> traits = []> : Op<Sdy_Dialect, mnemonic, traits>;

// Ops that name meshes check them once the whole module is there.
def Sdy_VerifiesMesh : DeclareOpInterfaceMethods<SymbolUserOpInterface>;

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol]> {
  let summary = "A mesh, named; may be defined after its uses.";
  let description = [{
    ```mlir
    sdy.mesh @mesh = <["x"=2, "y"=2]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_MeshAttr:$mesh);
  let hasVerifier = 1;
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def Sdy_ShardingConstraintOp : Sdy_Op<"sharding_constraint",
    [Pure, SameOperandsAndResultType, Sdy_VerifiesMesh]> {
  let summary = "The operand, laid out as said.";
  let description = [{
    ```mlir
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"} ]> : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sdy_TensorShardingAttr:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

def Sdy_ReshardOp : Sdy_Op<"reshard", [Pure, SameOperandsAndResultType, Sdy_VerifiesMesh]> {
  let summary = "Move the operand to another layout.";
  let arguments = (ins AnyRankedTensor:$input, Sdy_TensorShardingAttr:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "Values of one group have one sharding.";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def Sdy_PropagationBarrierOp
    : Sdy_Op<"propagation_barrier", [Pure, SameOperandsAndResultType]> {
  let summary = "Shardings propagate only in the direction said.";
  let arguments = (ins AnyRankedTensor:$input,
                       Sdy_PropagationDirectionAttr:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `allowed_direction` `` `=` `` custom<Direction>($allowed_direction) attr-dict `:` type($result)
  }];
}

def Sdy_DataFlowEdgeOp
    : Sdy_Op<"data_flow_edge", [Pure, SameOperandsAndResultType, Sdy_VerifiesMesh]> {
  let summary = "Sources and targets of one data flow have one sharding.";
  let arguments = (ins AnyShaped:$input, OptionalAttr<Sdy_TensorShardingAttr>:$sharding);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = [{
    $input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)
  }];
}

def Sdy_ConstantOp : Sdy_Op<"constant",
    [Pure, ConstantLike, AllTypesMatch<["value", "output"]>]> {
  let summary = "A tensor known at compile time, one for each use.";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let hasFolder = 1;
  let assemblyFormat = "attr-dict $value";
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "Ends a region of an sdy op.";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_ManualComputationOp : Sdy_Op<"manual_computation",
    [RecursiveMemoryEffects, RecursivelySpeculatable, Sdy_VerifiesMesh]> {
  let summary = "A region on local shapes, along the manual axes.";
  let description = [{
    The region's argument types are local along `manual_axes`, global along the others.
    ```mlir
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {} ]>]
        out_shardings=[<@mesh, [{"x"}, {} ]>] manual_axes={"x"} (%a: tensor<4x6xf32>) {
      sdy.return %a : tensor<4x6xf32>
    } : (tensor<8x6xf32>) -> tensor<8x6xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$tensors,
      Sdy_TensorShardingPerValueAttr:$in_shardings,
      Sdy_TensorShardingPerValueAttr:$out_shardings, Sdy_ManualAxesAttr:$manual_axes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `(` $tensors `)`
      `in_shardings` `` `=` `` custom<Shardings>($in_shardings)
      `out_shardings` `` `=` `` custom<Shardings>($out_shardings)
      `manual_axes` `` `=` `` $manual_axes
      custom<RegionWithArguments>($body) attr-dict `:` functional-type(operands, results)
  }];
}

def Sdy_NamedComputationOp : Sdy_Op<"named_computation",
    [RecursiveMemoryEffects, RecursivelySpeculatable, Sdy_VerifiesMesh]> {
  let summary = "A region with a name, as a call of a function would be.";
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$operands,
      OptionalAttr<Sdy_TensorShardingPerValueAttr>:$in_shardings,
      OptionalAttr<Sdy_TensorShardingPerValueAttr>:$out_shardings);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `` `<` $name `>` `` `(` $operands `)`
      (`in_shardings` `` `=` `` custom<Shardings>($in_shardings)^)?
      (`out_shardings` `` `=` `` custom<Shardings>($out_shardings)^)?
      custom<RegionWithArguments>($body) attr-dict `:` functional-type($operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Collectives: the value stays, its layout changes
//===----------------------------------------------------------------------===//

class Sdy_CollectiveOp<string mnemonic, dag parameters, string what, string format>
    : Sdy_Op<mnemonic, [Pure, SameOperandsAndResultType, Sdy_VerifiesMesh]> {
  let summary = what;
  let arguments = !con((ins AnyRankedTensor:$tensor), parameters,
                       (ins Sdy_TensorShardingAttr:$out_sharding));
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = format # [{
    $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)
  }];
}

def Sdy_AllGatherOp : Sdy_CollectiveOp<"all_gather",
    (ins Sdy_ListOfAxisRefListsAttr:$gathering_axes),
    "Take axes off dims.", "$gathering_axes ">;
def Sdy_AllSliceOp : Sdy_CollectiveOp<"all_slice",
    (ins Sdy_ListOfAxisRefListsAttr:$slicing_axes),
    "Put axes on dims; no communication.", "$slicing_axes ">;
def Sdy_AllToAllOp : Sdy_CollectiveOp<"all_to_all",
    (ins Sdy_AllToAllParamListAttr:$params), "Move axes from dim to dim.", "$params ">;
def Sdy_CollectivePermuteOp : Sdy_CollectiveOp<"collective_permute", (ins),
    "Exchange whole shards.", "">;
def Sdy_AllReduceOp : Sdy_CollectiveOp<"all_reduce",
    (ins DefaultValuedAttr<Sdy_ReductionKindAttr, "::shardc::sdy::ReductionKind::Sum">:$reduction,
         Sdy_AxisRefListAttr:$reduction_axes),
    "Combine partial values over axes.", "custom<OptionalReduction>($reduction) $reduction_axes ">;
def Sdy_ReduceScatterOp : Sdy_CollectiveOp<"reduce_scatter",
    (ins DefaultValuedAttr<Sdy_ReductionKindAttr, "::shardc::sdy::ReductionKind::Sum">:$reduction,
         Sdy_ListOfAxisRefListsAttr:$reduce_scatter_axes),
    "Combine partial values, each keeping a part.",
    "custom<OptionalReduction>($reduction) $reduce_scatter_axes ">;
def Sdy_ShardedToUnreducedOp : Sdy_CollectiveOp<"sharded_to_unreduced",
    (ins Sdy_ListOfAxisRefListsAttr:$axes),
    "Shards become partial values, zero elsewhere.", "$axes ">;
def Sdy_ReplicatedToUnreducedOp : Sdy_CollectiveOp<"replicated_to_unreduced",
    (ins Sdy_AxisRefListAttr:$axes),
    "The value on one device of each group, zero on the others.", "$axes ">;

#endif // SHARDC_DIALECT_SDY_IR_SDYOPS_TD

//===- ChloOps.td - The chlo dialect --------------------------------------===//
//
// Functions that StableHLO has no op for. Text: `chlo.erf %a : T -> T`.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_CHLO_IR_CHLOOPS_TD
#define SHARDC_DIALECT_CHLO_IR_CHLOOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::shardc::chlo";
  let summary = "Elementary and special functions beside StableHLO.";
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Chlo_Elementwise : NativeOpTrait<"ElementwiseTrait"> {
  let cppNamespace = "::shardc::stablehlo";
}

def Chlo_Complex : AnyTypeOf<[Complex<F32>, Complex<F64>], "a complex number">;
def Chlo_Int : AnyTypeOf<[AnySignlessInteger, AnyUnsignedInteger], "an integer">;
def Chlo_Tensor : RankedTensorOf<[AnyFloat, Chlo_Int, Chlo_Complex]>;
def Chlo_FloatTensor : RankedTensorOf<[AnyFloat]>;
def Chlo_FloatOrComplexTensor : RankedTensorOf<[AnyFloat, Chlo_Complex]>;
def Chlo_PredTensor : RankedTensorOf<[I1]>;

class Chlo_Op<string mnemonic, list<Trait> traits> : Op<Chlo_Dialect, mnemonic, traits> {
  code compatibleReturnTypes = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::shardc::areCompatibleTypes(l, r);
    }
  }];
  let extraClassDeclaration = compatibleReturnTypes;
}

// An op whose result types are inferred and compared.
class Chlo_InferOp<string mnemonic, list<Trait> traits = []>
    : Chlo_Op<mnemonic, !listconcat(traits, [Pure, InferTypeOpAdaptor])> {
  let hasVerifier = 1;
  let extraClassDeclaration = compatibleReturnTypes # [{
    // Verified by verify(), which says once what is wrong.
    static ::llvm::LogicalResult refineReturnTypes(::mlir::MLIRContext *,
        std::optional<::mlir::Location>, ::mlir::ValueRange, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::mlir::success();
    }
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::shardc::verifyInferredTypes<$cppClass>(*this);
    }
  }];
}

def Chlo_Precision : I32Enum<"Precision", "", [
    I32EnumCase<"DEFAULT", 0>, I32EnumCase<"HIGH", 1>, I32EnumCase<"HIGHEST", 2>]> {
  let cppNamespace = "::shardc::chlo";
}
def Chlo_PrecisionAttr : EnumAttr<Chlo_Dialect, Chlo_Precision, "precision">;

def Chlo_RaggedDotDimensionNumbersAttr
    : AttrDef<Chlo_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let summary = "Dims of a product, that which is cut into groups, and that of the groups.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$lhsBatchingDimensions,
      ArrayRefParameter<"int64_t">:$rhsBatchingDimensions,
      ArrayRefParameter<"int64_t">:$lhsContractingDimensions,
      ArrayRefParameter<"int64_t">:$rhsContractingDimensions,
      ArrayRefParameter<"int64_t">:$lhsRaggedDimensions,
      ArrayRefParameter<"int64_t">:$rhsGroupDimensions);
  let hasCustomAssemblyFormat = 1;
}

class Chlo_UnaryOp<string mnemonic, Type type, string what>
    : Chlo_Op<mnemonic, [Pure, Chlo_Elementwise, SameOperandsAndResultType]> {
  let summary = what;
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

class Chlo_PredicateOp<string mnemonic, string what>
    : Chlo_InferOp<mnemonic, [Chlo_Elementwise]> {
  let summary = what;
  let arguments = (ins Chlo_FloatTensor:$operand);
  let results = (outs Chlo_PredTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

class Chlo_BinaryOp<string mnemonic, string first, string second, string what>
    : Chlo_Op<mnemonic, [Pure, Chlo_Elementwise, SameOperandsAndResultType]> {
  let summary = what;
  dag operands = !dag(ins, [Chlo_FloatTensor, Chlo_FloatTensor], [first, second]);
  let arguments = operands;
  let results = (outs Chlo_FloatTensor:$result);
  let assemblyFormat = "$" # first # " `,` $" # second # " attr-dict `:` type($" # first
      # ") `,` type($" # second # ") `->` type($result)";
}

def Chlo_AcosOp : Chlo_UnaryOp<"acos", Chlo_FloatOrComplexTensor,
    "Arc cosine, in radians.">;
def Chlo_AcoshOp : Chlo_UnaryOp<"acosh", Chlo_FloatOrComplexTensor,
    "Inverse hyperbolic cosine.">;
def Chlo_AsinOp : Chlo_UnaryOp<"asin", Chlo_FloatOrComplexTensor,
    "Arc sine, in radians.">;
def Chlo_AsinhOp : Chlo_UnaryOp<"asinh", Chlo_FloatOrComplexTensor,
    "Inverse hyperbolic sine.">;
def Chlo_AtanOp : Chlo_UnaryOp<"atan", Chlo_FloatOrComplexTensor,
    "Arc tangent, in radians.">;
def Chlo_AtanhOp : Chlo_UnaryOp<"atanh", Chlo_FloatOrComplexTensor,
    "Inverse hyperbolic tangent.">;
def Chlo_BesselI1eOp : Chlo_UnaryOp<"bessel_i1e", Chlo_FloatTensor,
    "exp(-|x|) times the modified Bessel function of order one.">;
def Chlo_ConjOp : Chlo_UnaryOp<"conj", Chlo_FloatOrComplexTensor,
    "Complex conjugate.">;
def Chlo_CoshOp : Chlo_UnaryOp<"cosh", Chlo_FloatOrComplexTensor,
    "Hyperbolic cosine.">;
def Chlo_DigammaOp : Chlo_UnaryOp<"digamma", Chlo_FloatTensor,
    "Derivative of lgamma.">;
def Chlo_ErfOp : Chlo_UnaryOp<"erf", Chlo_FloatTensor,
    "Error function.">;
def Chlo_ErfInvOp : Chlo_UnaryOp<"erf_inv", Chlo_FloatTensor,
    "Inverse of the error function.">;
def Chlo_ErfcOp : Chlo_UnaryOp<"erfc", Chlo_FloatTensor,
    "One minus the error function.">;
def Chlo_LgammaOp : Chlo_UnaryOp<"lgamma", Chlo_FloatTensor,
    "Logarithm of the absolute gamma function.">;
def Chlo_SinhOp : Chlo_UnaryOp<"sinh", Chlo_FloatOrComplexTensor,
    "Hyperbolic sine.">;
def Chlo_SquareOp : Chlo_UnaryOp<"square", Chlo_FloatOrComplexTensor,
    "The operand times itself.">;
def Chlo_TanOp : Chlo_UnaryOp<"tan", Chlo_FloatOrComplexTensor,
    "Tangent, of radians.">;

def Chlo_IsInfOp : Chlo_PredicateOp<"is_inf", "True where infinite.">;
def Chlo_IsNegInfOp : Chlo_PredicateOp<"is_neg_inf", "True where minus infinity.">;
def Chlo_IsPosInfOp : Chlo_PredicateOp<"is_pos_inf", "True where plus infinity.">;

def Chlo_NextAfterOp : Chlo_BinaryOp<"next_after", "x", "y",
    "The next number after x towards y.">;
def Chlo_PolygammaOp : Chlo_BinaryOp<"polygamma", "n", "x",
    "Derivative of order n of digamma.">;
def Chlo_ZetaOp : Chlo_BinaryOp<"zeta", "x", "q", "Hurwitz zeta function.">;

def Chlo_ConstantOp : Chlo_Op<"constant",
    [Pure, ConstantLike, AllTypesMatch<["value", "output"]>]> {
  let summary = "A tensor known at compile time.";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let extraClassDeclaration = "";
  let hasFolder = 1;
  let assemblyFormat = "attr-dict $value";
}

def Chlo_ConstantLikeOp : Chlo_Op<"constant_like", [Pure]> {
  let summary = "One value in the operand's shape.";
  let arguments = (ins TypedAttrInterface:$value, Chlo_Tensor:$operand);
  let results = (outs Chlo_Tensor:$result);
}

def Chlo_TopKOp : Chlo_InferOp<"top_k"> {
  let summary = "The k largest elements along the last dim, and where they are.";
  let description = [{
    Sorted descending, ties by lower index, NaN first.
    ```mlir
    %v, %i = chlo.top_k(%0, k = 8) : tensor<64x256xf32> -> (tensor<64x8xf32>, tensor<64x8xi32>)
    ```
  }];
  let arguments = (ins Chlo_Tensor:$operand, I64Attr:$k);
  let results = (outs Chlo_Tensor:$values, RankedTensorOf<[I32]>:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k `)` attr-dict
      `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
}

def Chlo_MulhiOp : Chlo_Op<"mulhi", [Pure, Chlo_Elementwise, SameOperandsAndResultType]> {
  let summary = "The upper half of the product of integers.";
  let arguments = (ins RankedTensorOf<[Chlo_Int]>:$lhs, RankedTensorOf<[Chlo_Int]>:$rhs);
  let results = (outs RankedTensorOf<[Chlo_Int]>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def Chlo_RaggedDotOp : Chlo_Op<"ragged_dot", [Pure]> {
  let summary = "Products of groups of rows, each with a matrix of its own.";
  let description = [{
    One dim of `lhs` is cut into groups of `group_sizes`, one behind the other. Is it free, each group
    meets its own matrix of `rhs`; is it contracted, each group gives a matrix of the result, in a dim before
    the others; is it a batch, groups say nothing. Elements behind all groups count as zeros.
  }];
  let arguments = (ins Chlo_Tensor:$lhs, Chlo_Tensor:$rhs, RankedTensorOf<[Chlo_Int]>:$group_sizes,
      Chlo_RaggedDotDimensionNumbersAttr:$ragged_dot_dimension_numbers,
      OptionalAttr<TypedArrayAttrBase<Chlo_PrecisionAttr, "precision of each operand">>:$precision_config);
  let results = (outs Chlo_Tensor:$result);
  let extraClassDeclaration = "";
  let hasVerifier = 1;
}

def Chlo_ScanOp : Chlo_Op<"scan",
    [RecursiveMemoryEffects, AttrSizedOperandSegments, AttrSizedResultSegments]> {
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
  let extraClassDeclaration = "";
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // SHARDC_DIALECT_CHLO_IR_CHLOOPS_TD

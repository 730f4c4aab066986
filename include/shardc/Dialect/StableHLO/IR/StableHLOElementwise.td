//===- StableHLOElementwise.td - One element at a time -----------------------===//
//
// Every op here carries ElementwiseTrait: rules and lowering treat them alike.
// Text: `stablehlo.add %a, %b : T`, or `(T, U) -> V` where the types differ.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOELEMENTWISE_TD
#define SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOELEMENTWISE_TD

include "shardc/Dialect/StableHLO/IR/StableHLOAttrs.td"

class StableHLO_UnaryOp<string mnemonic, Type type, string what, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, !listconcat(traits,
                   [Pure, StableHLO_Elementwise, SameOperandsAndResultType])> {
  let summary = what;
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let extraClassDeclaration = compatibleReturnTypes;
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

// A function of which a certain accuracy may be asked; all of them are as accurate as
// docs/Reference/accuracy.md says.
class StableHLO_FunctionOp<string mnemonic, string what>
    : StableHLO_UnaryOp<mnemonic, StableHLO_FloatOrComplexTensor, what,
        [PredOpTrait<"result_accuracy has no negative tolerance, and none but of mode TOLERANCE",
             CPred<"isPossible($_op.getAttrOfType<ResultAccuracyAttr>(\"result_accuracy\"))">>]> {
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand,
                       OptionalAttr<StableHLO_ResultAccuracyAttr>:$result_accuracy);
}

// A unary op whose result's element type differs from its operand's.
class StableHLO_UnaryInferOp<string mnemonic, Type operandType, Type resultType, string what,
                             list<Trait> traits = []>
    : StableHLO_InferOp<mnemonic, !listconcat(traits, [Pure, StableHLO_Elementwise])> {
  let summary = what;
  let arguments = (ins operandType:$operand);
  let results = (outs resultType:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

class StableHLO_BinaryOp<string mnemonic, Type type, string what, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, !listconcat(traits,
                   [Pure, StableHLO_Elementwise, SameOperandsAndResultType])> {
  let summary = what;
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let extraClassDeclaration = compatibleReturnTypes;
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
      `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))
  }];
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

def StableHLO_CbrtOp : StableHLO_FunctionOp<"cbrt",
    "Cube root.">;
def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil", StableHLO_FloatTensor,
    "Round towards plus infinity.">;
def StableHLO_ClzOp : StableHLO_UnaryOp<"count_leading_zeros", StableHLO_NumberIntTensor,
    "Number of leading zero bits.">;
def StableHLO_CosineOp : StableHLO_FunctionOp<"cosine",
    "Cosine, of radians.">;
def StableHLO_ExpOp : StableHLO_FunctionOp<"exponential",
    "e to the operand.">;
def StableHLO_Expm1Op : StableHLO_FunctionOp<"exponential_minus_one",
    "e to the operand, minus one, exact near zero.">;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor", StableHLO_FloatTensor,
    "Round towards minus infinity.">;
def StableHLO_LogOp : StableHLO_FunctionOp<"log",
    "Natural logarithm.">;
def StableHLO_Log1pOp : StableHLO_FunctionOp<"log_plus_one",
    "Natural logarithm of one plus the operand.">;
def StableHLO_LogisticOp : StableHLO_FunctionOp<"logistic",
    "1 / (1 + exp(-x)).">;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate", StableHLO_NumberTensor,
    "Minus the operand; wraps for unsigned integers.">;
def StableHLO_NotOp : StableHLO_UnaryOp<"not", StableHLO_IntTensor,
    "Bitwise complement; logical for i1.">;
def StableHLO_PopulationCountOp : StableHLO_UnaryOp<"popcnt", StableHLO_NumberIntTensor,
    "Number of one bits.">;
def StableHLO_RoundOp : StableHLO_UnaryOp<"round_nearest_afz", StableHLO_FloatTensor,
    "Nearest integer, halves away from zero.">;
def StableHLO_RoundNearestEvenOp : StableHLO_UnaryOp<"round_nearest_even", StableHLO_FloatTensor,
    "Nearest integer, halves to even.">;
def StableHLO_RsqrtOp : StableHLO_FunctionOp<"rsqrt",
    "1 / sqrt(x).">;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign", StableHLO_SignedTensor,
    "-1, 0 or 1 (a unit complex number for complex); NaN stays NaN.">;
def StableHLO_SineOp : StableHLO_FunctionOp<"sine",
    "Sine, of radians.">;
def StableHLO_SqrtOp : StableHLO_FunctionOp<"sqrt",
    "Square root.">;
def StableHLO_TanOp : StableHLO_FunctionOp<"tan",
    "Tangent, of radians.">;
def StableHLO_TanhOp : StableHLO_FunctionOp<"tanh",
    "Hyperbolic tangent.">;

def StableHLO_AbsOp : StableHLO_UnaryInferOp<"abs", StableHLO_SignedTensor, StableHLO_SignedTensor,
    "Absolute value; the modulus, of real type, for complex.">;
def StableHLO_RealOp : StableHLO_UnaryInferOp<"real", StableHLO_FloatOrComplexTensor,
    StableHLO_FloatTensor, "Real part.">;
def StableHLO_ImagOp : StableHLO_UnaryInferOp<"imag", StableHLO_FloatOrComplexTensor,
    StableHLO_FloatTensor, "Imaginary part; zero for a real operand.">;
def StableHLO_IsFiniteOp : StableHLO_UnaryInferOp<"is_finite", StableHLO_FloatTensor,
    StableHLO_PredTensor, "True where neither infinite nor NaN.">;

def StableHLO_ConvertOp : StableHLO_Op<"convert",
    [Pure, StableHLO_Elementwise, SameOperandsAndResultShape]> {
  let summary = "Change the element type.";
  let description = [{
    ```mlir
    %1 = stablehlo.convert %0 : (tensor<4xi1>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Type":$elementType)>];
  let hasFolder = 1;
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

def StableHLO_ReducePrecisionOp : StableHLO_Op<"reduce_precision",
    [Pure, StableHLO_Elementwise, SameOperandsAndResultType]> {
  let summary = "Round to fewer exponent and mantissa bits and back.";
  let description = [{
    ```mlir
    %1 = stablehlo.reduce_precision %0, format = e8m7 : tensor<64xf32>
    ```
  }];
  let arguments = (ins StableHLO_FloatTensor:$operand, I32Attr:$exponent_bits,
                       I32Attr:$mantissa_bits);
  let results = (outs StableHLO_FloatTensor:$output);
  let extraClassDeclaration = compatibleReturnTypes;
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict
      `:` custom<SameOperandsAndResultType>(type($operand), type($output))
  }];
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

def StableHLO_AddOp : StableHLO_BinaryOp<"add", StableHLO_Tensor,
    "Sum; logical or for i1.", [Commutative]>;
def StableHLO_AndOp : StableHLO_BinaryOp<"and", StableHLO_IntTensor,
    "Bitwise and; logical for i1.", [Commutative]>;
def StableHLO_Atan2Op : StableHLO_BinaryOp<"atan2", StableHLO_FloatOrComplexTensor,
    "Angle of the point (rhs, lhs), in radians.">;
def StableHLO_DivOp : StableHLO_BinaryOp<"divide", StableHLO_NumberTensor,
    "Quotient; integers round towards zero.">;
def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum", StableHLO_Tensor,
    "Larger of both; NaN wins; logical or for i1.", [Commutative]>;
def StableHLO_MinOp : StableHLO_BinaryOp<"minimum", StableHLO_Tensor,
    "Smaller of both; NaN wins; logical and for i1.", [Commutative]>;
def StableHLO_MulOp : StableHLO_BinaryOp<"multiply", StableHLO_Tensor,
    "Product; logical and for i1.", [Commutative]>;
def StableHLO_OrOp : StableHLO_BinaryOp<"or", StableHLO_IntTensor,
    "Bitwise or; logical for i1.", [Commutative]>;
def StableHLO_PowOp : StableHLO_BinaryOp<"power", StableHLO_NumberTensor,
    "lhs to the rhs.">;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder", StableHLO_NumberTensor,
    "Remainder with the sign of lhs.">;
def StableHLO_ShiftLeftOp : StableHLO_BinaryOp<"shift_left", StableHLO_NumberIntTensor,
    "Shift towards high bits; 0 for shifts of the width or more.">;
def StableHLO_ShiftRightArithmeticOp : StableHLO_BinaryOp<"shift_right_arithmetic", StableHLO_NumberIntTensor,
    "Shift towards low bits, keeping the sign.">;
def StableHLO_ShiftRightLogicalOp : StableHLO_BinaryOp<"shift_right_logical", StableHLO_NumberIntTensor,
    "Shift towards low bits, filling with zeros.">;
def StableHLO_SubtractOp : StableHLO_BinaryOp<"subtract", StableHLO_NumberTensor,
    "Difference.">;
def StableHLO_XorOp : StableHLO_BinaryOp<"xor", StableHLO_IntTensor,
    "Bitwise exclusive or; logical for i1.", [Commutative]>;

def StableHLO_ComplexOp : StableHLO_InferOp<"complex",
    [Pure, StableHLO_Elementwise, SameOperandsElementType, SameOperandsAndResultShape]> {
  let summary = "A complex number from its real and imaginary part.";
  let arguments = (ins StableHLO_FloatTensor:$lhs, StableHLO_FloatTensor:$rhs);
  let results = (outs StableHLO_ComplexTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<ComplexOpType>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_CompareOp : StableHLO_InferOp<"compare",
    [Pure, StableHLO_Elementwise, SameOperandsElementType, SameOperandsAndResultShape]> {
  let summary = "Compare both operands.";
  let description = [{
    The comparison type says how: FLOAT (NaN is unequal to all), TOTALORDER, SIGNED, UNSIGNED;
    without one, as the element type suggests.
    ```mlir
    %2 = stablehlo.compare GT, %0, %1, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
      StableHLO_ComparisonDirectionAttr:$comparison_direction,
      OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs StableHLO_PredTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
      "::shardc::stablehlo::ComparisonDirection":$direction,
      CArg<"::shardc::stablehlo::ComparisonType",
           "::shardc::stablehlo::ComparisonType::NOTYPE">:$type)>];
  let extraClassDefinition = ""; // has a verifier of its own
  let assemblyFormat = [{
    custom<EnumWord>($comparison_direction) `,` $lhs `,` $rhs
      (`,` custom<EnumWord>($compare_type)^)? attr-dict
      `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Ternary
//===----------------------------------------------------------------------===//

def StableHLO_SelectOp : StableHLO_InferOp<"select", [Pure, StableHLO_Elementwise]> {
  let summary = "on_true where pred holds, on_false elsewhere.";
  let description = [{
    `pred` has the shape of the others, or is a scalar that decides for all elements.
    ```mlir
    %1 = stablehlo.select %p, %a, %b : tensor<8xi1>, tensor<8xf32>
    ```
  }];
  let arguments = (ins StableHLO_PredTensor:$pred, StableHLO_Tensor:$on_true,
                       StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict
      `:` custom<SelectOpType>(type($pred), type($on_true), type($on_false), type($result))
  }];
}

def StableHLO_ClampOp : StableHLO_InferOp<"clamp", [Pure, StableHLO_Elementwise]> {
  let summary = "The operand, no smaller than min and no larger than max.";
  let description = [{
    `min` and `max` have the operand's shape, or are scalars.
    ```mlir
    %1 = stablehlo.clamp %lo, %0, %hi : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins StableHLO_Tensor:$min, StableHLO_Tensor:$operand, StableHLO_Tensor:$max);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict
      `:` custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result))
  }];
}

#endif // SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOELEMENTWISE_TD

//===- StableHLOBase.td - The dialect, its types, its op classes ----------===//
//
// Text of StableHLO 1.17 as JAX 0.10 prints it. Names of ops and operands are
// StableHLO's own; shapes may hold `?` everywhere, since the local view does.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOBASE_TD
#define SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::shardc::stablehlo";
  let summary = "StableHLO as JAX prints it.";
  let description = [{
    The global view's tensor operations: parsed, verified, inferred and printed here;
    what they mean for shardings is in Rules, what they compute in Linalg.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // On `scatter`: its inputs are one rank's block, and a window may be larger.
  let discardableAttrs = (ins "::mlir::UnitAttr":$block);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class StableHLO_Type<string name, string typeMnemonic> : TypeDef<Stablehlo_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def StableHLO_TokenType : StableHLO_Type<"Token", "token"> {
  let summary = "Orders side effects.";
}

def StableHLO_FutureType : StableHLO_Type<"Future", "future"> {
  let summary = "Tensors of an operation that is under way.";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
  let genVerifyDecl = 1;
}

def StableHLO_Int : AnyTypeOf<[AnySignlessInteger, AnyUnsignedInteger], "an integer">;
def StableHLO_Complex : AnyTypeOf<[Complex<F32>, Complex<F64>], "a complex number">;

def StableHLO_Tensor : RankedTensorOf<[AnyFloat, StableHLO_Int, StableHLO_Complex]>;
def StableHLO_SignedInt : AnyTypeOf<[I<2>, I<4>, I8, I16, I32, I64], "a signed integer">;
def StableHLO_SignedTensor : RankedTensorOf<[AnyFloat, StableHLO_SignedInt, StableHLO_Complex]>;
// What is counted or shifted: no predicates.
def StableHLO_NumberInt : AnyTypeOf<
    [StableHLO_SignedInt, UI<2>, UI<4>, UI8, UI16, UI32, UI64], "an integer of 2 to 64 bits">;
def StableHLO_NumberIntTensor : RankedTensorOf<[StableHLO_NumberInt]>;
def StableHLO_NumberTensor : RankedTensorOf<[AnyFloat, StableHLO_NumberInt, StableHLO_Complex]>;
def StableHLO_FloatTensor : RankedTensorOf<[AnyFloat]>;
def StableHLO_FloatOrComplexTensor : RankedTensorOf<[AnyFloat, StableHLO_Complex]>;
def StableHLO_ComplexTensor : RankedTensorOf<[StableHLO_Complex]>;
def StableHLO_IntTensor : RankedTensorOf<[StableHLO_Int]>;
def StableHLO_PredTensor : RankedTensorOf<[I1]>;
def StableHLO_IndexTensor : RankedTensorOf<[StableHLO_Int, Index]>;
def StableHLO_DimensionTensor : 1DTensorOf<[StableHLO_Int, Index]>;
def StableHLO_ScalarIntTensor : 0DTensorOf<[StableHLO_Int]>;
def StableHLO_TensorOrToken : AnyTypeOf<[StableHLO_Tensor, StableHLO_TokenType]>;
def StableHLO_AnyValue : AnyTypeOf<[AnyRankedTensor, StableHLO_TokenType, AnyTuple]>;

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

def StableHLO_Elementwise : NativeOpTrait<"ElementwiseTrait"> {
  let cppNamespace = "::shardc::stablehlo";
}

class StableHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<Stablehlo_Dialect, mnemonic, traits> {
  code compatibleReturnTypes = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::shardc::areCompatibleTypes(l, r);
    }
  }];
}

// An op whose result types are inferred: builders need no types and the
// verifier compares, `?` being compatible with every size.
class StableHLO_InferOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, !listconcat(traits, [InferTypeOpAdaptor])> {
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

#endif // SHARDC_DIALECT_STABLEHLO_IR_STABLEHLOBASE_TD

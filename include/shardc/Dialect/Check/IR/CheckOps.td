//===- CheckOps.td - The check dialect ------------------------------------===//
//
// Ops by which conformance files say what they expect. None has a result but
// `check.eq`; none may be removed. Import turns them into results of @main that
// the tool compares.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_CHECK_IR_CHECKOPS_TD
#define SHARDC_DIALECT_CHECK_IR_CHECKOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::shardc::check";
  let summary = "What conformance files expect of values.";
}

class Check_Op<string mnemonic, list<Trait> traits> : Op<Check_Dialect, mnemonic, traits>;

def Check_ExpectEqOp : Check_Op<"expect_eq", [SameTypeOperands]> {
  let summary = "Every element is equal; NaN is not equal to NaN.";
  let description = [{
    ```mlir
    check.expect_eq %0, %1 : tensor<4xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Check_ExpectEqConstOp : Check_Op<"expect_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "Every element is equal to that of a constant.";
  let description = [{
    ```mlir
    check.expect_eq_const %0, dense<[1, 2]> : tensor<2xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, ElementsAttr:$value);
  let assemblyFormat = "$lhs `,` $value attr-dict";
}

def Check_ExpectSerializedEqOp : Check_Op<"expect_serialized_eq", []> {
  let summary = "Every element is equal to that which a probe saw.";
  let description = [{
    `iter`: the how manieth time that the probe was reached, from 0.
    ```mlir
    %1 = interpreter.probe %0, probe_id = "sum" : tensor<4xi32>
    check.expect_serialized_eq %0, probe_id = "sum", iter = 0 : tensor<4xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$expected, StrAttr:$probe_id,
                       DefaultValuedAttr<UI32Attr, "0">:$iteration);
  let assemblyFormat = [{
    $expected `,` `probe_id` `=` $probe_id (`,` `iter` `=` $iteration^)? attr-dict
      `:` type($expected)
  }];
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [SameTypeOperands]> {
  let summary = "No element differs by more than `tolerance`; NaN is equal to NaN.";
  let description = [{
    ```mlir
    check.expect_almost_eq %0, %1 : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
                       DefaultValuedAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:` type($lhs)
  }];
}

def Check_ExpectAlmostEqConstOp : Check_Op<"expect_almost_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "No element differs from that of a constant by more than `tolerance`.";
  let description = [{
    ```mlir
    check.expect_almost_eq_const %0, dense<[0.5, 0.25]> : tensor<2xf32> {tolerance = 0.1 : f64}
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, ElementsAttr:$value,
                       DefaultValuedAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = "$lhs `,` $value attr-dict";
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [SameTypeOperands]> {
  let summary = "Elements are so many floating-point numbers apart, and not more.";
  let description = [{
    Infinities must be equal, NaN is equal to NaN; numbers on both sides of zero are as far
    apart as their distances to zero together.
    ```mlir
    check.expect_close %0, %1, max_ulp_difference = 3, min_ulp_difference = 0
        : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$actual, AnyRankedTensor:$expected,
                       DefaultValuedAttr<I64Attr, "3">:$max_ulp_difference,
                       DefaultValuedAttr<I64Attr, "0">:$min_ulp_difference);
  let assemblyFormat = [{
    $actual `,` $expected (`,` `max_ulp_difference` `=` $max_ulp_difference^)?
    (`,` `min_ulp_difference` `=` $min_ulp_difference^)? attr-dict
    `:` type($actual) `,` type($expected)
  }];
}

def Check_EqOp : Check_Op<"eq", [SameTypeOperands]> {
  let summary = "Whether integers are equal, and floats within 1e-4: of each element, or of all.";
  let description = [{
    ```mlir
    %2 = check.eq %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<i1>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs RankedTensorOf<[I1]>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

#endif // SHARDC_DIALECT_CHECK_IR_CHECKOPS_TD

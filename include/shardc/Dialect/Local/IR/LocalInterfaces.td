//===- LocalInterfaces.td - What communication ops share ----*- tablegen -*-===//
#ifndef SHARDC_DIALECT_LOCAL_IR_LOCALINTERFACES_TD
#define SHARDC_DIALECT_LOCAL_IR_LOCALINTERFACES_TD

include "mlir/IR/OpBase.td"

def Local_CommunicationOpInterface : OpInterface<"CommunicationOpInterface"> {
  let cppNamespace = "::shardc::spmd";
  let description = "An op that all ranks of a group reach together.";
  let methods = [
    InterfaceMethod<"The mesh whose ranks take part.", "::mlir::FlatSymbolRefAttr", "getMeshName">,
    InterfaceMethod<"Mesh axes that the group spans, in no order.", "::llvm::SmallVector<::mlir::StringAttr>", "getGroupAxes">,
    InterfaceMethod<"The local value that goes in.", "::mlir::Value", "getSource">,
    InterfaceMethod<"The tables of the dims that move; null of an op that has none.", "::mlir::ArrayAttr", "getDims", (ins),
                    "", "return ::mlir::ArrayAttr();">,
    InterfaceMethod<"Why the op is there, in words; may be null.", "::mlir::StringAttr", "getReasonAttr">,
    InterfaceMethod<"Says why the op is there.", "void", "setReasonAttr", (ins "::mlir::StringAttr":$reason)>
  ];
}

def Local_ExchangeOpInterface : OpInterface<"ExchangeOpInterface", [Local_CommunicationOpInterface]> {
  let cppNamespace = "::shardc::spmd";
  let description = "A communication op that takes each rank from the box it owns to the box it needs.";
  let methods = [
    InterfaceMethod<"One element (a 0-d tensor) for what is outside the domain; null if nothing does.",
                    "::mlir::Value", "getFillValue">,
    InterfaceMethod<"The parts of what is needed that arrive (#local.part); null: all of it.", "::mlir::ArrayAttr", "getArriving">,
    InterfaceMethod<"Gives it other tables.", "void", "setDimsAttr", (ins "::mlir::ArrayAttr":$dims)>
  ];
  let extraClassDeclaration = [{
    /// The exchange as plain data. Requires the mesh symbol to exist.
    ::shardc::Exchange getExchange();
  }];
}

#endif // SHARDC_DIALECT_LOCAL_IR_LOCALINTERFACES_TD

//===- SpmdInterfaces.td - What communication ops share ----*- tablegen -*-===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDINTERFACES_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDINTERFACES_TD

include "mlir/IR/OpBase.td"

def Spmd_CommunicationOpInterface : OpInterface<"CommunicationOpInterface"> {
  let cppNamespace = "::shardc::spmd";
  let description = "An op that all ranks of a group reach together.";
  let methods = [
    InterfaceMethod<"The mesh whose ranks take part.", "::mlir::FlatSymbolRefAttr", "getMeshName">,
    InterfaceMethod<"Mesh axes that the group spans, in no order.", "::llvm::SmallVector<::mlir::StringAttr>", "getGroupAxes">,
    InterfaceMethod<"The local value that goes in.", "::mlir::Value", "getSource">
  ];
}

def Spmd_ExchangeOpInterface : OpInterface<"ExchangeOpInterface", [Spmd_CommunicationOpInterface]> {
  let cppNamespace = "::shardc::spmd";
  let description = "A communication op that takes each rank from the box it owns to the box it needs.";
  let methods = [
    InterfaceMethod<"The tables of the dims that move.", "::mlir::ArrayAttr", "getDimExchanges">,
    InterfaceMethod<"One element (a 0-d tensor) for what lies outside the domain; null if nothing does.",
                    "::mlir::Value", "getFillValue">
  ];
  let extraClassDeclaration = [{
    /// The exchange as plain data. Requires the mesh symbol to exist.
    ::shardc::Exchange getExchange();
  }];
}

#endif // SHARDC_DIALECT_SPMD_IR_SPMDINTERFACES_TD

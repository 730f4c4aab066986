//===- RuntimeCalls.h - What lowerings to runtime calls share ---*- C++ -*-===//
#ifndef SHARDC_LIB_CALLS_RUNTIMECALLS_H
#define SHARDC_LIB_CALLS_RUNTIMECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace shardc {

/// Declares entry points of shardrt/EntryPoints.def on first use.
class EntryPoints {
public:
  explicit EntryPoints(mlir::ModuleOp module)
      : module(module), builder(module.getContext()) {}

  /// Calls entry point `name` and returns its result, if it has one.
  mlir::Value call(mlir::OpBuilder &at, mlir::Location loc,
                   llvm::StringRef name, mlir::ValueRange arguments);

private:
  mlir::func::FuncOp declare(llvm::StringRef name);

  mlir::ModuleOp module;
  mlir::OpBuilder builder;
};

/// The address of the first element of `memref`, as a pointer.
mlir::Value pointerTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value memref);

/// What something at `loc` is made from: "dot_general at model.py:12"; what of
/// that is not known is left out.
std::string originOf(mlir::Location loc);

/// `text` as a constant of the program, NUL-terminated.
mlir::Value textConstant(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ModuleOp module, llvm::StringRef text);

/// Constants with external linkage that the runtime looks up by name: one of
/// `type`; and words, whose number is `name`_length.
void exportConstant(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Type type, const llvm::Twine &name,
                    mlir::Attribute value);
void exportWords(mlir::OpBuilder &builder, mlir::Location loc,
                 llvm::StringRef name, llvm::ArrayRef<int64_t> words);

/// Stores i64s `words` one behind the other before `op`, which a runtime call
/// is made of: the address of a place of its own in the function's frame.
mlir::Value storeWords(mlir::OpBuilder &builder, mlir::Operation *op,
                       llvm::ArrayRef<mlir::Value> words);

/// A memref of `type` at `pointer`, with `sizes` for its dims: dense, or as its
/// layout says where `strides` and `offset` are given.
mlir::Value memrefAt(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::MemRefType type, mlir::Value pointer,
                     llvm::ArrayRef<mlir::Value> sizes,
                     llvm::ArrayRef<mlir::Value> strides = {},
                     mlir::Value offset = {});

} // namespace shardc

#endif // SHARDC_LIB_CALLS_RUNTIMECALLS_H

//===- BoundaryAttributes.h - Attributes of what is given -------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_BOUNDARYATTRIBUTES_H
#define SHARDC_SUPPORT_BOUNDARYATTRIBUTES_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace shardc {

/// Attributes of a function's arguments and results, changed together. A
/// function keeps them in one list, and a list that was ever made stays with
/// the context: to change thousands one by one takes quadratic time and memory.
class BoundaryAttributes {
public:
  explicit BoundaryAttributes(mlir::FunctionOpInterface function)
      : function(function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      arguments.emplace_back(function.getArgAttrDict(i));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      results.emplace_back(function.getResultAttrDict(i));
  }

  mlir::NamedAttrList &ofArgument(unsigned i) { return arguments[i]; }
  mlir::NamedAttrList &ofResult(unsigned i) { return results[i]; }

  /// Gives the function what they are now.
  void write() {
    auto lists = [&](llvm::MutableArrayRef<mlir::NamedAttrList> from) {
      return llvm::map_to_vector(from, [&](mlir::NamedAttrList &list) {
        return list.getDictionary(function->getContext());
      });
    };
    if (!arguments.empty())
      function.setAllArgAttrs(lists(arguments));
    if (!results.empty())
      function.setAllResultAttrs(lists(results));
  }

private:
  mlir::FunctionOpInterface function;
  llvm::SmallVector<mlir::NamedAttrList> arguments, results;
};

} // namespace shardc

#endif // SHARDC_SUPPORT_BOUNDARYATTRIBUTES_H

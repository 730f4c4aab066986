//===- ElementwiseTrait.h - One family of elementwise ops -------*- C++ -*-===//
//
// Ops of several dialects that compute each result element from the operand
// elements at the same index (a scalar operand stands for every index, as in
// stablehlo.select and stablehlo.clamp). Rules and lowering ask
// `op->hasTrait<shardc::stablehlo::ElementwiseTrait>()` and need no list.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_ELEMENTWISETRAIT_H
#define SHARDC_SUPPORT_ELEMENTWISETRAIT_H

#include "mlir/IR/OpDefinition.h"

namespace shardc::stablehlo {

/// Result element i depends on operand elements i alone.
template <typename ConcreteType>
class ElementwiseTrait
    : public mlir::OpTrait::TraitBase<ConcreteType, ElementwiseTrait> {};

} // namespace shardc::stablehlo

#endif // SHARDC_SUPPORT_ELEMENTWISETRAIT_H

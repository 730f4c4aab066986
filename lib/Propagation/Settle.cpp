//===- Settle.cpp - Lay a tensor out anew ---------------------------------===//
#include "Settle.h"

using namespace shardc;
using namespace shardc::propagation;
using llvm::ArrayRef;

/// Which of Problem::origins asked for `axis` in one of `tensors`, or -1.
static int64_t originOf(const Problem &problem, int64_t axis,
                        ArrayRef<int64_t> tensors) {
  for (int64_t tensor : tensors)
    if (tensor >= 0)
      for (const DimState &dim : problem.tensors[tensor].dims)
        for (auto [other, origin] : llvm::zip(dim.axes, dim.origins))
          if (other == axis)
            return origin;
  return -1;
}

bool propagation::layOut(const Problem &problem, TensorState &state,
                         const TensorState &layout, ArrayRef<int64_t> tensors) {
  for (auto [dim, made] : llvm::zip_equal(state.dims, layout.dims)) {
    dim.origins.clear();
    for (int64_t axis : made.axes)
      if (dim.origins.push_back(originOf(problem, axis, tensors));
          dim.origins.back() < 0)
        return false;
    dim.axes = made.axes;
    dim.bounds = made.bounds;
    dim.strength = SizeStrength::Derived;
    dim.sizeOrigin = -1;
  }
  return true;
}

//===- Epilogues.h - Work behind a product that libraries do ----*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_LIBRARIES_EPILOGUES_H
#define SHARDC_LIB_KERNELGEN_GPU_LIBRARIES_EPILOGUES_H

#include "../Products/Product.h"

namespace shardc::gpukernels {

/// A bias, then an activation, then perhaps a cast.
struct Epilogue {
  /// All of the elementwise work behind the product.
  bool taken = false;
  int64_t code = 0; ///< shardrt_library_call_epilogue
  OpOperand *bias = nullptr;

  SmallVector<StringRef> names() const;
};

/// What `product.fusion.behind` does, if it is an epilogue: bias + product, the
/// larger of that and zero or its GELU by a hyperbolic tangent, each of them or
/// none. Numbers in between are not rounded: what is narrowed and widened again
/// counts as the number itself.
std::optional<Epilogue> matchEpilogue(linalg::GenericOp op,
                                      const Product &product);

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_LIBRARIES_EPILOGUES_H

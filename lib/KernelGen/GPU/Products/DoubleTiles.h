//===- DoubleTiles.h - Products of f64 on tensor cores ----------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PRODUCTS_DOUBLETILES_H
#define SHARDC_LIB_KERNELGEN_GPU_PRODUCTS_DOUBLETILES_H

#include "Product.h"

namespace shardc::gpukernels {

/// A kernel of `op`, a product of f64, beside it.
void launchDoubles(linalg::GenericOp op, const Product &product);

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_PRODUCTS_DOUBLETILES_H

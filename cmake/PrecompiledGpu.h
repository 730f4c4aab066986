// The precompiled header of the libraries that write kernels for GPUs: MLIR's
// dialects for them are much of what one of their files compiles.
#pragma once
#include "Precompiled.h"

#include <mlir/Dialect/GPU/IR/GPUDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

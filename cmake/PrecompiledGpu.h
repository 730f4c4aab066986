// The precompiled header of the libraries that write kernels for GPUs: MLIR's
// dialects for them, and ours, are half of what one of their files compiles.
#pragma once
#include "Precompiled.h"

#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include <mlir/Dialect/GPU/IR/GPUDialect.h>
#include <mlir/Dialect/LLVMIR/NVVMDialect.h>

//===- TuneDialect.h - What was measured of kernels -------------*- C++ -*-===//
#ifndef SHARDC_DIALECT_TUNE_IR_TUNEDIALECT_H
#define SHARDC_DIALECT_TUNE_IR_TUNEDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "shardc/Support/Tile.h"

// The dialect names its attributes' types.
#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Tune/IR/TuneAttributes.h.inc"

#include "shardc/Dialect/Tune/IR/TuneDialect.h.inc"

namespace shardc::tune {

/// Names of the dialect's attributes.
inline constexpr llvm::StringLiteral
    kTile = TuneDialect::TileAttrHelper::getNameStr(),
    kTiles = TuneDialect::TilesAttrHelper::getNameStr(),
    kTiled = TuneDialect::TiledAttrHelper::getNameStr();

} // namespace shardc::tune

#endif // SHARDC_DIALECT_TUNE_IR_TUNEDIALECT_H

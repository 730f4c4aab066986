//===- TuneDialect.cpp - What was measured of kernels ---------------------===//
#include "shardc/Dialect/Tune/IR/TuneDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::tune;

#include "shardc/Dialect/Tune/IR/TuneDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Tune/IR/TuneAttributes.cpp.inc"

void TuneDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardc/Dialect/Tune/IR/TuneAttributes.cpp.inc"
      >();
}

LogicalResult TuneDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  StringRef name = attr.getName();
  Attribute value = attr.getValue();
  if (name == kTile) {
    if (op->getName().getStringRef() != "linalg.generic")
      return op->emitOpError()
             << "'" << name << "' is an attribute of 'linalg.generic'";
    if (!isa<TileAttr>(value))
      return op->emitOpError()
             << "'" << name << "' is " << value << ", expected a #tune.tile";
    return success();
  }
  if (name != kTiles && name != kTiled)
    return op->emitOpError()
           << "unknown attribute " << attr.getName() << ", expected '" << kTile
           << "', '" << kTiles << "' or '" << kTiled << "'";
  if (!isa<ModuleOp>(op))
    return op->emitOpError() << "'" << name << "' is an attribute of modules";
  auto tiles = dyn_cast<DictionaryAttr>(value);
  if (name == kTiles &&
      (!tiles || !llvm::all_of(tiles, [](NamedAttribute entry) {
        return isa<TileAttr>(entry.getValue());
      })))
    return op->emitOpError() << "'" << name << "' is " << value
                             << ", expected a dictionary of #tune.tile";
  auto tiled = dyn_cast<ArrayAttr>(value);
  if (name == kTiled &&
      (!tiled || !llvm::all_of(tiled, llvm::IsaPred<TiledKernelAttr>)))
    return op->emitOpError() << "'" << name << "' is " << value
                             << ", expected a list of #tune.tiled_kernel";
  return success();
}

LogicalResult
TileAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 int64_t row, int64_t rows, int64_t columns, int64_t vectors,
                 bool panel, int64_t hoisted, int64_t block) {
  for (int64_t extent : {rows, columns, vectors})
    if (extent < 1 || extent > kMostInTile)
      return emitError() << "a tile has from 1 to " << kMostInTile
                         << " rows, columns and vectors, got " << extent;
  if (row < -1)
    return emitError() << "expected a row's dim, or -1, got " << row;
  if (hoisted < 0 || block < 0 || (hoisted > 0) != (block > 0))
    return emitError() << "expected a block of at least 1 where dims are "
                          "hoisted, and none elsewhere";
  return success();
}

Tile TileAttr::getTile() const {
  return {getRow(),   getRows(),    getColumns(), getVectors(),
          getPanel(), getHoisted(), getBlock()};
}

TileAttr TileAttr::get(MLIRContext *context, const Tile &tile) {
  return get(context, tile.row, tile.rows, tile.columns, tile.vectors,
             tile.panel, tile.hoisted, tile.block);
}

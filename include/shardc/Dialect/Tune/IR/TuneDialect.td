//===- TuneDialect.td - What was measured of kernels -----------------------===//
#ifndef SHARDC_DIALECT_TUNE_IR_TUNEDIALECT_TD
#define SHARDC_DIALECT_TUNE_IR_TUNEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tune_Dialect : Dialect {
  let name = "tune";
  let cppNamespace = "::shardc::tune";
  let summary = "How kernels are cut, where a measurement says it instead of an estimate.";
  let description = [{
    Attributes, no ops. `tune.tile` on a `linalg.generic` says how the nest is cut that it becomes; `tune.tiles` on the module says it of
    kernels by their digest. `tune.tiled` on the module is what `spmd-generate-cpu-kernels` has made of both.
    ```mlir
    module attributes {tune.tiles = {"0123456789abcdef0123456789abcdef" = #tune.tile<row = 0, rows = 8, vectors = 3>}} {}
    ```
  }];
  let discardableAttrs = (ins "::shardc::tune::TileAttr":$tile, "::mlir::DictionaryAttr":$tiles, "::mlir::ArrayAttr":$tiled);
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Tune_Attr<string name, string attrMnemonic> : AttrDef<Tune_Dialect, name> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tune_TileAttr : Tune_Attr<"Tile", "tile"> {
  let summary = "How the loop nest of a product is cut.";
  let description = [{
    `<row = 0, rows = 8, vectors = 3>`: `vectors` vectors of `rows` iterations of the nest's dim `row` (-1: none), and of `columns` of
    another where lanes run along the sum, stay in registers. With `panel`, an operand is copied for all tiles that read it again. The
    first `hoisted` dims of the sum are looped over outside everything else, the last of them in steps of `block`. Along which dim
    vectors are, and the order of sums, is not its business: elements have the same bits under every tile.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "-1">:$row, DefaultValuedParameter<"int64_t", "1">:$rows,
                        DefaultValuedParameter<"int64_t", "1">:$columns, DefaultValuedParameter<"int64_t", "1">:$vectors,
                        DefaultValuedParameter<"bool", "false">:$panel, DefaultValuedParameter<"int64_t", "0">:$hoisted,
                        DefaultValuedParameter<"int64_t", "0">:$block);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The tile as Support has it, and back.
    ::shardc::Tile getTile() const;
    static TileAttr get(::mlir::MLIRContext *context, const ::shardc::Tile &tile);
  }];
}

def Tune_TiledKernelAttr : Tune_Attr<"TiledKernel", "tiled_kernel"> {
  let summary = "A kernel that has a tile: which it is, its tile, and others that it could have.";
  let description = [{
    `<name = "dot_general", location = "model.py:3", digest = "3f…", tile = #tune.tile<…>, others = [#tune.tile<…>]>`: for whoever
    measures. The digest is that of all that the choice follows from but for the machine; `given`: the tile is not the estimate's.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$location, "::mlir::StringAttr":$digest,
                        "::shardc::tune::TileAttr":$tile, DefaultValuedParameter<"bool", "false">:$given,
                        OptionalParameter<"::mlir::ArrayAttr">:$others);
}

#endif // SHARDC_DIALECT_TUNE_IR_TUNEDIALECT_TD

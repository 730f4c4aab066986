//===- SpmdPairs.td - Every query with every key, in steps -*- tablegen -*-===//
//
// The local forms of ops on all pairs. The contract is docs/Rationale/Ring.md.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SPMD_IR_SPMDPAIRS_TD
#define SHARDC_DIALECT_SPMD_IR_SPMDPAIRS_TD

include "shardc/Dialect/Spmd/IR/SpmdAllPairs.td"

def Spmd_PairStepOp : Spmd_Op<"pair_step", [DestinationStyleOpInterface, AttrSizedOperandSegments,
    IsolatedFromAbove, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Pair a block of queries with a block of keys, and add the result to a state.";
  let description = [{
    One step of `spmd.all_pairs`, or with `backward` of `spmd.attention_backward`, on blocks that begin at
    `at`: one global index for each batch dim, then of the query and the key. Operands: query, key, value
    (perhaps), `rows` (max, delta, dout; backward only), extras; then the state, which is read and written:

        softmax   max (b, q), sum (b, q), acc (b, q, e): of all keys so far, acc = Σ exp(score - max) * weight * value
        sum       acc;   max, min: the extreme so far;   top_k: scores and keys (i32), best first
        backward  dquery, dkey, dvalue, then dextras: gradients are added

    A state starts with -inf, 0, 0; 0; -inf, +inf; -inf and the largest i32; 0. `maps` has one map for each operand and each
    state. State is of the accumulator type and has e (of dquery and dkey: d) as its last dim, if at all. Regions are those of the op it
    came from; their arguments are tensors without dims, or scalars once lowered.
    ```mlir
    %m1, %l1, %acc1 = spmd.pair_step softmax ins(%q, %k, %v : tensor<4x32x64xf32>, tensor<4x48x64xf32>, tensor<4x48x16xf32>)
        at (%zero, %i, %j) outs(%m, %l, %acc : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32x16xf32>)
        maps [affine_map<(b, q, k, d, e) -> (b, q, d)>, affine_map<(b, q, k, d, e) -> (b, k, d)>,
              affine_map<(b, q, k, d, e) -> (b, k, e)>, affine_map<(b, q, k, d, e) -> (b, q)>,
              affine_map<(b, q, k, d, e) -> (b, q)>, affine_map<(b, q, k, d, e) -> (b, q, e)>]
        score {
        ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %qi: tensor<i32>, %kj: tensor<i32>):
          spmd.yield %raw : tensor<f32>
        } -> tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32x16xf32>
    ```
  }];
  let arguments = (ins Spmd_PairCombine:$combine, UnitAttr:$backward, AnyShaped:$query, AnyShaped:$key,
                       Optional<AnyShaped>:$value, Variadic<AnyShaped>:$rows, Variadic<AnyShaped>:$extras,
                       Variadic<Index>:$at, Variadic<AnyShaped>:$inits, AffineMapArrayAttr:$maps,
                       OptionalAttr<I64Attr>:$band_lower, OptionalAttr<I64Attr>:$band_upper);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region AnyRegion:$pair, SizedRegion<1>:$score, AnyRegion:$weight, AnyRegion:$slope);
  let assemblyFormat = [{
    $combine (`backward` $backward^)? `ins` `(` $query `,` $key (`,` $value^)? `:` type($query) `,` type($key) (`,` type($value)^)? `)`
    (`rows` `(` $rows^ `:` type($rows) `)`)? (`extras` `(` $extras^ `:` type($extras) `)`)?
    `at` `(` $at `)` `outs` `(` $inits `:` type($inits) `)` `maps` $maps attr-dict
    (`pair` $pair^)? `score` $score (`weight` $weight^)? (`slope` $slope^)? (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
    /// Query, key, value, rows and extras: the operands that `maps` begins with.
    ::llvm::SmallVector<::mlir::Value> getShapedInputs();
    ::mlir::AffineMap getMap(int64_t number) { return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[number]).getValue(); }
    ::mlir::AffineMap getInitMap(int64_t init) { return getMap(getMaps().size() - getInits().size() + init); }
    int64_t getNumBatchDims() { return getMap(0).getNumDims() - 4; }
  }];
  let hasVerifier = 1;
}

def Spmd_AccumulateOp : Spmd_Op<"accumulate", [Pure, AllTypesMatch<["term", "sum", "result"]>]> {
  let summary = "Add to a sum in its place.";
  let description = [{
    What arrives round after round is added when it is there: sums of plain additions would be taken at the
    end, with all terms held until then.
    ```mlir
    %1 = spmd.accumulate %term into %sum : tensor<2x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$term, AnyRankedTensor:$sum);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$term `into` $sum attr-dict `:` type($result)";
}

#endif // SHARDC_DIALECT_SPMD_IR_SPMDPAIRS_TD

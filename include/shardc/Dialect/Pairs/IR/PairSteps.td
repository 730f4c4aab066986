//===- PairSteps.td - Every query with every key, in steps -*- tablegen -*-===//
//
// The local forms of ops on all pairs. The contract is docs/Rationale/Ring.md.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_PAIRS_IR_PAIRSTEPS_TD
#define SHARDC_DIALECT_PAIRS_IR_PAIRSTEPS_TD

include "shardc/Dialect/Pairs/IR/AllPairs.td"

def Pairs_PairStepOp : Pairs_Op<"pair_step", [DestinationStyleOpInterface, AttrSizedOperandSegments,
    IsolatedFromAbove, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Pair a block of queries with a block of keys, and add the result to a state.";
  let description = [{
    One step of `pairs.all_pairs`, or with `backward` of `pairs.attention_backward`, on blocks that begin at
    `at`: one global index for each batch dim, then of the query and the key. Operands: query, key, value
    (perhaps), `rows` (max, delta, dout; backward only), extras; then the state, which is read and written:

        softmax   max (b, q), sum (b, q), acc (b, q, e): of all keys so far, acc = Σ exp(score - max) * weight * value
        sum       acc;   max, min: the extreme so far;   top_k: scores and keys (i32), best first
        backward  dquery, dkey, dvalue, then dextras: gradients are added

    A state starts with -inf, 0, 0; 0; -inf, +inf; -inf and the largest i32; 0. `maps` has one map for each operand and each
    state. State is of the accumulator type and has e (of dquery and dkey: d) as its last dim, if at all. Regions are those of the op it
    came from; their arguments are tensors without dims, or scalars once lowered.
    ```mlir
    %m1, %l1, %acc1 = pairs.pair_step softmax ins(%q, %k, %v : tensor<4x32x64xf32>, tensor<4x48x64xf32>, tensor<4x48x16xf32>)
        at (%zero, %i, %j) outs(%m, %l, %acc : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32x16xf32>)
        maps [affine_map<(b, q, k, d, e) -> (b, q, d)>, affine_map<(b, q, k, d, e) -> (b, k, d)>,
              affine_map<(b, q, k, d, e) -> (b, k, e)>, affine_map<(b, q, k, d, e) -> (b, q)>,
              affine_map<(b, q, k, d, e) -> (b, q)>, affine_map<(b, q, k, d, e) -> (b, q, e)>]
        score {
        ^bb0(%raw: tensor<f32>, %b: tensor<i32>, %qi: tensor<i32>, %kj: tensor<i32>):
          pairs.yield %raw : tensor<f32>
        } -> tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32x16xf32>
    ```
  }];
  let arguments = (ins Pairs_PairCombine:$combine, UnitAttr:$backward, AnyShaped:$query, AnyShaped:$key,
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

#endif // SHARDC_DIALECT_PAIRS_IR_PAIRSTEPS_TD

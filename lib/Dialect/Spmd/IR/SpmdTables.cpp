//===- SpmdTables.cpp - What differs by rank, as tables -------------------===//
#include "shardc/Dialect/Spmd/IR/SpmdTables.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

OpFoldResult shardc::lookUp(OpBuilder &builder, Location loc, MeshAttr mesh,
                            FlatSymbolRefAttr meshName, ArrayRef<int64_t> table,
                            ArrayRef<int64_t> axes) {
  if (llvm::all_equal(table))
    return builder.getIndexAttr(table.front());
  SmallVector<StringRef> names;
  for (int64_t axis : axes)
    names.push_back(mesh.getAxisNames()[axis].getValue());
  return LookupOp::create(builder, loc, builder.getIndexType(),
                          builder.getDenseI64ArrayAttr(table),
                          builder.getStrArrayAttr(names), meshName)
      .getResult();
}

SmallVector<int64_t> shardc::sizesOf(ArrayRef<Interval> intervals) {
  return llvm::map_to_vector(intervals,
                             [](Interval interval) { return interval.size(); });
}

int64_t shardc::staticSize(ArrayRef<int64_t> sizes) {
  return llvm::all_equal(sizes) ? sizes.front() : ShapedType::kDynamic;
}

//===- KernelAttributes.cpp - Sites and marks of kernels ----------------===//
#include "mlir/IR/DialectImplementation.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Spmd/IR/SpmdEnums.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

#include "shardc/Dialect/Kernel/IR/KernelEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "shardc/Dialect/Kernel/IR/KernelAttributes.cpp.inc"

void KernelDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "shardc/Dialect/Kernel/IR/KernelAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

template <typename Element> static bool isListOf(ArrayAttr list) {
  return !list || llvm::all_of(list, llvm::IsaPred<Element>);
}

LogicalResult
SiteRowsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     int64_t, int64_t, bool, bool, DenseI64ArrayAttr components,
                     DenseI64ArrayAttr slices, ArrayAttr dims) {
  if (!isListOf<DimExchangeAttr>(dims))
    return emitError() << "'dims' of the rows of a site expects a list of "
                          "#local.dim_exchange";
  size_t count = dims ? dims.size() : 0;
  size_t numComponents = components ? components.size() : 0;
  size_t numSlices = slices ? slices.size() : 0;
  if (numComponents != count || numSlices != count)
    return emitError() << "rows of a site have " << numComponents
                       << " components, " << numSlices << " slices and "
                       << count << " dims, expected as many of each";
  return success();
}

LogicalResult
SiteAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 SiteKind kind, StringAttr report, Type,
                 std::optional<ReductionKind> reduction, StringAttr, StringAttr,
                 bool inPlace, bool releasedLater, ArrayAttr group,
                 DenseI64ArrayAttr shape, ArrayAttr dims, ArrayAttr parts,
                 SiteRowsAttr rows) {
  auto fail = [&](const Twine &what) {
    return emitError() << "site '" << report.getValue() << "' " << what;
  };
  bool reduces = kind == SiteKind::AllReduce || kind == SiteKind::ReduceScatter;
  if (kind != SiteKind::ScatterRows && reduction.has_value() != reduces)
    return fail(reduces ? "of kind " + stringifySiteKind(kind) +
                              " lacks a 'reduction'"
                        : "of kind " + stringifySiteKind(kind) +
                              " has a 'reduction', which it does not do");
  if ((inPlace || releasedLater) && kind != SiteKind::Exchange)
    return fail("is no exchange, and cannot be in place or released later");
  if (bool(rows) != (kind >= SiteKind::RowPlan))
    return fail(rows ? "does not address rows, but says how"
                     : "addresses rows, but lacks 'rows'");
  if (!isListOf<StringAttr>(group))
    return fail("expects 'group' to be a list of mesh axes");
  if (!isListOf<DimExchangeAttr>(dims))
    return fail("expects 'dims' to be a list of #local.dim_exchange");
  if (!isListOf<ExchangePartAttr>(parts))
    return fail("expects 'parts' to be a list of #local.part");
  if (parts && kind != SiteKind::Exchange)
    return fail("is no exchange, and cannot have parts");
  int64_t numDims = shape ? shape.size() : 0;
  for (Attribute dim : dims ? dims.getValue() : ArrayRef<Attribute>())
    if (cast<DimExchangeAttr>(dim).getDim() >= numDims)
      return fail("exchanges dim " +
                  Twine(cast<DimExchangeAttr>(dim).getDim()) +
                  " of a tensor of " + Twine(numDims) + " dims");
  return success();
}

LogicalResult
SiteTableAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      MeshAttr mesh, ArrayAttr sites) {
  for (auto [i, attr] : llvm::enumerate(sites)) {
    auto site = dyn_cast<SiteAttr>(attr);
    if (!site)
      return emitError() << "entry " << i << " of the sites is " << attr
                         << ", expected a #kernel.site";
    auto unknown = [&](StringAttr axis) {
      return emitError() << "site " << i << " is along " << axis
                         << ", which the mesh does not have";
    };
    if (ArrayAttr group = site.getGroup())
      for (auto axis : group.getAsRange<StringAttr>())
        if (mesh.getAxisIndex(axis) < 0)
          return unknown(axis);
    SmallVector<Attribute> dims;
    if (site.getDims())
      llvm::append_range(dims, site.getDims());
    if (site.getRows() && site.getRows().getDims())
      llvm::append_range(dims, site.getRows().getDims());
    for (Attribute attr : dims) {
      auto dim = cast<DimExchangeAttr>(attr);
      int64_t coordinates = 1;
      for (StringAttr axis : dim.getAxes()) {
        if (mesh.getAxisIndex(axis) < 0)
          return unknown(axis);
        coordinates *= mesh.getAxisSize(axis);
      }
      if (int64_t entries = dim.getOwned().size() / 2; entries != coordinates)
        return emitError() << "site " << i << " has " << entries
                           << " intervals along dim " << dim.getDim()
                           << ", expected " << coordinates
                           << ": one for each coordinate along its axes";
    }
  }
  return success();
}

//===- MeshAxes.cpp - The axes that make all meshes of a module -----------===//
#include "MeshAxes.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"

using namespace mlir;
using namespace shardc;

static int64_t sizeOf(sdy::MeshAttr mesh) {
  int64_t size = 1;
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    size *= axis.getSize();
  return size;
}

/// How many ranks further the next coordinate along `name` is.
static int64_t strideOf(sdy::MeshAttr mesh, StringRef name) {
  int64_t stride = 1;
  for (sdy::MeshAxisAttr axis : llvm::reverse(mesh.getAxes())) {
    if (axis.getName() == name)
      break;
    stride *= axis.getSize();
  }
  return stride;
}

/// The strides of `axis` and of what is major to it.
static std::pair<int64_t, int64_t> rangeOf(sdy::MeshAttr mesh,
                                           sdy::AxisRefAttr axis) {
  int64_t stride = strideOf(mesh, axis.getName()),
          end = stride * mesh.getAxis(axis.getName()).getSize();
  sdy::SubAxisInfoAttr part = axis.getSubAxisInfo();
  if (!part)
    return {stride, end};
  return {end / part.getPreSize() / part.getSize(), end / part.getPreSize()};
}

bool MeshAxes::add(sdy::MeshAttr mesh) {
  if (!first || sizeOf(first) == 1)
    first = mesh;
  // On one device nothing is cut: what a program for one says holds for all.
  if (sizeOf(mesh) == 1)
    return true;
  if (sizeOf(mesh) != sizeOf(first))
    return false;
  // The order of devices changes no value: a rank is a position of each mesh.
  if (mesh.getAxes() == first.getAxes())
    return true;
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    cuts.insert(strideOf(mesh, axis.getName()));
  return true;
}

void MeshAxes::use(sdy::MeshAttr mesh, sdy::AxisRefAttr axis) {
  auto [begin, end] = rangeOf(mesh, axis);
  cuts.insert(begin);
  cuts.insert(end);
}

spmd::MeshAttr MeshAxes::refine(function_ref<InFlightDiagnostic()> emitError) {
  MLIRContext *context = first.getContext();
  for (sdy::MeshAxisAttr axis : first.getAxes()) {
    int64_t stride = strideOf(first, axis.getName()),
            end = stride * axis.getSize();
    // Major to minor.
    SmallVector<int64_t> points{end};
    for (int64_t cut : llvm::reverse(cuts))
      if (cut > stride && cut < end)
        points.push_back(cut);
    if (axis.getSize() > 1)
      points.push_back(stride);
    else
      axes.push_back({1, stride, StringAttr::get(context, axis.getName())});
    for (size_t i = 0; i + 1 < points.size(); ++i) {
      if (points[i] % points[i + 1] != 0) {
        InFlightDiagnostic diag = emitError();
        diag << "axis \"" << axis.getName() << "\" of size " << axis.getSize()
             << " is used in parts that overlap: one ";
        if (end % points[i] == 0 && end % points[i + 1] == 0)
          diag << "ends at " << end / points[i] << ", another at "
               << end / points[i + 1];
        else
          diag << "begins every " << points[i + 1] << " ranks, another every "
               << points[i];
        diag << ", which is no multiple";
        return {};
      }
      std::string name = axis.getName().str();
      if (points.size() > 2)
        name += "." + std::to_string(i);
      axes.push_back({points[i] / points[i + 1], points[i + 1],
                      StringAttr::get(context, name)});
    }
  }
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (const Axis &axis : axes) {
    names.push_back(axis.name);
    sizes.push_back(axis.size);
  }
  return spmd::MeshAttr::getChecked(emitError, context,
                                    ArrayRef<StringAttr>(names),
                                    ArrayRef<int64_t>(sizes));
}

void MeshAxes::expand(sdy::MeshAttr mesh, sdy::AxisRefAttr ref,
                      SmallVectorImpl<StringAttr> &result) const {
  auto [begin, end] = rangeOf(mesh, ref);
  for (const Axis &axis : axes)
    if (axis.size > 1 ? axis.stride >= begin && axis.stride < end
                      : begin == end && axis.name == ref.getName())
      result.push_back(axis.name);
}

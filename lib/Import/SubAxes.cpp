//===- SubAxes.cpp - Parts of axes as axes of their own -------------------===//
#include "SubAxes.h"

using namespace mlir;
using namespace shardc;

static StringAttr nameOf(sdy::AxisRefAttr axis) { return StringAttr::get(axis.getContext(), axis.getName()); }

void SubAxes::use(sdy::AxisRefAttr axis) {
  sdy::SubAxisInfoAttr part = axis.getSubAxisInfo();
  if (!part)
    return;
  std::set<int64_t> &points = cuts[nameOf(axis)];
  points.insert(part.getPreSize());
  points.insert(part.getPreSize() * part.getSize());
}

spmd::MeshAttr SubAxes::refine(sdy::MeshAttr mesh, MLIRContext *context,
                               llvm::function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (sdy::MeshAxisAttr axis : mesh.getAxes()) {
    StringAttr name = StringAttr::get(context, axis.getName());
    auto found = cuts.find(name);
    if (found == cuts.end()) {
      names.push_back(name);
      sizes.push_back(axis.getSize());
      continue;
    }
    std::set<int64_t> points = found->second;
    points.insert(1);
    points.insert(axis.getSize());
    int64_t pre = 1;
    for (int64_t point : llvm::drop_begin(points)) {
      if (point % pre != 0) {
        emitError() << "axis \"" << axis.getName() << "\" of size " << axis.getSize()
                    << " is used in parts that overlap: one ends at " << pre << ", another at " << point
                    << ", which is no multiple";
        return {};
      }
      std::string part = (axis.getName() + "." + Twine(parts[name].size())).str();
      parts[name].push_back({pre, point / pre, StringAttr::get(context, part)});
      names.push_back(parts[name].back().name);
      sizes.push_back(point / pre);
      pre = point;
    }
  }
  return spmd::MeshAttr::getChecked(emitError, context, ArrayRef<StringAttr>(names), ArrayRef<int64_t>(sizes));
}

void SubAxes::expand(sdy::AxisRefAttr axis, SmallVectorImpl<StringAttr> &axes) const {
  auto found = parts.find(nameOf(axis));
  if (found == parts.end()) {
    axes.push_back(nameOf(axis));
    return;
  }
  sdy::SubAxisInfoAttr info = axis.getSubAxisInfo();
  for (const Part &part : found->second)
    if (!info || (part.preSize >= info.getPreSize() &&
                  part.preSize * part.size <= info.getPreSize() * info.getSize()))
      axes.push_back(part.name);
}

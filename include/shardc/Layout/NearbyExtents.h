//===- NearbyExtents.h - Bindings beside placeholders -----------*- C++ -*-===//
#ifndef SHARDC_LAYOUT_NEARBYEXTENTS_H
#define SHARDC_LAYOUT_NEARBYEXTENTS_H

#include "shardc/Layout/Extents.h"

namespace shardc {

/// What extents may be, beside what their placeholders are: each dim of an
/// argument for itself up to `most` more, all of them, and all of them in
/// proportion; such of these as the program's conditions allow. A placeholder
/// has one remainder alone, and these have others.
std::vector<std::vector<int64_t>> extentsNearby(const Extents &extents,
                                                int64_t most);

} // namespace shardc

#endif // SHARDC_LAYOUT_NEARBYEXTENTS_H

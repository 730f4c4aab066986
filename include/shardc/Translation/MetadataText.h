//===- MetadataText.h - Metadata as artifacts hold them ---------*- C++ -*-===//
#ifndef SHARDC_TRANSLATION_METADATATEXT_H
#define SHARDC_TRANSLATION_METADATATEXT_H

#include "shardc/Translation/Metadata.h"

namespace shardc {

/// What toJSON writes, but boundaries that several dims have are written once,
/// in a list that the dims refer to: with them the metadata of many ranks would
/// be long. parseMetadata reads both.
std::string toShortJSON(const ProgramMetadata &metadata);

} // namespace shardc

#endif // SHARDC_TRANSLATION_METADATATEXT_H

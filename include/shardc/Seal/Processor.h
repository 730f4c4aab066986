//===- Processor.h - What machine code asks of a processor ------*- C++ -*-===//
//
// A program's metadata names the features of a processor that its code may use
// ("processor":"avx2,fma"). No program is run where one of them is missing: it
// would end by an illegal instruction.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SEAL_PROCESSOR_H
#define SHARDC_SEAL_PROCESSOR_H

#include <span>
#include <string>
#include <string_view>

namespace shardc {

/// The features that are looked at, as LLVM and compilers name them: those of
/// instructions that code generators choose. Empty for processors other than
/// x86.
std::span<const std::string_view> processorFeatures();

/// Those of `features` ("avx2,fma") that this processor lacks, in their order.
/// One that is not known is lacking.
std::string lackingFeatures(std::string_view features);

/// Why a program with `metadata` cannot run on this processor, as what follows
/// "it"; empty if it can, or if the metadata does not say.
std::string checkProcessor(std::string_view metadata);

} // namespace shardc

#endif // SHARDC_SEAL_PROCESSOR_H

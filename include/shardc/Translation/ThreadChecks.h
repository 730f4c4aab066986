//===- ThreadChecks.h - Code that ThreadSanitizer watches -------*- C++ -*-===//
//
// A process that holds ThreadSanitizer's runtime makes code for it: each access
// to memory is reported, so that a race of ranks or threads in a compiled
// program is seen as one in the runtime is. No option asks for it: the tools of
// test/Unit/Sanitized are linked so, users' are not. Artifacts say so in their
// `arch`, and no other process can load them.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TRANSLATION_THREADCHECKS_H
#define SHARDC_TRANSLATION_THREADCHECKS_H

#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace shardc {

/// Whether this process holds ThreadSanitizer's runtime.
bool checksThreads();

/// Adds calls of ThreadSanitizer's runtime to every function of `module`, after
/// all optimisation. LLVM's pass leaves out vectors of more than 16 bytes and
/// lanes under a mask: those are reported as ranges of bytes, a lane that is
/// off as one of none. `machine` may be null. Returns the name of an intrinsic
/// whose accesses are not known; empty: all of them are reported.
std::string addThreadChecks(llvm::Module &module, llvm::TargetMachine *machine);

} // namespace shardc

#endif // SHARDC_TRANSLATION_THREADCHECKS_H

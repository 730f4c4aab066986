//===- Recovery.h - Faults of the compiler as values ------------*- C++ -*-===//
#ifndef SHARDC_LIB_ENGINE_RECOVERY_H
#define SHARDC_LIB_ENGINE_RECOVERY_H

#include "shardc/Engine/Failure.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace shardc::engine {

/// Runs `work` of the compiler or of LLVM, and returns what it returns. Where
/// it ends in a signal, an assertion, a fatal error of LLVM or for want of
/// memory, returns that: Status::Internal or Status::Memory. `what` says what
/// was being done: "compiling 'model'".
///
/// Work that ends so is left where it was. What it held of memory is not given
/// back and locks that it holds stay locked, so nothing that goes on may need
/// one of them. Until `work` returns the handlers of SIGSEGV and its like are
/// LLVM's, which pass on what does not concern them.
MaybeFailure recoverably(const std::string &what,
                         llvm::function_ref<MaybeFailure()> work);

} // namespace shardc::engine

#endif // SHARDC_LIB_ENGINE_RECOVERY_H

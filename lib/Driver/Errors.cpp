//===- Errors.cpp - Errors that say how a tool ends -----------------------===//

#include "shardc/Driver/Errors.h"
#include "shardc/Support/MemoryErrors.h"

using namespace llvm;
using namespace shardc;

char ToolError::ID = 0;

Error shardc::toolError(ExitCode code, const Twine &message) {
  return make_error<ToolError>(code, message.str());
}

Error shardc::withCode(ExitCode code, Error error) {
  if (!error)
    return Error::success();
  return toolError(code, toString(std::move(error)));
}

Error shardc::ioError(Error error) {
  if (!error)
    return error;
  ExitCode code = isAboutMemory(error) ? ExitCode::Memory : ExitCode::IO;
  return withCode(code, std::move(error));
}

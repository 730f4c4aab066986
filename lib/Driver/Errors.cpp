//===- Errors.cpp - Errors that say how a tool ends -----------------------===//

#include "shardc/Driver/Errors.h"

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

bool shardc::isAboutMemory(StringRef message) {
  return message.contains_insensitive("out of memory") ||
         message.contains("bad_alloc") ||
         message.contains("Cannot allocate memory") ||
         message.starts_with("no memory") ||
         message.starts_with("no process") || message.starts_with("no pipe");
}

Error shardc::ioError(Error error) {
  if (!error)
    return error;
  std::string message = toString(std::move(error));
  return toolError(isAboutMemory(message) ? ExitCode::Memory : ExitCode::IO,
                   message);
}

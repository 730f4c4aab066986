//===- OutputFile.cpp - Files that are there whole or not at all ----------===//
#include "shardc/Support/OutputFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

/// Whether something else than a file or directory has this name. Who may rename
/// (root, say) would take it away from everybody.
static bool isSpecial(StringRef path) {
  sys::fs::file_status status;
  return !sys::fs::status(path, status) && sys::fs::is_other(status);
}

Expected<sys::fs::TempFile> shardc::createBeside(StringRef path) {
  SmallString<128> model(path);
  if (isSpecial(path)) {
    sys::path::system_temp_directory(/*erasedOnReboot=*/true, model);
    sys::path::append(model, sys::path::filename(path));
  }
  return sys::fs::TempFile::create(model + ".tmp-%%%%%%%%");
}

Error shardc::keepAs(sys::fs::TempFile &file, StringRef path) {
  if (!isSpecial(path)) {
    Error error = file.keep(path);
    return error;
  }
  std::error_code failed;
  ErrorOr<std::unique_ptr<MemoryBuffer>> bytes = MemoryBuffer::getFile(file.TmpName, /*IsText=*/false,
                                                                      /*RequiresNullTerminator=*/false);
  if (bytes) {
    raw_fd_ostream out(path, failed, sys::fs::CD_OpenExisting, sys::fs::FA_Write, sys::fs::OF_None);
    if (!failed) {
      out << (*bytes)->getBuffer();
      out.flush();
      failed = out.error();
      out.clear_error();
    }
  } else {
    failed = bytes.getError();
  }
  Error error = file.discard();
  return joinErrors(errorCodeToError(failed), std::move(error));
}

//===- OutputFile.h - Files that are there whole or not at all --*- C++ -*-===//
#ifndef SHARDC_SUPPORT_OUTPUTFILE_H
#define SHARDC_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

namespace shardc {

/// A new file beside `path`, for keepAs(); in the directory of temporary files
/// where `path` is no file, but a device or pipe.
llvm::Expected<llvm::sys::fs::TempFile> createBeside(llvm::StringRef path);

/// Puts the written `file` in the place of `path`. What is no file (/dev/null)
/// stays what it is, and gets the bytes. `file` is gone afterwards; on failure too.
llvm::Error keepAs(llvm::sys::fs::TempFile &file, llvm::StringRef path);

} // namespace shardc

#endif // SHARDC_SUPPORT_OUTPUTFILE_H

//===- KernelForward.h - Names of attributes, ops and enums -----*- C++ -*-===//
//
// What a header needs that only passes them.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_KERNEL_IR_KERNELFORWARD_H
#define SHARDC_DIALECT_KERNEL_IR_KERNELFORWARD_H

#include <cstdint>

namespace shardc::spmd {

enum class LineKind : uint32_t;
enum class SiteKind : uint32_t;

class ArenaBufferAttr;
class SiteAttr;
class SiteRowsAttr;
class SiteTableAttr;

class ArenaPlaceOp;
class EighOp;
class LibraryCallOp;
class LineYieldOp;
class LinesOp;
class ReceivedOp;
class ReleaseSiteOp;
class RunHostOp;
class RunSiteOp;
class StartSiteOp;
class SvdOp;

} // namespace shardc::spmd

#endif // SHARDC_DIALECT_KERNEL_IR_KERNELFORWARD_H

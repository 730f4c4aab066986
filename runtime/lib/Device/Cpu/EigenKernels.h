//===- EigenKernels.h - Decompositions, by level of CPU ---------*- C++ -*-===//
//
// As LineKernels.h: EigenKernels.cpp is compiled once for each level.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_EIGENKERNELS_H
#define SHARDRT_DEVICE_CPU_EIGENKERNELS_H

#include "shardrt/MatrixCall.h"
#include <cstdint>

namespace shardrt {

/// A Hermitian matrix and where its eigenvalues go. Strides count elements.
struct EighCall {
  int64_t partBytes = 0; ///< 4: f32; 8: f64
  bool isComplex = false, isUpper = false;
  int64_t n = 0;
  const char *matrix = nullptr;
  int64_t rowStride = 0, columnStride = 0;
  char *values = nullptr;
  int64_t valueStride = 0;
  char *vectors = nullptr; ///< not wanted: NULL
  int64_t vectorRowStride = 0, vectorColumnStride = 0;
};

/// A matrix of at least as many rows as columns, and where its singular values
/// go, descending, and vectors: of the left ones, each times its value.
struct SvdCall {
  int64_t partBytes = 0; ///< as above
  bool isComplex = false;
  int64_t rows = 0, columns = 0;
  const char *matrix = nullptr;
  int64_t rowStride = 0, columnStride = 0;
  char *values = nullptr;
  int64_t valueStride = 0;
  char *left = nullptr, *right = nullptr; ///< not wanted: NULL
  int64_t leftRowStride = 0, leftColumnStride = 0;
  int64_t rightRowStride = 0, rightColumnStride = 0;
};

/// What is done to a matrix by reflectors.
struct HouseholderCall {
  enum Kind : int64_t {
    Qr = SHARDRT_HOUSEHOLDER_QR,
    Hessenberg = SHARDRT_HOUSEHOLDER_HESSENBERG,
    Product = SHARDRT_HOUSEHOLDER_PRODUCT
  };
  int64_t partBytes = 0; ///< as above
  bool isComplex = false;
  Kind kind = Qr;
  int64_t rows = 0, columns = 0, count = 0; ///< `count`: reflectors
  const char *matrix = nullptr;
  int64_t rowStride = 0, columnStride = 0;
  char *taus = nullptr; ///< of a product: read
  int64_t tauStride = 0;
  char *result = nullptr;
  int64_t resultRowStride = 0, resultColumnStride = 0;
};

struct EigenKernels {
  /// Bytes that a thread needs, from an address that 64 divides on.
  int64_t (*eighScratch)(const EighCall &call);
  void (*eigh)(const EighCall &call, char *scratch);
  int64_t (*svdScratch)(const SvdCall &call);
  void (*svd)(const SvdCall &call, char *scratch);
  int64_t (*householderScratch)(const HouseholderCall &call);
  void (*householder)(const HouseholderCall &call, char *scratch);
};

extern const EigenKernels eigenKernelsBase, eigenKernelsV3, eigenKernelsV4;

} // namespace shardrt

#endif // SHARDRT_DEVICE_CPU_EIGENKERNELS_H

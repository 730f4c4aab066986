/*===- MatrixCall.h - The arguments of algorithms on matrices -----*- C -*-===*\
|*
|* What the host's code writes for shardrt_eigh, shardrt_svd and
|* shardrt_householder, as i64 words. Addresses are words, strides are in
|* elements.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_MATRIXCALL_H
#define SHARDRT_MATRIXCALL_H

#include <stdint.h>

enum shardrt_eigh_word {
  SHARDRT_EIGH_PART = 0,    /**< bytes of a real part: 4 or 8 */
  SHARDRT_EIGH_COMPLEX = 1, /**< 1: elements are complex numbers */
  SHARDRT_EIGH_UPPER = 2, /**< 1: the upper triangle is read, else the lower */
  SHARDRT_EIGH_THREADS = 3, /**< of the rank, at most */
  SHARDRT_EIGH_RANK = 4,    /**< dims: the last two are a matrix */
  SHARDRT_EIGH_RESULTS = 5, /**< 1: eigenvalues; 2: and eigenvectors */
  /** 1: the same bits on all processors that have AVX2 */
  SHARDRT_EIGH_FIXED_LEVEL = 6,
  /** Then as many sizes as there are dims; the address of the matrices and
   * their strides; that of the eigenvalues and their strides, one less; and,
   * where they are wanted, that of the eigenvectors and their strides. */
  SHARDRT_EIGH_HEAD = 7
};

enum shardrt_svd_word {
  SHARDRT_SVD_PART = 0,        /**< bytes of a real part: 4 or 8 */
  SHARDRT_SVD_COMPLEX = 1,     /**< 1: elements are complex numbers */
  SHARDRT_SVD_THREADS = 2,     /**< of the rank, at most */
  SHARDRT_SVD_RANK = 3,        /**< dims: the last two are a matrix */
  SHARDRT_SVD_RESULTS = 4,     /**< 1: singular values; 3: and both vectors */
  SHARDRT_SVD_FIXED_LEVEL = 5, /**< as above */
  /** Then as many sizes as there are dims, the last but one not the smaller of
   * the last two; and as above the matrices, the singular values and, where
   * they are wanted, the left and the right vectors. */
  SHARDRT_SVD_HEAD = 6
};

enum shardrt_householder_kind {
  SHARDRT_HOUSEHOLDER_QR = 0,
  SHARDRT_HOUSEHOLDER_HESSENBERG = 1,
  SHARDRT_HOUSEHOLDER_PRODUCT = 2
};

enum shardrt_householder_word {
  SHARDRT_HOUSEHOLDER_PART = 0,        /**< bytes of a real part: 4 or 8 */
  SHARDRT_HOUSEHOLDER_COMPLEX = 1,     /**< 1: elements are complex numbers */
  SHARDRT_HOUSEHOLDER_KIND = 2,        /**< as above */
  SHARDRT_HOUSEHOLDER_THREADS = 3,     /**< of the rank, at most */
  SHARDRT_HOUSEHOLDER_RANK = 4,        /**< dims: the last two are a matrix */
  SHARDRT_HOUSEHOLDER_COUNT = 5,       /**< reflectors */
  SHARDRT_HOUSEHOLDER_FIXED_LEVEL = 6, /**< as above */
  /** Then as many sizes as there are dims; the address of the matrices and
   * their strides, and of what becomes of them; last that of the taus and their
   * strides, one less. */
  SHARDRT_HOUSEHOLDER_HEAD = 7
};

#ifdef __cplusplus
extern "C" {
#endif

struct shardrt_context;

/** Eigenvalues, ascending, of Hermitian matrices, and eigenvectors (columns).
 * A matrix with NaN or infinities gives NaN. SHARDRT_OK, or the status to
 * return. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int shardrt_eigh(struct shardrt_context *ctx, const int64_t *words);

/** Singular values, descending, of matrices, and singular vectors (columns):
 * left ones times their values, and right ones. NaN and status as above. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int shardrt_svd(struct shardrt_context *ctx, const int64_t *words);

/** LAPACK's geqrf and gehrd, which write taus, or orgqr, which reads them.
 * Status as above. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int shardrt_householder(struct shardrt_context *ctx, const int64_t *words);

#ifdef __cplusplus
}
#endif

#endif /* SHARDRT_MATRIXCALL_H */

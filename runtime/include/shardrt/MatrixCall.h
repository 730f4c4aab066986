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

enum shardrt_eigh_kind {
  SHARDRT_EIGH_LOWER = 0, /**< the lower triangle is read */
  SHARDRT_EIGH_UPPER = 1
};

enum shardrt_householder_kind {
  SHARDRT_HOUSEHOLDER_QR = 0,
  SHARDRT_HOUSEHOLDER_HESSENBERG = 1,
  SHARDRT_HOUSEHOLDER_PRODUCT = 2
};

/** Words of each call. */
enum shardrt_matrix_word {
  SHARDRT_MATRIX_PART = 0,    /**< bytes of a real part: 4 or 8 */
  SHARDRT_MATRIX_COMPLEX = 1, /**< 1: elements are complex numbers */
  SHARDRT_MATRIX_THREADS = 2, /**< of the rank, at most */
  SHARDRT_MATRIX_RANK = 3,    /**< dims: the last two are a matrix */
  /** 1: the same bits on all processors that have AVX2 */
  SHARDRT_MATRIX_FIXED_LEVEL = 4,
  SHARDRT_MATRIX_KIND = 5, /**< as above; of svd 0 */
  /** Results of eigh (1: eigenvalues; 2: and eigenvectors) and svd (1: singular
   * values; 3: and both vectors); reflectors of householder. */
  SHARDRT_MATRIX_COUNT = 6,
  /** Then as many sizes as there are dims, and the operands: the address of
   * each, and its strides, of which vectors have one less than matrices.
   * - eigh: matrices, eigenvalues, eigenvectors;
   * - svd, whose last dim but one is not the smaller of the last two: matrices,
   *   singular values, left vectors, right vectors;
   * - householder: matrices, what becomes of them, taus. */
  SHARDRT_MATRIX_HEAD = 7
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

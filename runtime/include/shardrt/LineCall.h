/*===- LineCall.h - The arguments of algorithms on lines ----------*- C -*-===*\
|*
|* Lines of a tensor along one dim, each by itself: what the host's code writes
|* for shardrt_sort_lines and shardrt_transform_dims, as i64 words. Addresses
|* are words, strides are in elements.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_LINECALL_H
#define SHARDRT_LINECALL_H

#include <stdint.h>

enum shardrt_sort_word {
  SHARDRT_SORT_ORDER = 0,      /**< shardrt_sort_order */
  SHARDRT_SORT_DESCENDING = 1, /**< 1: the largest first */
  SHARDRT_SORT_THREADS = 2,    /**< of the rank, at most */
  SHARDRT_SORT_KEEP = 3,       /**< elements of a sorted line that are wanted */
  SHARDRT_SORT_OPERANDS = 4,   /**< how many, positions not among them */
  /** Bytes of an element of the positions, which are written as a further
   * operand behind the others, without a source; 0: none. */
  SHARDRT_SORT_POSITIONS = 5,
  SHARDRT_SORT_RANK = 6, /**< dims of the operands */
  SHARDRT_SORT_DIM = 7,  /**< along which lines are */
  /** Then as many sizes as there are dims, and for each operand, the one that
   * is compared first: bytes of an element; its address; that of its sorted
   * lines, or 0 where they are not wanted; strides of the first, strides of
   * the second. */
  SHARDRT_SORT_HEAD = 8
};

/** How elements of the first operand are compared. Equals keep their order. */
enum shardrt_sort_order {
  SHARDRT_SORT_SIGNED = 0,
  SHARDRT_SORT_UNSIGNED = 1,
  /** Floats by IEEE 754's total order. */
  SHARDRT_SORT_TOTAL = 2,
  /** Floats of 16 (f16: _HALF), 32 or 64 bits, zeros of either sign equal, NaNs
   * equal and above all others. */
  SHARDRT_SORT_NUMBERS = 3,
  SHARDRT_SORT_NUMBERS_HALF = 4
};

enum shardrt_transform_word {
  SHARDRT_TRANSFORM_PART = 0,    /**< bytes of a real part: 4 or 8 */
  SHARDRT_TRANSFORM_INVERSE = 1, /**< 1: by the conjugate angles */
  SHARDRT_TRANSFORM_FACTOR = 2,  /**< of the result: the bits of an f64 */
  SHARDRT_TRANSFORM_THREADS = 3, /**< of the rank, at most */
  SHARDRT_TRANSFORM_RANK = 4,    /**< dims of source and result */
  SHARDRT_TRANSFORM_DIM = 5,     /**< along which lines are */
  SHARDRT_TRANSFORM_SRC = 6,     /**< address of the source */
  /** Address of the result: another place or, with the same strides, that of
   * the source. */
  SHARDRT_TRANSFORM_DST = 7,
  /** Addresses of the real and imaginary parts of exp(-2 pi i k / length), in
   * the type of a part, for all k below the length. */
  SHARDRT_TRANSFORM_COSINES = 8,
  SHARDRT_TRANSFORM_SINES = 9,
  SHARDRT_TRANSFORM_LENGTH = 10, /**< numbers that a line is transformed as */
  SHARDRT_TRANSFORM_REAL = 11,   /**< shardrt_transform_real */
  /** Words from the first one of this transform to those of the next, which is
   * of what this one leaves; 0: this is the last. */
  SHARDRT_TRANSFORM_NEXT = 12,
  /** Then sizes of the source, strides of the source, strides of the result. */
  SHARDRT_TRANSFORM_HEAD = 13
};

/** Which side is real. The other has the first length / 2 + 1 numbers: the rest
 * are their conjugates. */
enum shardrt_transform_real {
  SHARDRT_TRANSFORM_COMPLEX = 0,
  SHARDRT_TRANSFORM_FROM_REAL = 1,
  SHARDRT_TRANSFORM_TO_REAL = 2
};

#ifdef __cplusplus
extern "C" {
#endif

struct shardrt_context;

/** Sorts lines as `words` say. SHARDRT_OK, or the status to return. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int shardrt_sort_lines(struct shardrt_context *ctx, const int64_t *words);

/** Fourier transforms of lines, as `words` say: along one dim or, one after the
 * other, along several, from the first dim to the last or the other way round.
 * Of several all but one are in place. SHARDRT_OK, or as above. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int shardrt_transform_dims(struct shardrt_context *ctx, const int64_t *words);

#ifdef __cplusplus
}
#endif

#endif /* SHARDRT_LINECALL_H */

/*===- LibraryCall.h - The arguments of a library call ------------*- C -*-===*\
|*
|* A plain big operator may be done by a library of the device's vendor in place
|* of generated kernels. The host's code writes these words, and reads from the
|* first whether it was done. docs/Rationale/GPU.md section 6.
|*
\*===----------------------------------------------------------------------===*/
#ifndef SHARDRT_LIBRARYCALL_H
#define SHARDRT_LIBRARYCALL_H

enum shardrt_library_call_word {
  /** Before: shardrt_library_call_wish. After: 1 where it was done, else 0. */
  SHARDRT_CALL_DONE = 0,
  SHARDRT_CALL_KIND = 1,     /**< shardrt_library_call_kind */
  SHARDRT_CALL_EPILOGUE = 2, /**< shardrt_library_call_epilogue, or'ed, and
                                  SHARDRT_CALL_TF32 */
  SHARDRT_CALL_OPERANDS = 3, /**< how many, results among them, last */
  SHARDRT_CALL_NUMBERS = 4,  /**< 12, by kind */
  /** Then for each operand its address, code of element type, number of dims,
   * 6 sizes and 6 strides in elements, and a word that is not used. */
  SHARDRT_CALL_HEAD = 16,
  SHARDRT_CALL_PER_OPERAND = 16,
  SHARDRT_CALL_DIMS = 6,
  SHARDRT_CALL_MOST_OPERANDS = 6
};

enum shardrt_library_call_wish {
  SHARDRT_CALL_IF_THERE = 0, /**< where the library is there */
  SHARDRT_CALL_REQUIRED = 1, /**< it is an error that it is not there */
  /** As IF_THERE, on devices with tcgen05 alone (of capability 10 and 11),
   * whose tensor cores the generated kernels use for a fraction of what they
   * can. */
  SHARDRT_CALL_ON_TCGEN05 = 2
};

enum shardrt_library_call_kind {
  /** (batch, rows, depth) times (batch, depth, columns) is (batch, rows,
   * columns). Numbers: 1 where the result is added to what is there; the dim of
   * the result that a bias runs along. */
  SHARDRT_CALL_PRODUCT = 1,
  /** x (n, groups * c, in...), w (groups * k, c, window...), y (n, groups * k,
   * out...), the one that is computed last. Numbers: which of them
   * (shardrt_library_call_convolution), spatial dims, groups; then 3 strides, 3
   * dilations and 3 paddings (in front and behind): y[p] sums
   * x[p * stride + r * dilation - padding]. */
  SHARDRT_CALL_CONVOLUTION = 2,
  /** A dense tensor (batch, lines...) to its transform, unscaled. Numbers:
   * shardrt_library_call_transform, dims that are transformed (1 to 3). */
  SHARDRT_CALL_TRANSFORM = 3,
  /** A block of queries (b, h, rows, d), keys (b, k, columns, d) and values
   * (b, k, columns, e), where h is a multiple of k, to out (b, h, rows, e), and
   * f32 most and sum (b, h, rows): with score = scale * query . key, most is
   * the largest score of a row, sum that of exp(score - most), out that of
   * exp(score - most) / sum * value. Head i of the queries uses head
   * i / (h / k) of the keys. Numbers: the bits of the scale, an f64;
   * shardrt_library_call_mask; the row's last column less the row: a row
   * without columns is not taken. */
  SHARDRT_CALL_ATTENTION = 4
};

enum shardrt_library_call_epilogue {
  SHARDRT_CALL_BIAS = 1, /**< operand 2, dims (n), is added first */
  SHARDRT_CALL_RELU = 2, /**< the larger of it and zero */
  SHARDRT_CALL_GELU = 4, /**< by a hyperbolic tangent */
  /** No epilogue, of any kind: factors of f32 may be rounded to tf32. */
  SHARDRT_CALL_TF32 = 8
};

/** Which tensor of a convolution is computed. Gradients of x come as a
 * convolution of y, widened, and of w, reversed. */
enum shardrt_library_call_convolution {
  SHARDRT_CALL_FORWARD = 0, /**< y of x and w */
  SHARDRT_CALL_FILTER = 1   /**< w of x and y */
};

enum shardrt_library_call_mask {
  SHARDRT_CALL_FULL = 0,  /**< all columns count */
  SHARDRT_CALL_CAUSAL = 1 /**< those up to row + the number behind this */
};

enum shardrt_library_call_transform {
  SHARDRT_CALL_FFT = 0,
  SHARDRT_CALL_IFFT = 1,
  SHARDRT_CALL_RFFT = 2,
  SHARDRT_CALL_IRFFT = 3
};

#endif /* SHARDRT_LIBRARYCALL_H */

//===- WindowCells.h - Elements by the windows that reach them --*- C++ -*-===//
//
// Windows of `window` elements begin every `stride` elements, the first one at
// -low. With p + low = q * stride + r, element p is in windows q, q - 1, ...,
// at places r, r + stride, ... of them, of which there are at most
// ceil(window / stride). So what windows hand back to their elements (gradients
// of pooling) is elementwise over cells of `stride` elements, along q and r:
//
//   stride 2, window 3, low 0     element  0  1 | 2  3 | 4  5 | 6
//                                 cell     q = 0|   1  |   2  |  tail
//                                 windows  0  0 |01  1 |12  2 |23
//
// No element waits for another one, each is written once, and vectors go along
// q: the kernels interleave what belongs to different r.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_LINALG_WINDOWCELLS_H
#define SHARDC_LIB_LINALG_WINDOWCELLS_H

#include "StableHLOToLinalg.h"

namespace shardc::lowering {

/// The windows along one dim.
struct WindowDim {
  int64_t window = 1, stride = 1, low = 0;
  mlir::OpFoldResult extent, count; ///< elements; windows
  /// Most windows that an element is in.
  int64_t covering() const { return llvm::divideCeil(window, stride); }
  bool isPoint() const { return window == 1 && stride == 1 && low == 0; }
};

class WindowCells {
public:
  WindowCells(Lowerer &l, llvm::ArrayRef<WindowDim> dims)
      : l(l), b(l.b), dims(dims) {}

  /// Whether the cells' code is short enough; else windows go one by one.
  bool areFew() const;
  /// How many windows an element is in at most, in all dims.
  int64_t steps() const;
  /// Whether no element is asked of a window that is not there.
  bool isInside();

  /// What one of the windows that may have an element says of it.
  struct Step {
    llvm::SmallVector<mlir::Value> values; ///< of each input
    /// The element's place in the window, as `placeOf` numbers it.
    mlir::Value place;
    /// Whether the window reaches it; null: it does.
    mlir::Value reaches;
  };
  /// What is computed of an element, from windows in their order; there may be
  /// none.
  using Body = llvm::function_ref<mlir::Value(llvm::ArrayRef<Step>)>;
  /// A tensor of the dims' extents. `inputs` have an element for each window;
  /// where there is none, `fills` stand in for it.
  mlir::Value emit(mlir::ValueRange inputs, mlir::ValueRange fills,
                   mlir::Type element, Body body);

  /// The number of a place in a window, which no other place has.
  int64_t placeOf(llvm::ArrayRef<int64_t> place) const;
  /// Calls `body` for each place of a window, in order.
  void forPlaces(llvm::function_ref<void(llvm::ArrayRef<int64_t>)> body) const;

private:
  /// Some cells of a dim: `count` from q = `first` on, and in each of them
  /// `residues` elements from `residue` on; in the result from `at` on.
  struct Stretch {
    mlir::OpFoldResult first, count, residues, at;
    int64_t residue = 0;
    bool isBare = false; ///< no window has an element of them
  };
  llvm::SmallVector<Stretch> stretchesOf(const WindowDim &dim);
  /// Windows before the first one, and behind the last one, that are asked for.
  int64_t missingBefore(const WindowDim &dim) const;
  mlir::OpFoldResult missingBehind(const WindowDim &dim);
  /// The elements of these stretches, one of each dim, in `result`; alone if
  /// that is null.
  mlir::Value emitStretches(llvm::ArrayRef<Stretch> chosen,
                            mlir::ValueRange inputs,
                            llvm::ArrayRef<mlir::OpFoldResult> low,
                            mlir::Type element, mlir::Value result, Body body);

  Lowerer &l;
  mlir::ImplicitLocOpBuilder &b;
  llvm::SmallVector<WindowDim> dims;
};

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_WINDOWCELLS_H

//===- SolverOps.td - The solver dialect ----------------------------------===//
//
// What JAX leaves to LAPACK, as ops: import makes them of custom calls. The last
// two dims of an operand are a matrix, those before them a batch. Conventions
// are LAPACK's where results depend on them (signs of reflectors, pivots).
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DIALECT_SOLVER_IR_SOLVEROPS_TD
#define SHARDC_DIALECT_SOLVER_IR_SOLVEROPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Solver_Dialect : Dialect {
  let name = "solver";
  let cppNamespace = "::shardc::solver";
  let summary = "Factorisations of batches of small matrices.";
}

def Solver_Element : AnyTypeOf<[F32, F64, Complex<F32>, Complex<F64>]>;
def Solver_Tensor : RankedTensorOf<[Solver_Element]>;
def Solver_RealTensor : RankedTensorOf<[F32, F64]>;
def Solver_IndexTensor : RankedTensorOf<[I32]>;

class Solver_Op<string mnemonic> : Op<Solver_Dialect, mnemonic, [Pure]> {
  let hasVerifier = 1;
}

def Solver_LuOp : Solver_Op<"lu"> {
  let summary = "L U = P A with partial pivoting.";
  let description = [{
    `packed` holds L below its diagonal (ones on it) and U on and above it. Row i was exchanged
    with row `pivots[i]`, in order; row i of P A is row `permutation[i]` of A. `info` is the number,
    from 1, of the first zero on U's diagonal, 0 if there is none.
    ```mlir
    %packed, %pivots, %permutation, %info = solver.lu %a : (tensor<4x6x6xf32>)
        -> (tensor<4x6x6xf32>, tensor<4x6xi32>, tensor<4x6xi32>, tensor<4xi32>)
    ```
  }];
  let arguments = (ins Solver_Tensor:$a);
  let results = (outs Solver_Tensor:$packed, Solver_IndexTensor:$pivots,
                      Solver_IndexTensor:$permutation, Solver_IndexTensor:$info);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Solver_PermutationOp : Solver_Op<"permutation"> {
  let summary = "The order of rows that exchanges in order lead to.";
  let description = [{
    Row i is exchanged with row `pivots[i]`, for i = 0, 1, and so on.
    ```mlir
    %p = solver.permutation %pivots : (tensor<4x3xi32>) -> tensor<4x6xi32>
    ```
  }];
  let arguments = (ins Solver_IndexTensor:$pivots);
  let results = (outs Solver_IndexTensor:$permutation);
  let assemblyFormat = "$pivots attr-dict `:` functional-type(operands, results)";
}

def Solver_QrOp : Solver_Op<"qr"> {
  let summary = "Householder's Q R = A.";
  let description = [{
    `packed` holds R on and above its diagonal and below it the reflectors H = I - tau v v^H,
    each with a one that is not stored. R's diagonal is real; it has the other sign than what
    stood there.
    ```mlir
    %packed, %taus = solver.qr %a : (tensor<4x6x3xf32>) -> (tensor<4x6x3xf32>, tensor<4x3xf32>)
    ```
  }];
  let arguments = (ins Solver_Tensor:$a);
  let results = (outs Solver_Tensor:$packed, Solver_Tensor:$taus);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Solver_HouseholderProductOp : Solver_Op<"householder_product"> {
  let summary = "The first columns of the product of reflectors.";
  let description = [{
    H1 H2 ... Hk, as `solver.qr` packs them, of k `taus`.
    ```mlir
    %q = solver.householder_product %packed, %taus
        : (tensor<4x6x3xf32>, tensor<4x3xf32>) -> tensor<4x6x3xf32>
    ```
  }];
  let arguments = (ins Solver_Tensor:$packed, Solver_Tensor:$taus);
  let results = (outs Solver_Tensor:$q);
  let assemblyFormat = "$packed `,` $taus attr-dict `:` functional-type(operands, results)";
}

def Solver_PivotedQrOp : Solver_Op<"pivoted_qr"> {
  let summary = "Q R = A P: the largest remaining column first.";
  let description = [{
    As `solver.qr`, of A's columns in the order `order` (from 1). Columns whose entry in `fixed` is not zero
    come first, in their order.
    ```mlir
    %packed, %order, %taus = solver.pivoted_qr %a, %fixed : (tensor<4x6x3xf32>, tensor<4x3xi32>)
        -> (tensor<4x6x3xf32>, tensor<4x3xi32>, tensor<4x3xf32>)
    ```
  }];
  let arguments = (ins Solver_Tensor:$a, Solver_IndexTensor:$fixed);
  let results = (outs Solver_Tensor:$packed, Solver_IndexTensor:$order, Solver_Tensor:$taus);
  let assemblyFormat = "$a `,` $fixed attr-dict `:` functional-type(operands, results)";
}

def Solver_HessenbergOp : Solver_Op<"hessenberg"> {
  let summary = "Q^H A Q = H, with zeros below the subdiagonal.";
  let description = [{
    `packed` holds H on and above its subdiagonal and below it the reflectors, whose product is Q, each
    with a one that is not stored. Of a Hermitian matrix H is tridiagonal.
    ```mlir
    %packed, %taus = solver.hessenberg %a : (tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x5xf32>)
    ```
  }];
  let arguments = (ins Solver_Tensor:$a);
  let results = (outs Solver_Tensor:$packed, Solver_Tensor:$taus);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Solver_SchurOp : Solver_Op<"schur"> {
  let summary = "T = U^H H U, triangular, of Hessenberg matrices; V = Q U.";
  let description = [{
    By QR iterations, in f64. Elements of H below its subdiagonal are not read. Of real matrices T has blocks
    of two rows on its diagonal, of equal diagonal elements, for each pair of complex eigenvalues.
    A matrix with NaN or infinities, or one that does not converge, gives NaN.
    ```mlir
    %t, %v = solver.schur %h, %q : (tensor<4x6x6xf32>, tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x6x6xf32>)
    ```
  }];
  let arguments = (ins Solver_Tensor:$h, Solver_Tensor:$q);
  let results = (outs Solver_Tensor:$t, Solver_Tensor:$v);
  let assemblyFormat = "$h `,` $q attr-dict `:` functional-type(operands, results)";
}

def Solver_EigenvectorsOp : Solver_Op<"eigenvectors"> {
  let summary = "Eigenvectors (columns) of V T V^H, T upper triangular.";
  let description = [{
    Of norm one, their largest element real. Column i belongs to T's diagonal element i.
    ```mlir
    %x = solver.eigenvectors %t, %v : (tensor<4x6x6xcomplex<f32>>, tensor<4x6x6xcomplex<f32>>) -> tensor<4x6x6xcomplex<f32>>
    ```
  }];
  let arguments = (ins Solver_Tensor:$t, Solver_Tensor:$v);
  let results = (outs Solver_Tensor:$x);
  let assemblyFormat = "$t `,` $v attr-dict `:` functional-type(operands, results)";
}

def Solver_EighOp : Solver_Op<"eigh"> {
  let summary = "Eigenvectors (columns) and ascending eigenvalues of Hermitian matrices.";
  let description = [{
    Reads one triangle. A vector is known up to its sign (phase).
    ```mlir
    %vectors, %values = solver.eigh %a, lower = true
        : (tensor<4x6x6xf32>) -> (tensor<4x6x6xf32>, tensor<4x6xf32>)
    ```
  }];
  let arguments = (ins Solver_Tensor:$a, BoolAttr:$lower);
  let results = (outs Solver_Tensor:$vectors, Solver_RealTensor:$values);
  let assemblyFormat = "$a `,` `lower` `=` $lower attr-dict `:` functional-type(operands, results)";
}

def Solver_OrthogonalizeOp : Solver_Op<"orthogonalize"> {
  let summary = "W = A V with orthogonal columns, V unitary.";
  let description = [{
    The columns of W, of descending norms `sigma`, are the left singular vectors times the singular
    values. A has at least as many rows as columns.
    ```mlir
    %w, %sigma, %v = solver.orthogonalize %a : (tensor<4x6x3xf32>)
        -> (tensor<4x6x3xf32>, tensor<4x3xf32>, tensor<4x3x3xf32>)
    ```
  }];
  let arguments = (ins Solver_Tensor:$a);
  let results = (outs Solver_Tensor:$w, Solver_RealTensor:$sigma, Solver_Tensor:$v);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
}

def Solver_TridiagonalSolveOp : Solver_Op<"tridiagonal_solve"> {
  let summary = "Solve with tridiagonal matrices, with partial pivoting.";
  let description = [{
    Row i of the matrix is `lower[i]`, `diagonal[i]`, `upper[i]` in columns i - 1, i, i + 1; `lower[0]` and the
    last of `upper` are not read. With `perturbed`, a pivot that is zero, or so small that what it divides has no
    finite quotient, grows by the epsilon of the type times the largest modulus in the triangular factor, or by
    more where that is not enough: singular matrices have finite solutions then.
    ```mlir
    %x = solver.tridiagonal_solve %lower, %diagonal, %upper, %b
        : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
    ```
  }];
  let arguments = (ins Solver_Tensor:$lower, Solver_Tensor:$diagonal, Solver_Tensor:$upper,
                       Solver_Tensor:$b, UnitAttr:$perturbed);
  let results = (outs Solver_Tensor:$x);
  let assemblyFormat = [{
    $lower `,` $diagonal `,` $upper `,` $b (`perturbed` $perturbed^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // SHARDC_DIALECT_SOLVER_IR_SOLVEROPS_TD

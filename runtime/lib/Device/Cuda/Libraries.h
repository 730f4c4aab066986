//===- Libraries.h - cuBLASLt, cuDNN and cuFFT ------------------*- C++ -*-===//
//
// Declared here, since their headers need not be there; opened at run time.
// Types and numbers are those of the libraries' ABIs; where their headers are
// found, runtime/test/LibraryNumbers.cpp compares them when it is compiled.
// Sources: NVIDIA's manuals of cuBLAS ("Using the cuBLASLt API"), cuDNN ("Graph
// backend API") and cuFFT.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CUDA_LIBRARIES_H
#define SHARDRT_DEVICE_CUDA_LIBRARIES_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace shardrt::libraries {

/// cublasStatus_t, cudnnStatus_t, cufftResult: 0 is success in all of them.
using Status = int;
using Stream = void *;

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

namespace lt {
enum : int {
  R32F = 0,
  R64F = 1,
  R16F = 2,
  R16BF = 14, // cudaDataType_t
  Compute32F = 68,
  Compute32FTF32 = 77,
  Compute64F = 70, // cublasComputeType_t
  OpN = 0,
  OpT = 1, // cublasOperation_t
  LayoutBatchCount = 5,
  LayoutBatchStride = 6, // cublasLtMatrixLayoutAttribute_t
  DescTransA = 3,
  DescTransB = 4,
  DescEpilogue = 7, // cublasLtMatmulDescAttributes_t
  DescBiasPointer = 8,
  DescBiasType = 26,
  PrefMaxWorkspace = 1,
  PrefReductions = 3, // cublasLtMatmulPreferenceAttributes_t
  PrefAlignmentA = 5, // then B, C, D
  EpilogueDefault = 1,
  EpilogueRelu = 2,
  EpilogueBias = 4,
  EpilogueGelu = 32,
  ReductionComputeType = 2, // cublasLtReductionScheme_t
};

/// cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  Status state;
  float waves;
  int reserved[4];
};

// Name in the library, result, name here, arguments.
#define SHARDRT_CUBLASLT_FUNCTIONS(F)                                          \
  F(cublasLtGetVersion, size_t, getVersion, ())                                \
  F(cublasLtGetStatusString, const char *, getStatusString, (Status))          \
  F(cublasLtCreate, Status, create, (void **))                                 \
  F(cublasLtDestroy, Status, destroy, (void *))                                \
  F(cublasLtMatmulDescCreate, Status, descCreate, (void **, int, int))         \
  F(cublasLtMatmulDescDestroy, Status, descDestroy, (void *))                  \
  F(cublasLtMatmulDescSetAttribute, Status, descSet,                           \
    (void *, int, const void *, size_t))                                       \
  F(cublasLtMatrixLayoutCreate, Status, layoutCreate,                          \
    (void **, int, uint64_t, uint64_t, int64_t))                               \
  F(cublasLtMatrixLayoutDestroy, Status, layoutDestroy, (void *))              \
  F(cublasLtMatrixLayoutSetAttribute, Status, layoutSet,                       \
    (void *, int, const void *, size_t))                                       \
  F(cublasLtMatmulPreferenceCreate, Status, preferenceCreate, (void **))       \
  F(cublasLtMatmulPreferenceDestroy, Status, preferenceDestroy, (void *))      \
  F(cublasLtMatmulPreferenceSetAttribute, Status, preferenceSet,               \
    (void *, int, const void *, size_t))                                       \
  F(cublasLtMatmulAlgoGetHeuristic, Status, heuristic,                         \
    (void *, void *, void *, void *, void *, void *, void *, int,              \
     lt::Heuristic *, int *))                                                  \
  F(cublasLtMatmul, Status, matmul,                                            \
    (void *, void *, const void *, const void *, void *, const void *, void *, \
     const void *, const void *, void *, void *, void *, const uint64_t *,     \
     void *, size_t, Stream))

constexpr int64_t leastVersion =
    110400; ///< the first with all of these epilogues
} // namespace lt

struct CublasLt {
#define SHARDRT_MEMBER(SYMBOL, RESULT, NAME, ARGUMENTS)                        \
  RESULT(*NAME) ARGUMENTS = nullptr;
  SHARDRT_CUBLASLT_FUNCTIONS(SHARDRT_MEMBER)
  int64_t version = 0; ///< 130100 for 13.1.0
};

//===----------------------------------------------------------------------===//
// cuDNN
//===----------------------------------------------------------------------===//

namespace dnn {
enum : int {
  Float = 0,
  Double = 1,
  Half = 2,
  Int32 = 4,
  BFloat16 = 9,
  Boolean = 11,         // cudnnDataType_t
  CrossCorrelation = 1, // cudnnConvolutionMode_t
  HeuristicsA = 3,
  HeuristicsFallback = 2, // cudnnBackendHeurMode_t
  // cudnnBackendAttributeType_t
  TypeHandle = 0,
  TypeDataType = 1,
  TypeBoolean = 2,
  TypeInt64 = 3,
  TypeFloat = 4,
  TypeDouble = 5,
  TypePointer = 6,
  TypeConvolutionMode = 7,
  TypeHeuristicsMode = 8,
  TypeNote = 11,
  TypePointwiseMode = 14,
  TypeDescriptor = 15,
  TypeReduction = 18,
  // cudnnPointwiseMode_t
  PointwiseAdd = 0,
  PointwiseMul = 1,
  PointwiseDiv = 6,
  PointwiseSub = 9,
  PointwiseExp = 13,
  PointwiseGreaterEqual = 303,
  PointwiseIndex = 501,
  PointwiseSelect = 601,
  // cudnnReduceTensorOp_t
  ReduceAdd = 0,
  ReduceMax = 3,
  // cudnnBackendDescriptorType_t
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfig = 3,
  Heuristics = 4,
  Plan = 5,
  OperationForward = 10,
  OperationFilter = 11,
  OperationPointwise = 13,
  Graph = 15,
  VariantPack = 16,
  Tensor = 17,
  Matmul = 18,
  OperationMatmul = 19,
  Reduction = 21,
  OperationReduction = 22,
  // cudnnBackendAttributeName_t
  PointwiseMode = 0,
  PointwiseCompute = 1,
  PointwiseAxis = 9,
  ConvolutionCompute = 100,
  ConvolutionMode = 101,
  ConvolutionDilations = 102,
  ConvolutionStrides = 103,
  ConvolutionPostPaddings = 104,
  ConvolutionPrePaddings = 105,
  ConvolutionSpatialDims = 106,
  HeuristicsMode = 200,
  HeuristicsGraph = 201,
  HeuristicsResults = 202,
  ConfigEngine = 300,
  PlanHandle = 400,
  PlanConfig = 401,
  PlanWorkspace = 402,
  ForwardAlpha = 700, // then beta, convolution, w, x, y
  FilterAlpha = 712,  // then beta, convolution, dw, x, dy
  OperationPointwiseKind = 750,
  OperationPointwiseX = 751,
  OperationPointwiseB = 752,
  OperationPointwiseY = 753,
  OperationPointwiseT = 758,
  GraphHandle = 800,
  GraphOperations = 801,
  TensorAlignment = 900,
  TensorDataType = 901,
  TensorDimensions = 902,
  TensorStrides = 903,
  TensorId = 906,
  TensorIsVirtual = 907,
  TensorIsByValue = 908,
  PackIds = 1000,
  PackPointers = 1001,
  PackWorkspace = 1003,
  EngineNotes = 1303,
  MatmulCompute = 1500,
  OperationMatmulA = 1520,
  OperationMatmulB = 1521,
  OperationMatmulC = 1522,
  OperationMatmulKind = 1523,
  ReductionOperator = 1600,
  ReductionCompute = 1601,
  OperationReductionX = 1610,
  OperationReductionY = 1611,
  OperationReductionKind = 1612,
  // cudnnBackendNumericalNote_t
  NoteTensorCore = 0,
  NoteDownConvert = 1,
  NoteReducedReduction = 2,
  NoteFft = 3,
  NoteNondeterministic = 4,
  NoteWinograd = 5,
  NoteWinogradLast = 8,
  NoteCount = 10,
};

#define SHARDRT_CUDNN_FUNCTIONS(F)                                             \
  F(cudnnGetVersion, size_t, getVersion, ())                                   \
  F(cudnnGetErrorString, const char *, getErrorString, (Status))               \
  F(cudnnCreate, Status, create, (void **))                                    \
  F(cudnnDestroy, Status, destroy, (void *))                                   \
  F(cudnnSetStream, Status, setStream, (void *, Stream))                       \
  F(cudnnBackendCreateDescriptor, Status, descriptorCreate, (int, void **))    \
  F(cudnnBackendDestroyDescriptor, Status, descriptorDestroy, (void *))        \
  F(cudnnBackendFinalize, Status, finalize, (void *))                          \
  F(cudnnBackendSetAttribute, Status, set,                                     \
    (void *, int, int, int64_t, const void *))                                 \
  F(cudnnBackendGetAttribute, Status, get,                                     \
    (void *, int, int, int64_t, int64_t *, void *))                            \
  F(cudnnBackendExecute, Status, execute, (void *, void *, void *))

constexpr int64_t leastVersion = 90000;
/// The first whose attention stores maxima and sums. Source: NVIDIA's release
/// notes of cudnn-frontend 1.15.
constexpr int64_t leastOfAttention = 91301;
} // namespace dnn

struct Cudnn {
  SHARDRT_CUDNN_FUNCTIONS(SHARDRT_MEMBER)
  int64_t version = 0; ///< 91900 for 9.19.0
};

//===----------------------------------------------------------------------===//
// cuFFT
//===----------------------------------------------------------------------===//

namespace fft {
enum : int {
  R2C = 0x2a,
  C2R = 0x2c,
  C2C = 0x29,
  D2Z = 0x6a,
  Z2D = 0x6c,
  Z2Z = 0x69, // cufftType
  Forward = -1,
  Inverse = 1,
};

#define SHARDRT_CUFFT_FUNCTIONS(F)                                             \
  F(cufftGetVersion, Status, getVersion, (int *))                              \
  F(cufftCreate, Status, create, (int *))                                      \
  F(cufftDestroy, Status, destroy, (int))                                      \
  F(cufftSetAutoAllocation, Status, setAutoAllocation, (int, int))             \
  F(cufftSetWorkArea, Status, setWorkArea, (int, void *))                      \
  F(cufftSetStream, Status, setStream, (int, Stream))                          \
  F(cufftMakePlanMany64, Status, makePlan,                                     \
    (int, int, long long *, long long *, long long, long long, long long *,    \
     long long, long long, int, long long, size_t *))                          \
  F(cufftExecC2C, Status, execC2C, (int, void *, void *, int))                 \
  F(cufftExecR2C, Status, execR2C, (int, void *, void *))                      \
  F(cufftExecC2R, Status, execC2R, (int, void *, void *))                      \
  F(cufftExecZ2Z, Status, execZ2Z, (int, void *, void *, int))                 \
  F(cufftExecD2Z, Status, execD2Z, (int, void *, void *))                      \
  F(cufftExecZ2D, Status, execZ2D, (int, void *, void *))

constexpr int64_t leastVersion = 10000;
} // namespace fft

struct Cufft {
  SHARDRT_CUFFT_FUNCTIONS(SHARDRT_MEMBER)
  int64_t version = 0; ///< 12000 for 12.0.0
};
#undef SHARDRT_MEMBER

/// The libraries, each opened by the first call of the process that asks for
/// it: from the path in SHARDRT_CUBLASLT_LIBRARY (_CUDNN_, _CUFFT_), else where
/// the loader looks, else beside the toolkit that CUDA_HOME or CUDA_PATH names.
/// An emulated device takes the first way alone: only stand-ins know its
/// memory. NULL with a reason: it is not there, too old, or something else.
const CublasLt *openCublasLt(bool emulated, std::string &error);
const Cudnn *openCudnn(bool emulated, std::string &error);
const Cufft *openCufft(bool emulated, std::string &error);

} // namespace shardrt::libraries

#endif // SHARDRT_DEVICE_CUDA_LIBRARIES_H

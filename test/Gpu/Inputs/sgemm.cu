// A ladder of f32 matrix products, C = alpha A B + beta C, row-major, written anew from the description in S. Boehm's
// "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance: a Worklog", whose times ladders.py holds. Sizes of
// tiles are the worklog's. Sizes of matrices are multiples of those of tiles.

using uint = unsigned;

#define ARGUMENTS int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C

// Neighbouring threads have neighbouring rows.
extern "C" __global__ void naive(ARGUMENTS) {
  const uint row = blockIdx.x * blockDim.x + threadIdx.x;
  const uint column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N)
    return;
  float sum = 0;
  for (int k = 0; k < K; ++k)
    sum += A[row * K + k] * B[k * N + column];
  C[row * N + column] = alpha * sum + beta * C[row * N + column];
}

// Neighbouring threads have neighbouring columns.
extern "C" __global__ void coalesced(ARGUMENTS) {
  const int row = blockIdx.x * 32 + threadIdx.x / 32;
  const int column = blockIdx.y * 32 + threadIdx.x % 32;
  if (row >= M || column >= N)
    return;
  float sum = 0;
  for (int k = 0; k < K; ++k)
    sum += A[row * K + k] * B[k * N + column];
  C[row * N + column] = alpha * sum + beta * C[row * N + column];
}

// Tiles of 32 x 32 of both operands in shared memory.
extern "C" __global__ void shared(ARGUMENTS) {
  __shared__ float left[32 * 32], right[32 * 32];
  const uint column = threadIdx.x % 32, row = threadIdx.x / 32;
  A += blockIdx.x * 32 * K;
  B += blockIdx.y * 32;
  C += blockIdx.x * 32 * N + blockIdx.y * 32;
  float sum = 0;
  for (int begin = 0; begin < K; begin += 32) {
    left[row * 32 + column] = A[row * K + column];
    right[row * 32 + column] = B[row * N + column];
    __syncthreads();
    A += 32;
    B += 32 * N;
    for (int k = 0; k < 32; ++k)
      sum += left[row * 32 + k] * right[k * 32 + column];
    __syncthreads();
  }
  C[row * N + column] = alpha * sum + beta * C[row * N + column];
}

// A thread has 8 results of a column; tiles of 64 x 64, 8 deep.
extern "C" __global__ void __launch_bounds__(512) column(ARGUMENTS) {
  constexpr int BM = 64, BN = 64, BK = 8, TM = 8;
  __shared__ float left[BM * BK], right[BK * BN];
  const int at = threadIdx.x % BN, rows = threadIdx.x / BN;
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  const uint leftColumn = threadIdx.x % BK, leftRow = threadIdx.x / BK;
  const uint rightColumn = threadIdx.x % BN, rightRow = threadIdx.x / BN;
  float sums[TM] = {};
  for (uint begin = 0; begin < K; begin += BK) {
    left[leftRow * BK + leftColumn] = A[leftRow * K + leftColumn];
    right[rightRow * BN + rightColumn] = B[rightRow * N + rightColumn];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint k = 0; k < BK; ++k) {
      const float factor = right[k * BN + at];
      for (uint i = 0; i < TM; ++i)
        sums[i] += left[(rows * TM + i) * BK + k] * factor;
    }
    __syncthreads();
  }
  for (uint i = 0; i < TM; ++i) {
    float &result = C[(rows * TM + i) * N + at];
    result = alpha * sums[i] + beta * result;
  }
}

// How operands lie in shared memory, and how a thread reads its 8 numbers of each.
enum Layout { Plain, Wide, Linear, Offset };

// A thread has TM x TN results. Wide ones load 16 bytes at once and keep the left tile transposed.
template <int BM, int BN, int BK, int TM, int TN, Layout layout>
__device__ __forceinline__ void tiled(ARGUMENTS) {
  constexpr int THREADS = BM * BN / (TM * TN);
  constexpr int PITCH = layout == Offset ? BN + 5 : BN;
  __shared__ float left[BM * BK], right[BK * PITCH];
  const int threadColumn = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  float sums[TM * TN] = {}, rows[TM], columns[TN];
  constexpr int WIDTH = layout == Plain ? 1 : 4;
  const uint leftRow = threadIdx.x / (BK / WIDTH), leftColumn = threadIdx.x % (BK / WIDTH);
  const uint rightRow = threadIdx.x / (BN / WIDTH), rightColumn = threadIdx.x % (BN / WIDTH);
  constexpr uint LEFT_STEP = THREADS * WIDTH / BK, RIGHT_STEP = THREADS * WIDTH / BN;
  for (uint begin = 0; begin < K; begin += BK) {
    if constexpr (layout == Plain) {
      for (uint i = 0; i < BM; i += LEFT_STEP)
        left[(leftRow + i) * BK + leftColumn] = A[(leftRow + i) * K + leftColumn];
      for (uint i = 0; i < BK; i += RIGHT_STEP)
        right[(rightRow + i) * BN + rightColumn] = B[(rightRow + i) * N + rightColumn];
    } else {
      for (uint i = 0; i + LEFT_STEP <= BM; i += LEFT_STEP) {
        const float4 four = *reinterpret_cast<const float4 *>(&A[(leftRow + i) * K + leftColumn * 4]);
        left[(leftColumn * 4 + 0) * BM + leftRow + i] = four.x;
        left[(leftColumn * 4 + 1) * BM + leftRow + i] = four.y;
        left[(leftColumn * 4 + 2) * BM + leftRow + i] = four.z;
        left[(leftColumn * 4 + 3) * BM + leftRow + i] = four.w;
      }
      for (uint i = 0; i + RIGHT_STEP <= BK; i += RIGHT_STEP) {
        const float4 four = *reinterpret_cast<const float4 *>(&B[(rightRow + i) * N + rightColumn * 4]);
        if constexpr (layout == Wide) {
          *reinterpret_cast<float4 *>(&right[(rightRow + i) * BN + rightColumn * 4]) = four;
        } else if constexpr (layout == Linear) {
          // Of a thread's 8 columns, the first ones of all threads lie side by side, then the second ones.
          const uint place = ((rightColumn % 2) * 4 + (rightRow + i) * 8) * 16 + rightColumn / 2;
          right[place] = four.x;
          right[place + 16] = four.y;
          right[place + 32] = four.z;
          right[place + 48] = four.w;
        } else {
          float *place = &right[(rightRow + i) * PITCH + rightColumn * 4];
          place[0] = four.x;
          place[1] = four.y;
          place[2] = four.z;
          place[3] = four.w;
        }
      }
    }
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint k = 0; k < BK; ++k) {
      for (uint i = 0; i < TM; ++i)
        rows[i] = layout == Plain ? left[(threadRow * TM + i) * BK + k] : left[k * BM + threadRow * TM + i];
      for (uint i = 0; i < TN; ++i)
        columns[i] = layout == Linear ? right[(k * 8 + i) * 16 + threadColumn] : right[k * PITCH + threadColumn * TN + i];
      for (uint i = 0; i < TM; ++i)
        for (uint j = 0; j < TN; ++j)
          sums[i * TN + j] += rows[i] * columns[j];
    }
    __syncthreads();
  }
  for (uint i = 0; i < TM; ++i) {
    if constexpr (layout == Plain) {
      for (uint j = 0; j < TN; ++j) {
        float &result = C[(threadRow * TM + i) * N + threadColumn * TN + j];
        result = alpha * sums[i * TN + j] + beta * result;
      }
    } else {
      for (uint j = 0; j < TN; j += 4) {
        float4 *place = reinterpret_cast<float4 *>(&C[(threadRow * TM + i) * N + threadColumn * TN + j]);
        float4 four = *place;
        four.x = alpha * sums[i * TN + j] + beta * four.x;
        four.y = alpha * sums[i * TN + j + 1] + beta * four.y;
        four.z = alpha * sums[i * TN + j + 2] + beta * four.z;
        four.w = alpha * sums[i * TN + j + 3] + beta * four.w;
        *place = four;
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256, 1) block(ARGUMENTS) {
  tiled<128, 128, 8, 8, 8, Plain>(M, N, K, alpha, A, B, beta, C);
}
extern "C" __global__ void wide(ARGUMENTS) { tiled<128, 128, 8, 8, 8, Wide>(M, N, K, alpha, A, B, beta, C); }
extern "C" __global__ void linear(ARGUMENTS) { tiled<128, 128, 8, 8, 8, Linear>(M, N, K, alpha, A, B, beta, C); }
extern "C" __global__ void padded(ARGUMENTS) { tiled<128, 128, 8, 8, 8, Offset>(M, N, K, alpha, A, B, beta, C); }

// The tile that was found by trying many: 16 deep, and walked by parts of 16 threads' tiles.
extern "C" __global__ void __launch_bounds__(256) tuned(ARGUMENTS) {
  constexpr int BM = 128, BN = 128, BK = 16, TM = 8, TN = 8, THREADS = 256, WM = TM * 16, WN = TN * 16;
  __shared__ float left[BM * BK], right[BK * BN];
  const int threadColumn = threadIdx.x % (WN / TN), threadRow = threadIdx.x / (WN / TN);
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  const uint leftRow = threadIdx.x / (BK / 4), leftColumn = threadIdx.x % (BK / 4);
  const uint rightRow = threadIdx.x / (BN / 4), rightColumn = threadIdx.x % (BN / 4);
  constexpr uint LEFT_STEP = THREADS * 4 / BK, RIGHT_STEP = THREADS / (BN / 4);
  constexpr int DOWN = BM / WM, ALONG = BN / WN;
  float sums[DOWN * ALONG * TM * TN] = {}, rows[TM], columns[TN];
  for (uint begin = 0; begin < K; begin += BK) {
    for (uint i = 0; i + LEFT_STEP <= BM; i += LEFT_STEP) {
      const float4 four = *reinterpret_cast<const float4 *>(&A[(leftRow + i) * K + leftColumn * 4]);
      left[(leftColumn * 4 + 0) * BM + leftRow + i] = four.x;
      left[(leftColumn * 4 + 1) * BM + leftRow + i] = four.y;
      left[(leftColumn * 4 + 2) * BM + leftRow + i] = four.z;
      left[(leftColumn * 4 + 3) * BM + leftRow + i] = four.w;
    }
    for (uint i = 0; i + RIGHT_STEP <= BK; i += RIGHT_STEP)
      *reinterpret_cast<float4 *>(&right[(rightRow + i) * BN + rightColumn * 4]) =
          *reinterpret_cast<const float4 *>(&B[(rightRow + i) * N + rightColumn * 4]);
    __syncthreads();
    for (uint m = 0; m < DOWN; ++m)
      for (uint n = 0; n < ALONG; ++n)
        for (uint k = 0; k < BK; ++k) {
          for (uint i = 0; i < TM; ++i)
            rows[i] = left[k * BM + m * WM + threadRow * TM + i];
          for (uint i = 0; i < TN; ++i)
            columns[i] = right[k * BN + n * WN + threadColumn * TN + i];
          for (uint i = 0; i < TM; ++i)
            for (uint j = 0; j < TN; ++j)
              sums[(m * TM + i) * (ALONG * TN) + n * TN + j] += rows[i] * columns[j];
        }
    __syncthreads();
    A += BK;
    B += BK * N;
  }
  for (uint m = 0; m < DOWN; ++m)
    for (uint n = 0; n < ALONG; ++n)
      for (uint i = 0; i < TM; ++i)
        for (uint j = 0; j < TN; j += 4) {
          float4 *place = reinterpret_cast<float4 *>(&C[(m * WM + threadRow * TM + i) * N + n * WN + threadColumn * TN + j]);
          float4 four = *place;
          const float *sum = &sums[(m * TM + i) * (ALONG * TN) + n * TN + j];
          four.x = alpha * sum[0] + beta * four.x;
          four.y = alpha * sum[1] + beta * four.y;
          four.z = alpha * sum[2] + beta * four.z;
          four.w = alpha * sum[3] + beta * four.w;
          *place = four;
        }
}

// A warp has a tile of its own, of which it does parts one after the other: WN_STEPS along, the rest down.
template <int BM, int BN, int BK, int WM, int WN, int WN_STEPS, int TM, int TN, int THREADS, bool doubled>
__device__ __forceinline__ void warps(ARGUMENTS) {
  constexpr int WM_STEPS = WM * WN / (32 * TM * TN * WN_STEPS), SUB_M = WM / WM_STEPS, SUB_N = WN / WN_STEPS;
  constexpr int STAGES = doubled ? 2 : 1;
  __shared__ float left[STAGES * BM * BK], right[STAGES * BK * BN];
  const uint warp = threadIdx.x / 32, warpColumn = warp % (BN / WN), warpRow = warp / (BN / WN);
  const uint lane = threadIdx.x % 32, laneColumn = lane % (SUB_N / TN), laneRow = lane / (SUB_N / TN);
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += (blockIdx.y * BM + warpRow * WM) * N + blockIdx.x * BN + warpColumn * WN;
  // Twice as much memory: one half of the threads loads while the other multiplies.
  constexpr int LOADERS = doubled ? THREADS / 2 : THREADS;
  const uint loader = threadIdx.x % LOADERS;
  const bool second = doubled && threadIdx.x >= LOADERS;
  const uint leftRow = loader / (BK / 4), leftColumn = loader % (BK / 4);
  const uint rightRow = loader / (BN / 4), rightColumn = loader % (BN / 4);
  constexpr uint LEFT_STEP = LOADERS * 4 / BK, RIGHT_STEP = LOADERS / (BN / 4);
  float sums[WM_STEPS * TM * WN_STEPS * TN] = {}, rows[WM_STEPS * TM], columns[WN_STEPS * TN];

  auto load = [&](float *left, float *right, const float *A, const float *B) {
    for (uint i = 0; i + LEFT_STEP <= BM; i += LEFT_STEP) {
      const float4 four = *reinterpret_cast<const float4 *>(&A[(leftRow + i) * K + leftColumn * 4]);
      left[(leftColumn * 4 + 0) * BM + leftRow + i] = four.x;
      left[(leftColumn * 4 + 1) * BM + leftRow + i] = four.y;
      left[(leftColumn * 4 + 2) * BM + leftRow + i] = four.z;
      left[(leftColumn * 4 + 3) * BM + leftRow + i] = four.w;
    }
    for (uint i = 0; i + RIGHT_STEP <= BK; i += RIGHT_STEP)
      *reinterpret_cast<float4 *>(&right[(rightRow + i) * BN + rightColumn * 4]) =
          *reinterpret_cast<const float4 *>(&B[(rightRow + i) * N + rightColumn * 4]);
  };
  auto multiply = [&](const float *left, const float *right) {
    for (uint k = 0; k < BK; ++k) {
      for (uint m = 0; m < WM_STEPS; ++m)
        for (uint i = 0; i < TM; ++i)
          rows[m * TM + i] = left[k * BM + warpRow * WM + m * SUB_M + laneRow * TM + i];
      for (uint n = 0; n < WN_STEPS; ++n)
        for (uint i = 0; i < TN; ++i)
          columns[n * TN + i] = right[k * BN + warpColumn * WN + n * SUB_N + laneColumn * TN + i];
      for (uint m = 0; m < WM_STEPS; ++m)
        for (uint n = 0; n < WN_STEPS; ++n)
          for (uint i = 0; i < TM; ++i)
            for (uint j = 0; j < TN; ++j)
              sums[(m * TM + i) * (WN_STEPS * TN) + n * TN + j] += rows[m * TM + i] * columns[n * TN + j];
    }
  };
  if constexpr (!doubled) {
    for (uint begin = 0; begin < K; begin += BK) {
      load(left, right, A, B);
      __syncthreads();
      multiply(left, right);
      A += BK;
      B += BK * N;
      __syncthreads();
    }
  } else {
    constexpr int LEFT = BM * BK, RIGHT = BK * BN;
    if (!second)
      load(left, right, A, B);
    __syncthreads();
    for (uint begin = 0; begin < K; begin += 2 * BK) {
      if (!second) {
        multiply(left, right);
        __syncthreads();
        if (begin + BK < K)
          multiply(left + LEFT, right + RIGHT);
        __syncthreads();
        if (begin + 2 * BK < K)
          load(left, right, A + 2 * BK, B + 2 * BK * N);
      } else {
        if (begin + BK < K)
          load(left + LEFT, right + RIGHT, A + BK, B + BK * N);
        __syncthreads();
        multiply(left, right);
        __syncthreads();
        if (begin + BK < K)
          multiply(left + LEFT, right + RIGHT);
      }
      A += 2 * BK;
      B += 2 * BK * N;
      __syncthreads();
    }
  }
  for (uint m = 0; m < WM_STEPS; ++m)
    for (uint n = 0; n < WN_STEPS; ++n)
      for (uint i = 0; i < TM; ++i)
        for (uint j = 0; j < TN; j += 4) {
          float4 *place = reinterpret_cast<float4 *>(
              &C[(m * SUB_M + laneRow * TM + i) * N + n * SUB_N + laneColumn * TN + j]);
          float4 four = *place;
          const float *sum = &sums[(m * TM + i) * (WN_STEPS * TN) + n * TN + j];
          four.x = alpha * sum[0] + beta * four.x;
          four.y = alpha * sum[1] + beta * four.y;
          four.z = alpha * sum[2] + beta * four.z;
          four.w = alpha * sum[3] + beta * four.w;
          *place = four;
        }
}

extern "C" __global__ void __launch_bounds__(128) warptiled(ARGUMENTS) {
  warps<128, 128, 16, 64, 64, 4, 8, 4, 128, false>(M, N, K, alpha, A, B, beta, C);
}
extern "C" __global__ void __launch_bounds__(256) doubled(ARGUMENTS) {
  warps<128, 256, 16, 128, 32, 1, 8, 8, 256, true>(M, N, K, alpha, A, B, beta, C);
}

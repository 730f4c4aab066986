"""Which kernels of libraries scripts/libraries.py puts beside our programs (test/Gpu/counted.py).

Each names a file of a package, and the kernels among which the fastest by the estimate is taken: nobody can ask a library
without a GPU which it would launch. Goals are those of the issue. Not here, because no package has code for them that can be read:
cuBLAS's own kernels of 16 bits on sm_90a and sm_100a without an epilogue (nvjet, packed), cuDNN's attention (compiled when it runs).
"""

import dataclasses

CUBLAS, TORCH, FLASH3, CUDNN = "libcublasLt.so.13", "libtorch_cuda.so", "_C.so", "libcudnn_engines_precompiled.so.9"


@dataclasses.dataclass(frozen=True)
class Beside:
    program: str  # of counted.py
    machine: str
    shape: tuple[int, ...]
    by: str
    library: str
    kernel: str  # a regular expression
    kind: str
    sizes: tuple[int, int, int]
    goal: float
    arch: str = ""  # of the library's kernel; the machine's, where it is empty
    size: int = 2
    tile: tuple[int, int] | None = None
    without: str = ""  # a program of counted.py that ``program`` does as well, and the library's kernel does not


def flash2(way: str, features: int) -> str:
    """Without dropout, masks, biases, of tiles that are whole."""
    flags = "false, false, false, false, true, true, false"
    return rf"flash_{way}\w*<Flash_{way}_kernel_traits<{features}, .*bfloat16_t.*> >, {flags}{', false' if way == 'fwd' else ''}>"


def libraries() -> list[Beside]:
    bf16 = r"^ampere_bf16_s16816gemm_bf16_\d+x\d+_ldg8_f2f_(stages_\w+_)?nn$"
    # The loops of products with a gelu's gradient behind them are those of products without.
    warpgroups = r"^sm90_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_tilesize\d+x\d+x64_warpgroupsize.*dgelu_execute_segment_k_off"
    tf32 = r"^sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize\d+x\d+x\d+_warpgroupsize\dx1x1_execute_segment_k_off"
    f32 = r"^ampere_sgemm_\d+x\d+_nn$"
    forward3 = (
        r"FlashAttnFwdSm90<.*tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<cute::C<\d+>, cute::C<\d+>, cute::C<128> >, 128, "
        r"cutlass::bfloat16_t, float, cutlass::arch::Sm90, (false, ){7}true, true, false, false, false>"
    )
    backward3 = r"FlashAttnBwdSm90<.*cute::tuple<cute::C<\d+>, cute::C<\d+>, cute::C<128> >, cutlass::bfloat16_t, float, cutlass::arch::Sm90, (false, ){5}"
    made = [
        Beside("bf16 product", machine, (n,), "cuBLAS", CUBLAS, kernel, "product", (n, n, n), goal)
        for machine, kernel, goal in (("a100", bf16, 0.92), ("h100", warpgroups, 0.95))
        for n in ((768, 1024, 1536, 2048, 3072, 4096, 8192) if machine == "a100" else (1024, 4096, 8192))
    ]
    made += [
        Beside("f32 product", "h100", (4096,), "cuBLAS, tf32", CUBLAS, tf32, "product", (4096,) * 3, 0.95, size=4),
        Beside("f32 product, highest", "h100", (4096,), "cuBLAS", CUBLAS, f32, "product", (4096,) * 3, 0.85, "sm_80", 4),
    ]
    shape = (16384, 16, 128)
    made += [
        Beside("attention forward", "a100", shape, "FlashAttention 2", TORCH, flash2("fwd", 128), "attention", shape, 0.8),
        Beside("attention backward", "a100", shape, "FlashAttention 2", TORCH, flash2("bwd", 128), "gradients", shape, 0.8, without="attention forward"),
        Beside("attention forward", "h100", shape, "FlashAttention 3", FLASH3, forward3, "attention", shape, 0.8),
        Beside("attention backward", "h100", shape, "FlashAttention 3", FLASH3, backward3, "gradients", shape, 0.75, without="attention forward"),
    ]
    return made

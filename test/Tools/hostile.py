"""Hostile files: programs, arrays and artifacts that try to run code, read, write, or take all memory.

    hostile.py --tools DIR [--keep DIR] [NAME...]

Each file goes to shard-run, and models to shard-opt and shard-translate too, all with --sandbox. Asserted of each: no
forbidden call (SHARDC_SANDBOX_LOG stays empty: the tools refuse by themselves, the sandbox is behind them), nothing that it
wants written is there, the bytes of a file that it wants read are in nothing that the tools say or write, an exit code that
docs/Reference/shard-run.md lists, no signal, an end within 20 s and 3 GiB. Where a name ends in '!', it must be refused
(not 0), else it may run, for it does no harm. Ends with 'N passed, N failed'.
"""

import argparse
import io
import os
import pickle
import resource
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 77}
SECRET = "the-bytes-of-a-file-that-is-none-of-the-programs-business"

HEAD = 'module @m {\n  sdy.mesh @mesh = <["x"=2]>\n'
MAIN = "  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
TAIL = "    return %0 : tensor<4xf32>\n  }\n}\n"
FINE = HEAD + MAIN + "    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n" + TAIL


def body(line: str, before: str = "", after: str = "") -> str:
    """A program of one line, which makes %0."""
    return HEAD + before + MAIN + f"    {line}\n" + TAIL + after


def call(target: str, attributes: str = "") -> str:
    return body(f'%0 = stablehlo.custom_call @{target}(%arg0) {{{attributes}}} : (tensor<4xf32>) -> tensor<4xf32>')


def models(marker: str, secret: str) -> dict[str, str]:
    """Programs by name. ``marker`` must not come to be, ``secret`` not be read."""
    command = f"touch {marker}"
    harmless = "%0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>"
    made = {f"call-{name.strip(chr(34)).replace('/', '_')}!": call(name, f'backend_config = "{command}"') for name in (
        "system", "popen", "execve", "posix_spawn", "dlopen", "open", "unlink", "socket", '"libc.so.6:system"', '"/bin/sh"',
        f'"{secret}"', '"../../lib/evil.so"', "xla_python_cpu_callback", "xla_ffi_python_cpu_callback", "xla_cpu_loader",
        '"\\00system"', "lapack_sgetrf_ffi")}
    made |= {
        "call-of-version-4!": call("system", f'api_version = 4 : i32, backend_config = {{path = "{secret}"}}'),
        "call-with-effects!": call("system", f'has_side_effect = true, backend_config = "{command}"'),
        "call-of-an-address!": call("xla_python_cpu_callback", 'backend_config = "94021373428736"'),
        "mhlo-backend-config!": body(f'%0 = "mhlo.custom_call"(%arg0) {{call_target_name = "system", backend_config = "{command}"}} : (tensor<4xf32>) -> tensor<4xf32>'),
        "sdy-backend-config!": call("foo", f'backend_config = "{secret}", mhlo.frontend_attributes = {{xla.sdy.sharding = "{secret}"}}'),
        "frontend-attributes-with-paths": body(harmless).replace("module @m", f'module @m attributes {{mhlo.frontend_attributes = {{xla.sdy.meshes = "{secret}"}}}}'),
        "sharding-that-is-a-path": body(harmless).replace("%arg0: tensor<4xf32>)", f'%arg0: tensor<4xf32> {{mhlo.sharding = "{secret}"}})'),
        "llvm-call!": body("llvm.call @abort() : () -> ()\n    " + harmless, "  llvm.func @abort()\n"),
        "llvm-system!": body("%p = llvm.mlir.zero : !llvm.ptr\n    %r = llvm.call @system(%p) : (!llvm.ptr) -> i32\n    " + harmless, "  llvm.func @system(!llvm.ptr) -> i32\n"),
        "llvm-asm!": body('llvm.inline_asm has_side_effects "syscall", "" : () -> ()\n    ' + harmless),
        "llvm-constructor!": body(harmless, "  llvm.mlir.global_ctors ctors = [@f], priorities = [0 : i32], data = [#llvm.zero]\n  llvm.func @f() { llvm.return }\n"),
        "llvm-pointer!": body("%a = llvm.mlir.constant(4096 : i64) : i64\n    %p = llvm.inttoptr %a : i64 to !llvm.ptr\n    %v = llvm.load %p : !llvm.ptr -> f32\n    " + harmless),
        # These were code: the model's machine code ran, or LLVM crashed.
        "llvm-module-asm": body(harmless).replace("module @m", 'module @m attributes {llvm.module_asm = [".section .init_array,\\22aw\\22", ".quad evil", ".text", "evil: mov $60, %eax", "mov $111, %edi", "syscall"]}'),
        "llvm-attributes-of-functions": body(harmless).replace("-> tensor<4xf32> {", '-> tensor<4xf32> attributes {passthrough = ["naked"], llvm.linkage = #llvm.linkage<weak>, section = ".init_array", personality = @evil, garbageCollector = "evil", llvm.emit_c_interface} {'),
        "llvm-attributes-of-arguments": body(harmless).replace("%arg0: tensor<4xf32>)", "%arg0: tensor<4xf32> {llvm.byval = f32, llvm.dereferenceable = 99999999 : i64, bufferization.writable = false, bufferization.access = \"none\"})"),
        "llvm-libraries": body(harmless).replace("module @m", 'module @m attributes {llvm.dependent_libraries = ["evil"], llvm.linker_options = ["-levil"], llvm.target_triple = "bpf", llvm.data_layout = "E", dlti.dl_spec = #dlti.dl_spec<index = 16 : i64>}'),
        "words-between-stages": body(harmless).replace("module @m", "module @m attributes {kernel.arena_bytes = 1 : i64, spmd.local_view, kernel.entry_inputs = [], kernel.entry_outputs = [], kernel.kernels = 9}"),
        "function-outside!": body("%0 = func.call @system(%arg0) : (tensor<4xf32>) -> tensor<4xf32>", "  func.func private @system(tensor<4xf32>) -> tensor<4xf32>\n"),
        "function-by-name!": body("%0 = call @printf(%arg0) : (tensor<4xf32>) -> tensor<4xf32>", '  func.func private @printf(tensor<4xf32>) -> tensor<4xf32> attributes {llvm.emit_c_interface}\n'),
        "memref-out-of-bounds!": body("%m = memref.alloc() : memref<1xf32>\n    %i = arith.constant 1000000000 : index\n    %v = memref.load %m[%i] : memref<1xf32>\n    " + harmless),
        "gpu-launch!": body('"gpu.launch_func"() {kernel = @k::@f} : () -> ()\n    ' + harmless),
        "transform-dialect!": body(harmless, "  transform.named_sequence @__transform_main(%r: !transform.any_op) { transform.yield }\n"),
        "irdl-dialect!": body(harmless, "  irdl.dialect @evil { }\n"),
        "pdl-interp!": body(harmless, "  pdl_interp.func @matcher(%a : !pdl.operation) { pdl_interp.finalize }\n"),
        "emitc-include!": body(harmless, f'  emitc.include "{secret}"\n'),
        "infeed!": body('%t = "stablehlo.create_token"() : () -> !stablehlo.token\n    %0, %u = "stablehlo.infeed"(%t) {infeed_config = "' + secret + '"} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)'),
        "location-of-a-file!": body(f'%0 = stablehlo.add %arg0, %oops : tensor<4xf32> loc("{secret}":1:1)'),
        "error-at-a-file!": body(f'%0 = stablehlo.custom_call @system(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("{secret}":1:1)'),
        "error-at-a-fused-file!": body(f'%0 = stablehlo.custom_call @system(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc(fused["/proc/self/environ":1:1, callsite("{secret}":1:1 at "/etc/passwd":1:1)])'),
        "location-that-is-a-device": body(harmless + ' loc("/dev/zero":1:1)'),
        "location-with-escapes": body(harmless + ' loc("\\1B]0;owned\\07":1:1)'),
        "module-named-like-a-path": FINE.replace("@m", f'@"{marker}"', 1),
        "module-named-like-a-command": FINE.replace("@m", f'@"; {command}; $({command}) `{command}`"', 1),
        "mesh-named-like-a-path": FINE.replace("@mesh", f'@"../../{marker}"').replace('"x"=2', f'"{marker}"=2'),
        "argument-named-like-a-path": FINE.replace("tensor<4xf32>)", f'tensor<4xf32> {{jax.arg_info = "$({command})", spmd.name = "../../{marker}"}})', 1),
        "function-named-like-the-loader's": FINE.replace("return %0", "%1 = call @_init(%0) : (tensor<4xf32>) -> tensor<4xf32>\n    return %1").replace(
            MAIN, "  func.func private @_init(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n    return %arg0 : tensor<4xf32>\n  }\n" + MAIN),
        "function-named-like-ours": FINE.replace("return %0", "%1 = call @shardc_main(%0) : (tensor<4xf32>) -> tensor<4xf32>\n    return %1").replace(
            MAIN, "  func.func private @shardc_main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n    return %arg0 : tensor<4xf32>\n  }\n" + MAIN),
        "function-named-like-malloc": FINE.replace("return %0", "%1 = call @malloc(%0) : (tensor<4xf32>) -> tensor<4xf32>\n    return %1").replace(
            MAIN, "  func.func private @malloc(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n    return %arg0 : tensor<4xf32>\n  }\n" + MAIN),
        "resource-that-is-not-there!": body("%c = stablehlo.constant dense_resource<gone> : tensor<4xf32>\n    %0 = stablehlo.add %arg0, %c : tensor<4xf32>"),
        "resource-too-short!": body("%c = stablehlo.constant dense_resource<r> : tensor<1000000xf32>\n    %0 = stablehlo.slice %c [0:4] : (tensor<1000000xf32>) -> tensor<4xf32>",
                                    after='{-# dialect_resources: { builtin: { r: "0x0400000000000000" } } #-}\n'),
        "resource-too-long!": body("%c = stablehlo.constant dense_resource<r> : tensor<1xf32>\n    %0 = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>",
                                   after='{-# dialect_resources: { builtin: { r: "0x04000000' + "41" * 4096 + '" } } #-}\n'),
        "resource-badly-aligned!": body("%c = stablehlo.constant dense_resource<r> : tensor<4xf32>\n    %0 = stablehlo.add %arg0, %c : tensor<4xf32>",
                                        after='{-# dialect_resources: { builtin: { r: "0x03000000' + "00" * 16 + '" } } #-}\n'),
        "resource-of-huge-alignment!": body("%c = stablehlo.constant dense_resource<r> : tensor<4xf32>\n    %0 = stablehlo.add %arg0, %c : tensor<4xf32>",
                                            after='{-# dialect_resources: { builtin: { r: "0x00000080' + "00" * 16 + '" } } #-}\n'),
        "resource-of-a-path": body(harmless, after='{-# external_resources: { mlir_reproducer: { pipeline: "builtin.module(' + f"print-op-stats{{json={marker}}}" + ')", disable_threading: false, verify_each: false } } #-}\n'),
        "constant-of-another-length!": body('%c = stablehlo.constant dense<"0xFF"> : tensor<4xf32>\n    %0 = stablehlo.add %arg0, %c : tensor<4xf32>'),
        "constant-too-large!": body("%c = stablehlo.constant dense<1.0> : tensor<1099511627776x4xf32>\n    %0 = stablehlo.slice %c [0:1, 0:4] : (tensor<1099511627776x4xf32>) -> tensor<4xf32>"),
        "temporary-too-large!": body("%i = stablehlo.iota dim = 0 : tensor<70368744177664x4xf32>\n    %s = stablehlo.sort %i : tensor<70368744177664x4xf32>\n    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>"),
        "elements-that-overflow!": FINE.replace("tensor<4xf32>", "tensor<9223372036854775807x4xf32>"),
        "ranks-without-end!": FINE.replace('"x"=2', '"x"=4611686018427387904'),
        "ranks-that-overflow!": FINE.replace('"x"=2', ", ".join(f'"a{i}"=65536' for i in range(8))),
        "dims-without-end!": FINE.replace("tensor<4xf32>", "tensor<" + "1x" * 3000 + "f32>"),
        "nested-without-end!": "module " + "{ module " * 20000 + "{" + "}" * 20001,
    }
    return made


def npy(header: bytes, content: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    size = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + header + content


GOOD = npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", struct.pack("<4f", 1, 2, 3, 4))


def archive(*members: tuple[str, bytes], links: bool = False) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as file, warnings.catch_warnings(action="ignore"):
        for name, content in members:
            info = zipfile.ZipInfo(name)
            if links:
                info.create_system, info.external_attr = 3, 0o120777 << 16
            file.writestr(info, content)
    return written.getvalue()


class Exploit:
    """What pickle runs when it is read."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple:
        return os.system, (self.command,)


def arrays(marker: str, secret: str) -> dict[str, bytes]:
    """Files for --inputs, by name."""
    bad = pickle.dumps(Exploit(f"touch {marker}"))
    code = f"__import__('os').system('touch {marker}')".encode()
    return {
        "pickle.npz!": bad,
        "object-array.npz!": archive(("in0.npy", npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (4,), }", bad))),
        "object-field.npz!": archive(("in0.npy", npy(b"{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (4,), }", bad))),
        "member-that-is-a-pickle.npz!": archive(("in0.npy", bad)),
        "member-of-pytorch.npz!": archive(("archive/data.pkl", bad), ("archive/version", b"3")),
        "header-that-is-code.npz!": archive(("in0.npy", npy(b"{'descr': " + code + b", 'fortran_order': False, 'shape': (4,), }", bytes(16)))),
        "header-of-version-3.npz!": archive(("in0.npy", npy(code, bytes(16), b"\x03\x00"))),
        "header-without-end.npz!": archive(("in0.npy", b"\x93NUMPY\x02\x00" + b"\xff" * 4 + b"{" * 100)),
        "shape-without-end.npz!": archive(("in0.npy", npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 4), }"))),
        "shape-below-zero.npz!": archive(("in0.npy", npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }", bytes(16)))),
        "path-upwards.npz!": archive((f"../../../../../..{marker}.npy", GOOD)),
        "path-absolute.npz!": archive((f"{marker}.npy", GOOD)),
        "path-beside.npz": archive(("in0.npy", GOOD), (f"../..{marker}", b"x"), (marker, b"x")),
        "link.npz!": archive(("in0.npy", secret.encode()), links=True),
        "link-absolute.npz!": archive(("in0.npy", b"/etc/passwd"), links=True),
        "member-twice.npz!": archive(("in0.npy", GOOD), ("in0.npy", GOOD)),
        "no-archive.npz!": b"\x80\x04" + bad,
    }


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def evil_object(folder: Path, marker: str) -> dict[str, list[str]]:
    """Shared objects whose constructors run when they are mapped: by themselves, and behind the seal of somebody else."""
    source = folder / "evil.c"
    source.write_text(
        '#include <fcntl.h>\n'
        f'__attribute__((constructor)) static void f(void) {{ open("{marker}", O_CREAT | O_WRONLY, 0600); }}\n'
        'int shardc_main(void) { return 0; }\n'
        'const long shardc_sites[4], shardc_sites_length, shardc_strings_length;\n'
        'const char shardc_strings[1], shardc_metadata[] = "{\\"format\\":3,\\"name\\":\\"m\\"}";\n')
    subprocess.run(["clang-22", "-shared", "-fPIC", "-fuse-ld=lld", "-o", str(folder / "evil.so"), str(source)], check=True)
    return {"artifact-without-seal.so!": [str(folder / "evil.so")]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.tools = options.tools.resolve()
    failures: list[str] = []
    passed = files = 0
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        marker, secret, log = folder / "marker", folder / "secret", folder / "forbidden"
        secret.write_text(SECRET + "\n")
        environment = {**os.environ, "SHARDC_SANDBOX_LOG": str(log), "SHARDC_HOSTILE": SECRET}
        fine = folder / "fine.mlir"
        fine.write_text(FINE)
        runs: list[tuple[str, list[str]]] = []
        for number, (name, text) in enumerate(models(str(marker), str(secret)).items()):
            path = folder / f"model{number}.mlir"
            path.write_text(text)
            runs.append((name, ["shard-run", str(path), f"--outputs=@{folder}/out.npz"]))
            if number % 2:
                runs.append((name, ["shard-translate", str(path), "-o", f"{folder}/out.so"]))
            else:
                runs.append((name.rstrip("!"), ["shard-opt", str(path), "-o", f"{folder}/out.mlir"]))
        for number, (name, data) in enumerate(arrays(str(marker), str(secret)).items()):
            path = folder / f"arrays{number}.npz"
            path.write_bytes(data)
            runs.append((name, ["shard-run", str(fine), f"--inputs=@{path}"]))
        (folder / "link.npy").symlink_to("/etc/passwd")
        os.mkfifo(folder / "pipe.npy")
        for name, path in {"passwords.npy!": "/etc/passwd", "link.npy!": folder / "link.npy", "endless.npy!": "/dev/zero",
                           "folder.npy!": "/etc", "memory.npy!": "/proc/self/mem"}.items():
            runs.append((name, ["shard-run", str(fine), f"--input=@{path}"]))
        for name, arguments in evil_object(folder, str(marker)).items():
            runs.append((name, ["shard-run", *arguments]))
            runs.append((name, ["shard-run", "--trust", *arguments]))
        # A whole artifact, of somebody else: its code is not mapped.
        theirs = folder / "theirs.so"
        subprocess.run([str(options.tools / "shard-translate"), str(fine), "-o", str(theirs)], check=True, capture_output=True,
                       env={**environment, "XDG_CONFIG_HOME": str(folder / "their-config")})
        runs.append(("artifact-of-somebody-else", ["shard-run", str(theirs)]))
        for name, command in runs:
            if options.names and name.rstrip("!") not in options.names:
                continue
            files += 1
            before = set(folder.iterdir())
            try:
                done = subprocess.run([str(options.tools / command[0]), *command[1:], "--sandbox"], capture_output=True, timeout=20,
                                      check=False, preexec_fn=limit, env=environment, cwd=folder)
                code, said = done.returncode, (done.stdout + done.stderr).decode(errors="replace")
            except subprocess.TimeoutExpired:
                code, said = -1, "no end within 20 s"
            for path in (folder / "out.npz", folder / "out.so", folder / "out.mlir"):
                if path.exists():
                    # An artifact and a module name the file; its bytes they must not have.
                    said += path.read_bytes().decode(errors="replace")
                    path.unlink()
            problems = []
            if code not in DOCUMENTED:
                problems.append(f"exit code {code}")
            if name.endswith("!") and code == 0:
                problems.append("it is not refused")
            if marker.exists():
                problems.append("it wrote what it wanted")
                marker.unlink()
            if SECRET in said:
                problems.append("it read what it wanted")
            if log.exists():
                problems.append("forbidden calls: " + log.read_text().strip())
                log.unlink()
            if left := set(folder.iterdir()) - before - {folder / "their-config"}:
                problems.append(f"it left {sorted(path.name for path in left)}")
            if problems:
                failures.append(f"{name}: {command[0]}: {'; '.join(problems)}: {said[-400:].strip()}")
            else:
                passed += 1
    for failure in failures:
        print(failure)
    print(f"{len({name.rstrip('!') for name, _ in runs})} files, {files} runs")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

"""What scripts/sass, scripts/gauge.py and scripts/scheduler.py make of small pieces of machine code, written by hand.

    sass_units.py [FOLDER]

FOLDER: also PTX that ptxas assembles and nvdisasm reads there.
"""

import dataclasses
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import gauge
import scheduler
from sass.costs import bytes_of, shared_bytes, tensor_memory_work, tensor_work
from sass.cubin import Control, Instruction, Kernel, read_cubin, read_instruction, split_operands
from sass.flow import basic_blocks, loops_of, needed_for_control
from sass.launches import Launch
from sass.operands import read_by
from sass.steps import compile_step
from sass.values import MASK, Values, address_reader, signed
from sass.walks import Plan, Walk, cluster_of, stand_for, walk_launch, walk_warp


def code(text: str) -> list[Instruction]:
    """Lines as nvdisasm prints them, each of 16 bytes."""
    made = []
    for line in text.strip().splitlines():
        words = line.split(None, 1)
        guard = ""
        if words[0].startswith("@"):
            guard, words = words[0][1:], words[1].split(None, 1)
        made.append(Instruction(words[0], split_operands(words[1]) if len(words) > 1 else (), guard))
    return made


def result(line: str, register: str, **values: int | None) -> int | None:
    """What one instruction leaves in a register."""
    state: Values = dict(values)
    compile_step(code(line)[0], {}, Counter())(state)
    return state.get(register)


# for (i = tid; i < n; i += 256) for (j = 0; j < 4; ++j) ..., n the first argument.
NESTED = """
S2R R0, SR_TID.X
ISETP.GE.AND P0, PT, R0, c[0x0][0x210], PT
@P0 EXIT
IMAD.MOV.U32 R2, RZ, RZ, RZ
FFMA R5, R5, R5, R5
VIADD R2, R2, 0x1
ISETP.NE.AND P0, PT, R2, 0x4, PT
@P0 BRA 0x40
IADD3 R0, R0, 0x100, RZ
ISETP.GE.AND P1, PT, R0, c[0x0][0x210], PT
@!P1 BRA 0x30
EXIT
"""


class Arithmetic(unittest.TestCase):
    """Each against what the PTX manual says of the operation that it stands for."""

    def test_sums_with_carries(self) -> None:
        self.assertEqual(result("IADD3 R0, P0, R1, R2, RZ", "R0", R1=0xFFFFFFFF, R2=2), 1)
        self.assertEqual(result("IADD3 R0, P0, R1, R2, RZ", "P0", R1=0xFFFFFFFF, R2=2), 1)
        self.assertEqual(result("IADD3.X R0, R1, R2, RZ, P0, !PT", "R0", R1=1, R2=2, P0=1), 4)
        # 5 - 3 borrows nothing: the carry of 5 + ~3 + 1 is set.
        self.assertEqual(result("IADD3 R0, P0, R1, -R2, RZ", "P0", R1=5, R2=3), 1)
        self.assertEqual(result("IADD3 R0, P0, R1, -R2, RZ", "P0", R1=3, R2=5), 0)
        self.assertEqual(result("IADD3 R0, R1, -0x1, RZ", "R0", R1=0), 0xFFFFFFFF)

    def test_products(self) -> None:
        self.assertEqual(result("IMAD.WIDE R0, R2, 0x4, R4", "R0", R2=0xFFFFFFFF, R4=8, R5=1), 4)
        self.assertEqual(result("IMAD.WIDE R0, R2, 0x4, R4", "R1", R2=0xFFFFFFFF, R4=8, R5=1), 1)  # -4 + 2^32 + 8
        self.assertEqual(result("IMAD.WIDE.U32 R0, R2, 0x4, R4", "R1", R2=0xFFFFFFFF, R4=8, R5=1), 5)
        self.assertEqual(result("IMAD.HI.U32 R0, R2, R3, RZ", "R0", R2=1 << 31, R3=6), 3)
        self.assertEqual(result("IMAD R0, RZ, R3, 0x7", "R0"), 7)

    def test_shifts(self) -> None:
        self.assertEqual(result("SHF.R.U32.HI R0, RZ, 0x5, R1", "R0", R1=0xFFFFFFFF), 0x7FFFFFF)
        self.assertEqual(result("SHF.R.S32.HI R0, RZ, 0x1f, R1", "R0", R1=1 << 31), 0xFFFFFFFF)
        self.assertEqual(result("SHF.L.U64.HI R0, R1, 0x4, R2", "R0", R1=0xF0000000, R2=1), 0x1F)
        self.assertEqual(result("SHF.R.U64 R0, R1, 0x4, R2", "R0", R1=0x10, R2=3), 0x30000001)
        self.assertEqual(result("LEA R0, P0, R1, R2, 0x3", "R0", R1=5, R2=2), 42)
        self.assertEqual(result("LEA.HI R0, R1, R2, RZ, 0x4", "R0", R1=0xF0000000, R2=1), 0x10)

    def test_logic_and_choice(self) -> None:
        self.assertEqual(result("LOP3.LUT R0, R1, 0xff, R2, 0xea, !PT", "R0", R1=0x1234, R2=0x100), 0x134)  # (a & b) | c
        self.assertEqual(result("LOP3.LUT P0, RZ, R1, 0x3, RZ, 0xc0, !PT", "P0", R1=4), 0)
        self.assertEqual(result("PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x8", "P0", P1=1, P2=1), 1)
        self.assertEqual(result("PRMT R0, R1, 0x5410, R2", "R0", R1=0x11112222, R2=0x33334444), 0x44442222)
        self.assertEqual(result("SEL R0, R1, R2, !P0", "R0", R1=1, R2=2, P0=1), 2)
        self.assertEqual(result("VIMNMX R0, R1, 0x3, PT", "R0", R1=0xFFFFFFFF), 0xFFFFFFFF)
        self.assertEqual(result("VIMNMX.U32 R0, R1, 0x3, PT", "R0", R1=0xFFFFFFFF), 3)

    def test_constants_by_another_unit(self) -> None:
        # 0x4 as the least bits of a half: 4 * 2^-24. The upper half is 1.0, 0x3c00.
        self.assertEqual(result("HFMA2.MMA R0, -RZ, RZ, 0, 2.384185791015625e-07", "R0"), 4)
        self.assertEqual(result("HFMA2 R0, -RZ, RZ, 1, 0", "R0"), 0x3C000000)
        self.assertEqual(result("HFMA2 R0, R1, RZ, 1, 0", "R0", R1=0), None)

    def test_scaled_addresses(self) -> None:
        state: Values = {"R1": 5, "UR2": 0x100}
        self.assertEqual(address_reader("[R1.X4+UR2+0x10]")(state), 0x124)
        self.assertEqual(address_reader("[R1+-0x4]")(state), 1)

    def test_comparisons_of_64_bits_in_two_steps(self) -> None:
        for a, b in ((1, 2), (2, 1), (5 << 32, 3), (3, 5 << 32), (7, 7), ((1 << 64) - 1, 0)):
            state: Values = {"R0": a & MASK, "R1": a >> 32, "R2": b & MASK, "R3": b >> 32}
            for line in code("ISETP.LT.U32.AND P0, PT, R0, R2, PT\nISETP.LT.AND.EX P0, PT, R1, R3, PT, P0"):
                compile_step(line, {}, Counter())(state)
            self.assertEqual(state["P0"], int(signed(a, 64) < signed(b, 64)), (a, b))

    def test_constants_of_sixteen_bytes(self) -> None:
        words = {f"c{0x380 + 4 * i}": i + 1 for i in range(4)}
        for i in range(4):
            self.assertEqual(result("LDCU.128 UR8, c[0x0][0x380]", f"UR{8 + i}", **words), i + 1)

    def test_predicates_as_a_word(self) -> None:
        self.assertEqual(result("P2R R0, PR, RZ, 0x44", "R0", P0=1, P2=1, P6=1), 0x44)
        self.assertEqual(result("P2R R0, PR, R1, 0x4", "R0", R1=0x15, P2=0), 0x11)
        self.assertIsNone(result("P2R R0, PR, RZ, 0x4", "R0", P2=None))
        self.assertEqual(read_instruction("P2R", "R0, RZ, 0x4", "PR"), code("P2R R0, PR, RZ, 0x4")[0])

    def test_constants_of_other_banks(self) -> None:
        words = {"c0x2[0]": 0x100, "c0x2[4]": 3}
        self.assertEqual(result("IMAD.WIDE.U32 R0, R2, 0x4, c[0x2][0x0]", "R0", R2=1, **words), 0x104)
        self.assertEqual(result("IMAD.WIDE.U32 R0, R2, 0x4, c[0x2][0x0]", "R1", R2=1, **words), 3)
        self.assertIsNone(result("IMAD.WIDE.U32 R0, R2, 0x4, c[0x3][0x0]", "R0", R2=1, **words))

    def test_all_of_a_result_is_unknown(self) -> None:
        """What was in any of its registers before is no longer there."""
        for line, last in (("LDG.E.128 R4, desc[UR4][R2.64]", "R7"), ("LDSM.16.M88.2 R4, [R2]", "R5"), ("LDTM.x8 R4, tmem[UR4]", "R11")):
            self.assertIsNone(result(line, last, **{last: 1}), line)

    def test_what_nobody_has_written_is_anything(self) -> None:
        """ptxas keeps half of such registers: nothing depends on it."""
        self.assertEqual(result("PRMT R0, R1, 0x7610, R0", "R0", R1=0x12345), 0x2345)

    def test_a_vote_reads_what_it_asks(self) -> None:
        self.assertEqual(result("VOTEU.ALL UP1, P4", "UP1", P4=1), 1)
        self.assertEqual(result("VOTEU.ALL UP1, P4", "P4", P4=1), 1)

    def test_short_integers_are_divided_by_floats(self) -> None:
        """a / b of 16 bits, as ptxas writes it: a reciprocal two units too large, and a product that is cut."""
        text = "I2F.U16 R9, R8\nMOV R11, 0x4b800000\nFSETP.GEU.AND P2, PT, |R9|, 1.175494350822287508e-38, PT\nFSEL R11, R11, 1, !P2\nFMUL R9, R9, R11\nMUFU.RCP R10, R9\nVIADD R10, R10, 0x2\nI2F.U16.RZ R7, R6\nFMUL.RZ R10, R7, R10\nF2I.U32.TRUNC.NTZ R10, R10"
        for a, b in ((7, 7), (0, 3), (65535, 1), (65534, 65535), (40000, 7), (48, 9), (0x10005, 5)):
            state: Values = {"R6": a, "R8": b}
            for line in code(text):
                compile_step(line, {}, Counter())(state)
            self.assertEqual(state["R10"], (a & 0xFFFF) // b, (a, b))

    def test_comparisons_of_floats(self) -> None:
        one, two, nan = 0x3F800000, 0x40000000, 0x7FC00000
        for how, a, b, holds in (("GT", two, one, 1), ("GT", one, two, 0), ("GEU", one, nan, 1), ("GE", one, nan, 0), ("NEU", nan, nan, 1), ("NUM", one, two, 1), ("NAN", one, nan, 1)):
            self.assertEqual(result(f"FSETP.{how}.AND P0, PT, R1, R2, PT", "P0", R1=a, R2=b), holds, how)
        self.assertEqual(result("FSETP.GT.AND P0, PT, |R1|, 1.5, PT", "P0", R1=two | 1 << 31), 1)
        self.assertEqual(result("FSETP.GT.OR P0, PT, -R1, 1.5, P1", "P0", R1=two, P1=1), 1)
        self.assertIsNone(result("FSETP.GT.AND P0, PT, R1, 1.5, PT", "P0", R1=None))

    def test_what_is_unknown_stays_so(self) -> None:
        state: Values = {"R1": 3, "R2": None}
        for line in code("IADD3 R0, R1, R2, RZ\nLOP3.LUT R3, R2, RZ, RZ, 0xc0, !PT\nISETP.LT.OR P0, PT, R2, R1, PT"):
            compile_step(line, {}, Counter())(state)
        self.assertEqual((state["R0"], state["R3"], state["P0"]), (None, 0, 1))


class ControlFlow(unittest.TestCase):
    def setUp(self) -> None:
        self.kernel = Kernel("nested", "sm_90", code(NESTED))

    def test_loops(self) -> None:
        blocks = basic_blocks(self.kernel.code)
        self.assertEqual([(block.begin, block.end) for block in blocks], [(0, 3), (3, 4), (4, 8), (8, 11), (11, 12)])
        self.assertEqual([set(loop.blocks) for loop in loops_of(self.kernel.code, blocks)], [{2}, {1, 2, 3}])

    def test_only_what_decides_is_computed(self) -> None:
        chosen = needed_for_control(self.kernel.code, basic_blocks(self.kernel.code))
        self.assertNotIn(4, chosen)  # FFMA
        self.assertLessEqual({0, 1, 3, 5, 6, 8, 9}, chosen)

    def test_turns(self) -> None:
        """1000 elements, 256 threads: thread 0 has elements 0, 256, 512, 768; thread 232 the first three."""
        launch = Launch("nested", (1, 1, 1), (256, 1, 1), 0, [1000])
        for warp, turns in ((0, 4), (7, 4)):
            walk = Walk()
            walk_warp(Plan.of(self.kernel), launch, (0, 0, 0), warp, walk)
            self.assertEqual((walk.counts[8], walk.counts[4], walk.unknown), (turns, 4 * turns, 0))
        walk = Walk()
        walk_warp(Plan.of(self.kernel), launch, (0, 0, 0), 7, walk, lane=8)  # thread 232
        self.assertEqual(walk.counts[8], 3)

    def test_lanes_stay_together(self) -> None:
        """A branch for lanes that have parted, to what does without the others."""
        kernel = Kernel("parted", "sm_80", code("MOV R0, 0x1\nBRA.DIV ~URZ, 0x40\nMOV R1, 0x2\nEXIT\nMOV R2, 0x3\nEXIT"))
        walk = Walk()
        walk_warp(Plan.of(kernel), Launch("parted", (1, 1, 1), (32, 1, 1), 0, []), (0, 0, 0), 0, walk)
        self.assertEqual([walk.counts[i] for i in range(6)], [1, 1, 1, 1, 0, 0])

    def test_a_branch_on_data_is_counted(self) -> None:
        kernel = Kernel("data", "sm_90", code("LDG.E R0, desc[UR4][R2.64]\nISETP.EQ.AND P0, PT, R0, RZ, PT\n@P0 BRA 0x0\nEXIT"))
        walk = Walk()
        walk_warp(Plan.of(kernel), Launch("data", (1, 1, 1), (32, 1, 1), 0, []), (0, 0, 0), 0, walk)
        self.assertEqual((walk.unknown, walk.counts[0]), (1, 1))


    def test_where_a_grid_is_said(self) -> None:
        # As ptxas reads %ntid.x and %nctaid.x: for sm_90a words 0 and 3, for sm_100a those at 0x360 and 0x370.
        for sizes, block, grid in ((0, 0x0, 0xC), (0x360, 0x360, 0x370)):
            turns = f"LDC R0, c[0x0][{grid:#x}]\nLDC R1, c[0x0][{block:#x}]\nIADD3 R0, PT, PT, R0, -0x1, RZ\nISETP.NE.AND P0, PT, R0, RZ, PT\n@P0 BRA 0x20\nEXIT"
            walk = Walk()
            walk_warp(Plan.of(Kernel("grid", "sm_100a", code(turns), sizes=sizes)), Launch("grid", (5, 1, 1), (32, 1, 1), 0, []), (0, 0, 0), 0, walk)
            self.assertEqual((walk.unknown, walk.counts[2]), (0, 5))


class Costs(unittest.TestCase):
    def test_tensor_instructions(self) -> None:
        one = code("HMMA.16816.F32.BF16 R8, R4, R2, R8")[0]
        self.assertEqual(tensor_work(one), (4096, 4096))
        self.assertEqual(tensor_work(code("HMMA.1688.F32.TF32 R8, R4, R2, R8")[0]), (2048, 4096))
        # 64 x 256 x 16 of four warps: 128 cycles of a multiprocessor that does 4096 operations in one.
        one = code("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR20].tnspB, R24")[0]
        self.assertEqual(4 * tensor_work(one)[1] / 4096, 128)
        self.assertEqual(4 * shared_bytes(one), 10240)
        self.assertEqual(4 * shared_bytes(code("HGMMA.64x128x16.F32.BF16 R24, R8, gdesc[UR4], R24")[0]), 4096)
        # A byte an element, and twice as many elements in the time.
        narrow = code("QGMMA.64x256x32.F32.E4M3.E5M2 R24, gdesc[UR20], R24")[0]
        self.assertEqual(4 * shared_bytes(narrow), (64 + 256) * 32)
        self.assertEqual([4 * figure for figure in tensor_work(narrow)], [2 * 64 * 256 * 32, 64 * 256 * 32])

    def test_products_into_tensor_memory(self) -> None:
        # 128 x 256 x 16 of bf16: 128 cycles of a multiprocessor that does 8192 operations in one. tf32: half the depth, as long.
        self.assertEqual(tensor_memory_work(0x8400490), (1 << 20, 1 << 20, 12288))
        self.assertEqual(tensor_memory_work(0x8400910), (1 << 19, 1 << 20, 12288))
        # Of a pair, 256 x 256: twice the operations, and half as much more that both blocks read together.
        self.assertEqual(tensor_memory_work(0x10400490), (1 << 21, 1 << 21, 16384))
        kernel = Kernel("tensor", "sm_100a", code("UMOV UR5, 0x8200490\nUTCHMMA gdesc[UR12], gdesc[UR10], tmem[UR6], tmem[UR4], idesc[UR5], UPT\nEXIT"))
        walk = Walk()
        walk_warp(Plan.of(kernel), Launch("tensor", (1, 1, 1), (32, 1, 1), 0, []), (0, 0, 0), 0, walk)
        self.assertEqual((walk.products, walk.unmodelled), ({1: {0x8200490: 1}}, {}))

    def test_pairs_of_blocks(self) -> None:
        for text, blocks in (("UCGABAR_ARV\nEXIT", 2), ("BAR.SYNC.DEFER_BLOCKING 0x0\nEXIT", 1)):
            self.assertEqual(cluster_of(Kernel("some", "sm_100a", code(text))), blocks)

    def test_blocks_that_stand_for_others(self) -> None:
        """256 tiles of 74 pairs of blocks that stay: 34 of them have four, the others three. Sizes on a line."""
        for total, size in ((74, lambda i: 4.0 if i < 34 else 3.0), (1000, lambda i: 5.0 + i), (9, lambda i: 2.0), (1, lambda i: 7.0)):
            weights = stand_for(total, size)
            self.assertAlmostEqual(sum(weights.values()), total)
            self.assertAlmostEqual(sum(size(i) * weight for i, weight in weights.items()), sum(map(size, range(total))))
            self.assertLessEqual(len(weights), 12)

    def test_the_block_with_most_to_do(self) -> None:
        """Of a launch whose first block turns 8 times and its last once: its part of all instructions."""
        turns = "S2R R0, SR_CTAID.X\nIADD3 R0, -R0, 0x8, RZ\nVIADD R0, R0, 0xffffffff\nISETP.NE.AND P0, PT, R0, RZ, PT\n@P0 BRA 0x20\nEXIT"
        walk, most = walk_launch(Plan.of(Kernel("turns", "sm_100a", code(turns))), Launch("turns", (8, 1, 1), (64, 1, 1), 0, []))
        self.assertEqual(walk.counts[2], 2 * (8 + 7 + 6 + 5 + 4 + 3 + 2 + 1))
        self.assertEqual(most, 2 * (3 + 3 * 8) / (2 * (8 * 3 + 3 * 36)))

    def test_memory(self) -> None:
        self.assertEqual([bytes_of(one) for one in code("LDG.E.128 R4, desc[UR4][R4.64]\nLDG.E.U16 R4, desc[UR4][R4.64]\nSTG.E desc[UR4][R4.64], R6")], [16, 2, 4])
        self.assertEqual(shared_bytes(code("LDSM.16.M88.4 R4, [R2]")[0]), 512)

    def test_residence(self) -> None:
        h100 = gauge.gpus()["h100"]
        self.assertEqual(gauge.resident_blocks(h100, 32, 256, 0), 8)  # 64 warps
        self.assertEqual(gauge.resident_blocks(h100, 128, 256, 0), 2)  # 128 x 256 x 2 = 65536
        self.assertEqual(gauge.resident_blocks(h100, 32, 128, 100 << 10), 2)
        self.assertEqual(h100.multiprocessors, 132)

    def test_places(self) -> None:
        """The second argument's address, of those that arrive 16 bytes at once; and one that is data."""
        text = "S2R R0, SR_TID.X\nLDCU.128 UR8, c[0x0][0x380]\nIMAD.WIDE.U32 R2, R0, 0x4, UR10\nLDG.E R4, desc[UR4][R2.64]\nSTG.E.64 desc[UR4][R4.64], RZ\nEXIT"
        kernel = Kernel("places", "sm_100", code(text), 16, parameters=0x380, sizes=0x360)
        walk = Walk()
        walk_warp(Plan.of(kernel), Launch("places", (1, 1, 1), (32, 1, 1), 0, [1 << 40, 3 << 40]), (0, 0, 0), 0, walk, lane=7)
        self.assertEqual((walk.touched, walk.unplaced), ({3: ((3 << 40) + 28, (3 << 40) + 28)}, 1))

    def test_bytes_under_way(self) -> None:
        text = "LDG.E.128 R4, desc[UR4][R2.64]\nLDG.E.128 R8, desc[UR4][R2.64+0x10]\nFADD R4, R4, R8\nLDG.E R9, desc[UR4][R2.64]\nEXIT"
        self.assertEqual(gauge.in_flight(Kernel("loads", "sm_90", code(text))), 32)


class Controls(unittest.TestCase):
    """Words of ptxas, bits by hand: the upper half from bit 41 is reuse, wait, read, write, keeps, stall."""

    def test_words(self) -> None:
        for word, expected in (
            (0x000E280000002500_0000000000047919, Control(4, True, write=0)),  # S2R R4, SR_CTAID.X
            (0x001FCA00078E0203_0000000004047A24, Control(5, False, wait=0b1)),  # IMAD R4, R4, c[0x0][0x0], R3
            (0x004FCA0000000007_4000000002077823, Control(5, False, wait=0b100)),  # FFMA R7, R2, 2, R7
            (0x000FDA0003F06270_00005C0004007A0C, Control(13, False)),  # ISETP.GE.AND P0, PT, R4, c[0x0][0x170], PT
            # 0b0101 110000 010 111 1 0010, by hand.
            (0b0101_110000_010_111_1_0010 << 105, Control(2, True, read=2, wait=0b110000, reuse=0b0101)),
        ):
            self.assertEqual(Control.of(word), expected, hex(word))


def run(text: str, warps: int, controls: list[Control], machine: scheduler.Machine, resident: int = 1) -> float:
    """When blocks of so many warps ended that run some instructions."""
    lines = [dataclasses.replace(one, control=control) for one, control in zip(code(text), controls)]
    ops = [scheduler.op_of(one, index, machine) for index, one in enumerate(lines)]
    processor = scheduler.Multiprocessor(machine, ops, 1, 0)
    blocks = [[[(index, 0) for index in range(len(ops))] for _ in range(warps)] for _ in range(resident)]
    return processor.run(scheduler.deque(blocks), resident)[-1]


class Scheduler(unittest.TestCase):
    """The model on pieces whose cycles can be counted by hand."""

    machine = scheduler.MACHINES["a100"]

    def test_stalls(self) -> None:
        """A chain of 20, each 4 cycles behind the one before; the last is issued in cycle 80."""
        text = "FFMA R0, R0, R0, R0\n" * 20 + "EXIT"
        self.assertEqual(run(text, 1, [Control(4)] * 20 + [Control()], self.machine), 80)

    def test_units(self) -> None:
        """Two warps of each scheduler: 40 FFMA, which hold an A100's unit for 2 cycles, and a GA102's for one."""
        text, controls = "FFMA R0, R1, R2, R3\n" * 20 + "EXIT", [Control(1)] * 20 + [Control()]
        self.assertAlmostEqual(run(text, 8, controls, self.machine), 80, delta=2)
        # R1 and R3 are in one bank, which is read once a cycle: as long, for lack of a port.
        self.assertAlmostEqual(run(text, 8, controls, scheduler.MACHINES["a6000"]), 80, delta=2)
        text = text.replace("R1, R2, R3", "R1.reuse, R2, R3")  # the operand cache has it
        self.assertAlmostEqual(run(text, 8, controls, scheduler.MACHINES["a6000"]), 40, delta=4)

    def test_waits(self) -> None:
        """What is loaded is there after the latency; who does not wait goes on."""
        text = "LDS R0, [R2]\nFFMA R0, R0, R0, R0\nEXIT"
        for wait, cycles in ((0b1, 1 + self.machine.shared_latency), (0, 1)):
            controls = [Control(1, write=0), Control(1, wait=wait), Control()]
            self.assertEqual(run(text, 1, controls, self.machine), cycles + 1)

    def test_barriers(self) -> None:
        """Nobody passes before the last one has come: of 8 warps, two a scheduler issue 10 FFMA each."""
        text = "FFMA R0, R1, R2, R4\n" * 10 + "BAR.SYNC.DEFER_BLOCKING 0x0\nEXIT"
        self.assertGreaterEqual(run(text, 8, [Control(1)] * 10 + [Control(), Control()], self.machine), 40)

    def test_banks(self) -> None:
        for addresses, size, cycles in (
            ([4 * i for i in range(32)], 4, 1),
            ([0] * 32, 4, 1),
            ([8 * i for i in range(32)], 4, 2),
            ([128 * i for i in range(32)], 4, 32),
            ([132 * i for i in range(32)], 4, 1),
            ([16 * i for i in range(32)], 16, 4),
            ([16 * i for i in range(8)], 16, 1),  # a matrix of ldmatrix
            ([64 * i for i in range(8)], 16, 4),
            ([32 * (i % 16) for i in range(32)], 16, 8),
        ):
            self.assertEqual(scheduler.banks(addresses, size), cycles, addresses[:3])

    def test_what_is_not_modelled_is_said(self) -> None:
        kernel = Kernel("copies", "sm_90", code("UTMALDG.2D [UR8], [UR4]\nSYNCS.PHASECHK.TRANS64 P0, [R2], R3\nEXIT"))
        self.assertEqual(scheduler.missing_in(kernel), ["SYNCS", "UTMALDG"])
        self.assertEqual(scheduler.missing_in(Kernel("nested", "sm_80", code(NESTED))), [])

    def test_turns_that_are_left_out(self) -> None:
        """A loop of 400 turns takes as long by its first turns as when all are run."""
        turns = "MOV R0, RZ\n" + "FFMA R4, R4, R4, R4\n" * 30 + "LDS R5, [R6]\nFADD R4, R4, R5\nVIADD R0, R0, 0x1\nISETP.NE.AND P0, PT, R0, 0x190, PT\n@P0 BRA 0x10\nEXIT"
        controls = [Control(4)] * 31 + [Control(1, write=0), Control(4, wait=1), Control(4), Control(8), Control(5), Control()]
        kernel = Kernel("turns", "sm_80", [dataclasses.replace(one, control=control) for one, control in zip(code(turns), controls)], 32)
        launch = Launch("turns", (108, 1, 1), (128, 1, 1), 0, [])
        short = scheduler.schedule(kernel, launch, self.machine)
        whole = scheduler.schedule(kernel, launch, self.machine, whole=True)
        self.assertLess(10 * short.issued, whole.issued)
        self.assertAlmostEqual(short.seconds / whole.seconds, 1, delta=0.02)

    def test_bandwidth(self) -> None:
        """2^24 threads read 4 bytes each and write them: not faster than the memory, and not much slower."""
        text = "S2R R0, SR_CTAID.X\nS2R R3, SR_TID.X\nIMAD R0, R0, 0x100, R3\nIMAD.WIDE R4, R0, 0x4, c[0x0][0x160]\nIMAD.WIDE R6, R0, 0x4, c[0x0][0x168]\nLDG.E R8, [R4.64]\nSTG.E [R6.64], R8\nEXIT"
        controls = [Control(2, write=0), Control(2, write=0), Control(5, wait=1), Control(5), Control(5), Control(2, write=1), Control(2, wait=2), Control()]
        kernel = Kernel("copy", "sm_80", [dataclasses.replace(one, control=control) for one, control in zip(code(text), controls)], 16, parameters=0x160)
        launch = Launch("copy", (1 << 16, 1, 1), (256, 1, 1), 0, [1 << 32, 2 << 32])
        seconds = scheduler.schedule(kernel, launch, self.machine).seconds
        least = 2 * 4 * (1 << 24) / self.machine.bandwidth
        self.assertGreater(seconds, least)
        self.assertLess(seconds, 1.5 * least)


PTX = """.version 8.6
.target {arch}
.address_size 64
.visible .entry turns(.param .u64 in, .param .u64 out, .param .u64 count) {{
  .reg .u64 %a, %b, %n, %i, %t; .reg .f32 %f, %s; .reg .pred %p; .reg .u32 %x;
  ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.param.u64 %n, [count];
  mov.u32 %x, %tid.x; cvt.u64.u32 %t, %x; shl.b64 %t, %t, 2; add.s64 %a, %a, %t; add.s64 %b, %b, %t;
  mov.u64 %i, 0; mov.f32 %s, 0f00000000;
$again:
  ld.volatile.global.f32 %f, [%a]; add.f32 %s, %s, %f; add.s64 %a, %a, 128; add.s64 %i, %i, 1;
  setp.lt.s64 %p, %i, %n; @%p bra $again;
  st.global.f32 [%b], %s; ret;
}}
"""


class Assembled(unittest.TestCase):
    """A loop whose count is an argument, as ptxas assembles it for three GPUs: 12 loads of 128 bytes a warp, one store."""

    folder = Path()

    def test_counts(self) -> None:
        for name in ("a100", "h100", "b200"):
            gpu = gauge.gpus()[name]
            ptx, cubin = self.folder / "turns.ptx", self.folder / "turns.cubin"
            ptx.write_text(PTX.format(arch=gpu.arch))
            subprocess.run(["ptxas", f"-arch={gpu.arch}", ptx, "-o", cubin], check=True)
            kernel = read_cubin(cubin)["turns"]
            figures = gauge.gauge(kernel, Launch("turns", (7, 1, 1), (64, 1, 1), 0, [1 << 20, 1 << 21, 12]), gpu)
            stores = sum(count for opcode, count in figures.mix.items() if opcode.startswith("STG"))
            self.assertEqual((stores, figures.unknown, dict(figures.unmodelled)), (14, 0, {}), gpu.name)
            self.assertEqual(figures.global_bytes, 14 * 13 * 128)  # loads whose predicate is false take a slot, and move nothing
            # Two warps: lines 0 to 11 and 1 to 12 from one place, and two lines from another.
            self.assertEqual(figures.footprint, (13 + 2) * 128)
            self.assertGreater(kernel.registers, 0)
            self.check_controls(kernel)

    def check_controls(self, kernel: Kernel) -> None:
        """What is waited for was begun by somebody, and an operand is kept where nvdisasm says so."""
        begun = {one.control.write for one in kernel.code} | {one.control.read for one in kernel.code}
        for one in kernel.code:
            waits = {i for i in range(6) if one.control.wait >> i & 1}
            self.assertLessEqual(waits, begun, one)
            self.assertEqual(bool(one.control.reuse), any(".reuse" in operand for operand in one.operands), one)
        load = next(i for i, one in enumerate(kernel.code) if one.name == "LDG")
        use = next(one for one in kernel.code[load + 1 :] if kernel.code[load].operands[0] in read_by(one))
        self.assertTrue(use.control.wait >> kernel.code[load].control.write & 1)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Assembled.folder = Path(sys.argv.pop())
        Assembled.folder.mkdir(parents=True, exist_ok=True)
    else:
        del Assembled
    unittest.main()

#!/usr/bin/env python3
"""Compares what kernels and trainings cost, as counted here, with the table bench/gpu/counts.txt.

    python3 tools/check-counts.py [--write] kernels FOLDER    what nvcc left in FOLDER: *.ptx, *.cubin, ptxas.txt
    python3 tools/check-counts.py kernels FOLDER sm_90        the same for one architecture
    python3 tools/check-counts.py [--write] runs FILE         lines of bench/gpu/counts.c
    python3 tools/check-counts.py --self-check                shows that what must fail fails

`sh tools/counts.sh` makes both and calls this. --write replaces the section of the table by what was counted.

A line of the table is SECTION KEY FIGURE=NUMBER ... A figure above the table's fails; one below it prints a hint to
write the table anew. What the table lacks, and what is in the table alone, fails. Kernels of another nvcc are not
compared, as each has its own ways, but what must never be there is looked for all the same.

Figures of kernels, for each architecture: registers and bytes spilled (ptxas -v); accesses by generic addresses
(PTX: ld, st, atom, red that name no space); of the machine code: instructions without padding, reductions to global
memory (`reds`: if there were some, some must be left, as what else adds there waits for the old value), atomics that
return a value, and operations on doubles. Loops are the innermost ones with four or more additions to shared memory,
the longest one first. The machine code is read here, as Debian's compilers come without NVIDIA's disassembler: an
instruction has 16 bytes, the lower 9 bits tell the operation, and branches are relative. Compared with nvdisasm 13.5,
this found the target of each of 9,840 branches and every one of the operations below, for sm_80 and sm_90.

Figures of trainings are those of one round, see bench/gpu/counts.c and tests/simt/control.h: what the host asks for,
and, kernel by kernel, launches, blocks, bytes and atomics of all threads, and sectors of 32 bytes that pass between
device memory and a cache. A kernel that was added or renamed changes lines, so the table is written anew.
"""

import glob
import os
import re
import struct
import subprocess
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "gpu", "counts.txt")
HOT = 4  # additions to shared memory in a loop
ARCHS = ("sm_80", "sm_90")
COMMAND = "sh tools/counts.sh --write"
HEAD = """# What kernels and trainings cost, as far as it can be counted without a GPU.
# tools/check-counts.py says what the figures mean. Written by: %s
""" % COMMAND

OPERATIONS = {  # the lower 9 bits of an instruction
    0x028: "fp64", 0x029: "fp64", 0x02b: "fp64", 0x180: "LD", 0x185: "ST", 0x18a: "ATOM", 0x181: "LDG", 0x186: "STG",
    0x184: "LDS", 0x188: "STS", 0x183: "LDL", 0x187: "STL", 0x189: "SHFL", 0x18c: "ATOMS", 0x18d: "ATOMS",
    0x18e: "RED", 0x1a8: "ATOMG", 0x1a9: "ATOMG", 0x118: "NOP", 0x147: "BRA",
}


# ---- machine code ----

def branch_offset(arch, word):
    """Bytes from the end of a branch to its target."""
    high = word >> 34 & (1 << 48) - 1
    high -= 1 << 48 if high >> 47 else 0
    return high * 4 if int(arch[3:]) < 90 else high * 1024 + (word >> 16 & 255) * 4


def decode(arch, code):
    """(operation or None, target of a branch or None) of each instruction, by number."""
    out = []
    for at in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, at)
        word = low | high << 64
        name = OPERATIONS.get(word & 0x1ff)
        target = (at + 16 + branch_offset(arch, word)) // 16 if name == "BRA" else None
        out.append((name, target))
    return out


def inner_loops(instructions):
    """First and last instruction of the loops that hold no other loop."""
    loops = sorted({(to, at) for at, (_, to) in enumerate(instructions) if to is not None and to < at})
    return [(a, b) for a, b in loops if not any((c, d) != (a, b) and a <= c and d <= b for c, d in loops)]


def figures_of_code(arch, code):
    """Figures of a kernel, and of its loops that add to shared memory."""
    instructions = decode(arch, code)
    names = [name for name, _ in instructions]
    kernel = {"instructions": len(names) - names.count("NOP"), "reds": names.count("RED"),
              "atomics": names.count("ATOMG") + names.count("ATOM"), "fp64": names.count("fp64")}
    loops = []
    for first, last in inner_loops(instructions):
        body = names[first:last + 1]
        if body.count("ATOMS") >= HOT:
            loops.append({"instructions": len(body), "shuffles": body.count("SHFL"),
                          "shared_adds": body.count("ATOMS"), "shared": body.count("LDS") + body.count("STS"),
                          "loads": body.count("LDG"), "local": body.count("LDL") + body.count("STL")})
    return kernel, sorted(loops, key=lambda x: (-x["instructions"], -x["shared_adds"]))


def code_sections(path):
    """Name and bytes of every kernel of a cubin: an ELF file whose sections .text.NAME hold the code."""
    with open(path, "rb") as f:
        data = f.read()
    table, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    section = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    for name, _, _, _, offset, length in section:
        text = data[section[names][4] + name:].split(b"\0", 1)[0].decode()
        if text.startswith(".text."):
            yield text[6:], data[offset:offset + length]


# ---- what the compiler says ----

def generic_accesses(ptx):
    """Kernel -> accesses that name no address space."""
    found, kernel = {}, None
    for line in ptx.split("\n"):
        entry = re.search(r"\.(?:entry|func)\b(?:\s*\([^)]*\))?\s+([\w$]+)", line)
        if entry:
            kernel = entry.group(1)
            found[kernel] = 0
        op = re.match(r"\s*(?:\{\s*)?(?:@!?%\w+\s+)?((?:ld|st|atom|red)\.[\w.:]+)", line)
        if op and kernel and not re.search(r"\.(global|shared|local|param|const)\b", op.group(1)):
            found[kernel] += 1
    return found


def resources(text):
    """(kernel, architecture) -> registers, bytes of spill stores and loads."""
    pattern = (r"Compiling entry function '(\S+)' for '(\w+)'\n.*\n\s*\d+ bytes stack frame, "
               r"(\d+) bytes spill stores, (\d+) bytes spill loads\n.*Used (\d+) registers")
    return {(name, arch): {"registers": int(used), "spill_stores": int(stores), "spill_loads": int(loads)}
            for name, arch, stores, loads, used in re.findall(pattern, text)}


def plain(names):
    """Names as the sources have them, without parameters and blanks."""
    out = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    short = []
    for name in out.split("\n"):
        name = re.sub(r"\((bool|int|unsigned int)\)|^void |\(anonymous namespace\)::", "", name)
        depth = [i for i, c in enumerate(name) if c == "(" and name[:i].count("<") == name[:i].count(">")]
        short.append(re.sub(r"\s", "", name[:depth[0]] if depth else name))
    return dict(zip(names, short))


def read_kernels(folder, archs):
    """The lines of sections `kernel` and `loop`, and faults."""
    rows, faults = {}, []
    with open(os.path.join(folder, "ptxas.txt")) as f:
        used = resources(f.read())
    for path in sorted(glob.glob(os.path.join(folder, "*.cubin"))):
        stem, arch = re.match(r"(\w+)\..*?(?:compute|sm)_(\d+)(?:\.sm_\2)?\.cubin$", os.path.basename(path)).groups()
        if "sm_" + arch not in archs or stem.startswith("test_"):
            continue
        assembly = os.path.join(folder, "%s.compute_%s.ptx" % (stem, arch))
        if not os.path.exists(assembly):  # where nvcc compiles for one architecture, it leaves the number out
            assembly = os.path.join(folder, stem + ".ptx")
        with open(assembly) as f:
            ptx = f.read()
        if "ld.global.nc" in ptx:
            faults.append("%s: ld.global.nc reads memory as if nobody wrote it" % stem)
        generic, sections = generic_accesses(ptx), list(code_sections(path))
        name_of = plain([name for name, _ in sections])
        for name, code in sections:
            if not name_of[name].startswith("k_"):
                continue
            kernel, loops = figures_of_code("sm_" + arch, code)
            key = "sm_%s %s:%s" % (arch, stem, name_of[name])
            if (name, "sm_" + arch) not in used:
                faults.append("%s: ptxas said nothing of it" % key)
                continue
            rows["kernel " + key] = {**used[name, "sm_" + arch], "generic": generic.get(name, 0), **kernel}
            for i, loop in enumerate(loops):
                rows["loop %s#%d" % (key, i + 1)] = loop
    if not rows:
        faults.append("there are no kernels in %s" % folder)
    return rows, faults


def compiler():
    text = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"V([\d.]+)", text).group(1)


# ---- the table ----

def parse(text):
    rows = {}
    for line in text.split("\n"):
        words = line.split()
        if words and not line.startswith("#"):
            key = " ".join(w for w in words if not re.search(r"^\w+=", w))
            rows[key] = {k: float(v) if "." in v else int(v) for k, v in
                         (w.split("=") for w in words if re.search(r"^\w+=", w))}
    return rows


def as_text(rows):
    return HEAD + "".join("%s %s\n" % (key, " ".join("%s=%s" % f for f in figures.items()))
                          for key, figures in sorted(rows.items()))


def worse(figure, found, bound):
    if figure == "reds":
        return bound > 0 and found == 0
    if figure == "instructions":  # of whole kernels they say little: loops have their own
        return found > bound * 1.02 + 16
    if figure.startswith("sectors"):  # the cache's sets change with the number of allocations before
        return found > bound * 1.03 + 64
    return found > bound


def better(figure, found, bound):
    if figure in ("reds", "fp64", "instructions"):
        return False
    return found < bound * 0.97 - 64 if figure.startswith("sectors") else found < bound


def compare(found, table):
    """Faults and hints."""
    faults, hints = [], []
    for key in sorted(set(found) | set(table)):
        if key not in table:
            faults.append("%s is not in the table" % key)
        elif key not in found:
            faults.append("%s is in the table alone" % key)
        else:
            for figure in sorted(set(found[key]) | set(table[key])):
                x, bound = found[key].get(figure), table[key].get(figure)
                if x is None or bound is None:
                    faults.append("%s: %s is missing on one side" % (key, figure))
                elif worse(figure, x, bound):
                    faults.append("%s: %s is %s, at most %s before" % (key, figure, x, bound))
                elif better(figure, x, bound):
                    hints.append("%s: %s is %s, the table allows %s" % (key, figure, x, bound))
    return faults, hints


def judge(found, faults, sections, write, archs=ARCHS):
    with open(TABLE) as f:
        table = parse(f.read())
    others = {k: v for k, v in table.items() if k.split()[0] not in sections or k.split()[1] in set(ARCHS) - set(archs)}
    if write:
        with open(TABLE, "w") as f:
            f.write(as_text({**others, **found}))
        print("%d lines written" % len(found))
    else:
        ours = {k: v for k, v in table.items() if k not in others}
        more, hints = compare(found, ours)
        faults = faults + more
        for hint in hints:
            print("better: " + hint)
        if hints:
            print("tighten the table: " + COMMAND)
    for fault in faults:
        print("counts: " + fault)
    if faults:
        print("%d faults. If the change is meant: %s" % (len(faults), COMMAND))
        print("and the reason into the commit's message")
    return 1 if faults else 0


def check_kernels(folder, write, archs=ARCHS):
    found, faults = read_kernels(folder, archs)
    found["compiler nvcc"] = {"version_" + compiler().replace(".", "_"): 1}
    with open(TABLE) as f:
        known = parse(f.read()).get("compiler nvcc", {})
    if not write and known != found["compiler nvcc"]:
        print("the table is of another nvcc: registers, spills and machine code are not compared")
        for fault in faults:
            print("counts: " + fault)
        return 1 if faults else 0
    print("%d kernels and loops" % (len(found) - 1))
    return judge(found, faults, ("compiler", "kernel", "loop"), write, archs)


def check_runs(path, write):
    with open(path) as f:
        found = parse(f.read())
    print("%d figures of trainings" % sum(len(v) for v in found.values()))
    return judge(found, [] if found else ["there is nothing in " + path], ("run", "graph", "round"), write)


# ---- self-check ----

def instruction(operation, to=0):
    sign = (1 << 18) - 1 if to < 0 else 0
    return struct.pack("<QQ", operation | (to & (1 << 32) - 1) << 32, sign)


def self_check():
    ptx = (".visible .entry k_a(\n ld.param.u64 %rd1, [p];\n ld.global.u32 %r1, [%rd1];\n"
           " @%p1 st.volatile.shared.u32 [%r2], %r1;\n red.global.add.u64 [%rd1], %rd2;\n}\n")
    assert generic_accesses(ptx) == {"k_a": 0}
    for planted in ("ld.u32 %r1, [%rd1];", "@%p2 st.v2.u32 [%rd1], {%r1, %r2};", "atom.add.u64 %rd3, [%rd1], %rd2;",
                    "red.relaxed.gpu.add.u64 [%rd1], %rd2;"):
        assert generic_accesses(ptx.replace("}\n", " " + planted + "\n}\n")) == {"k_a": 1}, planted
    said = ("ptxas info    : Compiling entry function 'k_a' for 'sm_90'\n"
            "ptxas info    : Function properties for k_a\n"
            "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
            "ptxas info    : Used 64 registers, x\n")
    assert resources(said) == {("k_a", "sm_90"): {"registers": 64, "spill_stores": 4, "spill_loads": 12}}
    # LDG, (SHFL, 4 x ATOMS, back to SHFL), RED, NOP
    code = b"".join(instruction(x) for x in (0x981, 0xf89, 0x38c, 0x98d, 0xf8c, 0x38c)) + instruction(0x947, -96) + \
        instruction(0x98e) + instruction(0x918)
    kernel, loops = figures_of_code("sm_80", code)
    assert kernel == {"instructions": 8, "reds": 1, "atomics": 0, "fp64": 0}, kernel
    assert [x["shared_adds"] for x in loops] == [4] and loops[0]["shuffles"] == 1, loops
    table = {"kernel sm_90 a:k_a": {"registers": 64, "reds": 1, "instructions": 100}}

    def faults_with(key="kernel sm_90 a:k_a", **changes):
        return len(compare({key: {**table["kernel sm_90 a:k_a"], **changes}}, table)[0])
    assert faults_with() == 0 and faults_with(registers=63) == 0 and faults_with(reds=5) == 0
    assert faults_with(instructions=118) == 0 and faults_with(instructions=119) == 1
    assert faults_with(registers=65) == 1 and faults_with(reds=0) == 1 and faults_with(new=1) == 1
    assert faults_with(key="kernel sm_90 a:k_b") == 2 and len(compare({}, table)[0]) == 1
    assert len(compare({"kernel sm_90 a:k_a": {**table["kernel sm_90 a:k_a"], "registers": 60}}, table)[1]) == 1
    assert parse(as_text(table)) == table
    run = {"run a:k_a": {"launches": 8, "sectors_read": 1000}}
    for figure, most in (("launches", 8), ("sectors_read", 1094)):
        assert compare({"run a:k_a": {**run["run a:k_a"], figure: most}}, run) == ([], []), figure
        assert len(compare({"run a:k_a": {**run["run a:k_a"], figure: most + 1}}, run)[0]) == 1, figure
    print("counts: the self-check found what was planted")
    return 0


def main(words):
    write = "--write" in words
    words = [w for w in words if w != "--write"]
    if words == ["--self-check"]:
        return self_check()
    if len(words) == 2 and words[0] == "kernels":
        return check_kernels(words[1], write)
    if len(words) == 3 and words[0] == "kernels" and words[2] in ARCHS and not write:
        return check_kernels(words[1], write, words[2:])
    if len(words) == 2 and words[0] == "runs":
        return check_runs(words[1], write)
    print(__doc__.split("\n\n")[1])
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

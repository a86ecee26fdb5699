"""Loops compute, bit by bit, what the system's compiler makes of their text: with all passes, without any, and with
those that are usually left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.modulo_schedule.compiled_loop import compiled, function_text, recorded, run_compiled
from mapper.workloads.c.reading import AS_PUBLISHED, AS_WRITTEN, SourceReading
from mapper.workloads.graph.kernel_execution import execute
from mapper.workloads.reference.kernel import seeded_memory

HEAD = (
    "#define N 24\nenum { LEFT = 3 };\ntypedef unsigned char byte;\nint total; extern int elsewhere(int);\n"
)
ARRAYS = "int a[64], int b[64], float x[64], double d[64], float m[24][24], byte c[64], long long w[64]"
LOOPS = {
    "a sum in memory": "for (i = 0; i < n; i++) x[3] = x[3] + m[2][i] * x[i + 8];",
    "a word of a row": "for (j = 0; j < i; j++) m[i][j] -= m[i][5] * m[j][i];",
    "a triangle": "for (i = 0; i < N; i++) "
    "for (j = 0; j < i; j++) for (k = 0; k < j; k++) m[i][j] -= m[i][k] * m[k][j];",
    "a store that is read two iterations on": "for (i = 0; i < n; i++) a[i + 2] = a[i] + b[i] * 3;",
    "a stencil in place": "for (i = 1; i < n; i++) x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0f;",
    "a window": "for (i = 0; i < n; i++) a[i] = b[i] + 2 * b[i + 1] + b[i + 2];",
    "stores of both sides": "for (i = 0; i < n; i++) { if (a[i] > b[i]) { w[i] = 1; if (b[i] < 0) w[i] = 2; } else "
    "{ w[i] = a[i]; if (w[i] > 10) w[i] = 10; else w[i] = a[i] - b[i]; } }",
    "a maximum in memory": "for (i = 0; i < n; i++) if (a[i] > b[7]) b[7] = a[i];",
    "a sum that starts in memory": "int s = a[5]; for (i = 0; i < n; i++) { s += b[i] * a[9]; a[i] = s; }",
    "bytes": "for (i = 0; i < n; i++) { byte t = c[i] * 7 + 200; c[i] = t >> 1; a[i] = (signed char)t; }",
    "wide integers": "for (i = 0; i < n; i++) w[i] = (w[i] * 1000003LL + a[i]) % 12345 + (unsigned)a[i] / 7u;",
    "doubles": "for (i = 0; i < n; i++) d[i] = d[i] * 0.1 + x[i] / 3.0;",
    "double constants on floats": "for (i = 0; i < n; i++) x[i] = 0.5 * x[i] + 0.3;",
    "a pointer that steps": "int *p = a + 4; for (i = 0; i < n; i++) { *p++ = b[i]; }",
    "an index that steps": "j = 2; for (i = 0; i < n; i++) { a[j++] = b[i]; if (b[i] > 0) j++; }",
    "a search": "for (i = 0; i < N; i++) { if (a[i] > 4000) break; b[i] = a[i] + 1; } total = i;",
    "a continue": "for (i = 0; i < N; i++) { if (a[i] < 0) continue; b[i] = a[i]; total += a[i]; }",
    "a while": "k = 12345; while (k > 0) { total += k % 10; k /= 10; }",
    "a do": "k = 999; do { k = k / 3; a[0] += k; } while (k > LEFT);",
    "a pointer that is set in every iteration": "int *p, *q; p = a; for (i = 0; i < 9; i++) { q = b + 2 * i; "
    "*p++ = *q++; *p += *q; }",
    "a place that steps a pointer": "int *p = b; for (i = 0; i < n; i++) { a[*p++ & 63]++; w[7 & *p++] += i; }",
    "calls to void": "for (i = 0; i < n; i++) { (void)clip(a[i], 3); (void)(b[i]++ + 2); (void)n; }",
    "a while that counts": "k = 9; while (k--) b[k] = a[k] + k; total = k;",
    "a do that counts": "k = 9; do { b[k] = a[k] + k; } while (--k); total = k;",
    "two counters": "for (i = 0, j = 20; i < j; i++, j--) { int t = a[i]; a[i] = a[j]; a[j] = t; }",
    "a call": "for (i = 0; i < n; i++) a[i] = clip(b[i], 100) + (a[i] > 0 ? a[i] : -a[i]);",
    "a shadow": "k = 3; for (i = 0; i < n; i++) { int k = a[i]; b[i] = k; } a[0] = k;",
    "after the unknown": "k = elsewhere(n); for (i = 0; i < n; i++) a[i] = k + b[i];",
    "conversions": "for (i = 0; i < n; i++) { a[i] = (int)(x[i] * 900.0f); d[i] = a[i]; x[i] = (float)w[i]; }",
    "unsigned order": "for (i = 0; i < n; i++) b[i] = (unsigned)a[i] > 5u && (unsigned)a[i] / 3 < 99u + i;",
    "a switch": "for (i = 0; i < n; i++) { switch (a[i] & 7) { case 0: b[i] = 1; break; case 2: b[i] = 5; case 3: "
    "total += i; break; default: b[i] = a[i]; case 6: if (a[i] > 50) break; b[i + 1] = 3; } a[i] += b[i]; }",
    "a switch that is left by continue": "for (i = 0; i < n; i++) { switch (c[i] % 3) { default: k = 4; break; "
    "case 1: continue; case 2: k = c[i]; { if (k > 7) continue; } } b[i] = k; }",
    "a break behind a switch": "for (i = 0; i < N; i++) { switch (a[i] & 1) { case 1: total += 2; break; } "
    "if (a[i] > 3500) break; b[i] = total; }",
    "switches in switches and calls": "for (i = 0; i < n; i++) { switch (a[i] & 3) { case 1: switch (b[i] & 1) { "
    "case 0: total += 1; break; default: total += 7; } case 2: total += kind(a[i]); break; } b[i] = total; }",
    "copies": "for (i = 0; i < n; i++) { memcpy(&a[4 * i], b + i, 4 * sizeof(int)); memset(c + 2 * i, a[i], 2); "
    "__builtin_memset((void *)(b + i), 0x41, 8); memmove(a + 1, (char *)a, 12); }",
    "absolute values": "for (i = 0; i < n; i++) { x[i] = fabsf(x[i]) + sqrtf(fabsf(x[i])); a[i] = abs(b[i]); }",
}
CALLEE = "static int kind(int v) { switch (v & 12) { case 4: return 1; case 8: v += 3; break; } return v; }\n"
CALLEE += "static int clip(int v, int most) { if (v > most) return most; return v < -most ? -most : v; }\n"
READINGS = {
    "usual": AS_WRITTEN,
    "no pass": replace(AS_PUBLISHED, without=(*AS_PUBLISHED.without, "addresses")),
    "all passes": SourceReading(added=("sharing",)),
}


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
def test_loops_compute_what_the_compiler_makes_of_them(reading: SourceReading, tmp_path: Path) -> None:
    names = [name for name in LOOPS if reading is not READINGS["no pass"] or name not in NEEDS_ENTRY]
    found = []
    for name in names:
        text = f"{HEAD}{CALLEE}void f(int n, {ARRAYS}) {{ int i = 6, j, k; {LOOPS[name]} }}"
        found.append(recorded(text, "loop.c", "f", 0, reading))
    library = compiled([function_text(loop, f"k{at}") for at, (loop, _) in enumerate(found)], tmp_path)
    for at, (name, (loop, kernel)) in enumerate(zip(names, found, strict=True)):
        trips = kernel.trip_count or kernel.assumed_trips
        assert trips, name
        for seed in (0, 1):
            memory = seeded_memory(kernel, seed)
            wanted = run_compiled(library, f"k{at}", loop, memory)
            for array, words in execute(replace(kernel, trip_count=trips), memory).items():
                assert words.tobytes() == wanted[array].tobytes(), f"{name}: {array}"


NEEDS_ENTRY = {"a sum that starts in memory"}
"""Without the pass the start would be read again in the loop, which writes it: refused."""

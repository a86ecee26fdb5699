"""Words that mean something in the texts that are read, and some that mean trouble."""

from __future__ import annotations

C = ("int", "unsigned", "float", "for (int q = 0; q < 9; q++)", "if (a[0])", "else", "{", "}", "(", ")", "[", "]", ";",
     ",", "=", "+=", "<<=", "++", "--", "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "~", "!", "&&", "||", "?",
     ":", "<", ">=", "==", "!=", "fmaxf", "sizeof(int)", "(float)", "(int)", "const", "static", "struct s", "goto l",
     "while (1)", "return", "break", "a", "b", "i", "i + 1", "a[i]", "x[0]", "N", "#define M 5\n", "#include <a>\n",
     "1u", "0x1F", "'a'", "1e30f", '"s"', "\\\n", "void f(int a[])", "int a[5][6]", "*a", "typedef int t;", "08", "0b1",
     "1.5e", "0x1p3f", "L'a'", "restrict", "void", "extern",  "long long", "double", "_Bool", "...",
     "<< 2147483647", "+ 1" * 300, "[2]" * 100, "()" * 100, "\r", "\r\n")  # fmt: skip
GROWING_C = tuple(
    f"int grown = {first}; " + step * count
    for first, step, count in (
        ("65537", "grown = grown * grown; ", 26),
        ("8 * n", "grown = grown * grown; ", 26),
        ("1", "grown = grown << 30; ", 900),
        ("3", "grown = grown * grown + grown; ", 26),
        ("7", "grown = grown + grown; ", 5000),
        ("1", "grown = grown << grown; ", 40),
    )
)
"""Statements whose values would grow without end if they did not wrap."""
DOT = ("digraph", "graph", "subgraph", "node", "edge", "strict", "{", "}", "[", "]", "->", "--", "=", ";", ",", ":",
       "opcode", "operand", "distance", "latency", "label", "add", "load", "select", "LHS", "RHS", "-1", "4097",
       "a", "b", '"q"', "<b>", "/*", "//", "#", '"')  # fmt: skip
EDGES = ("0", "1", "2", "7", "999999999", "1000000000", "-1", "1.5", "a", "b", "#", ",", ";", " ", "\n", "\t", "²", "٣",
         "1025", "4097", "\r", "\x0c", "\u2028")  # fmt: skip
GRAPHML = ("<node id='a'/>", "<edge source='a' target='b'/>", "<graph>", "</graph>", "<key id='d9'/>", "&e;", "&#0;",
           "<data key='d0'>", "</data>", "<![CDATA[x]]>", "<!-- -->", "<!DOCTYPE x>", "<!ENTITY e 'x'>", "&lt;",
           "edgedefault", "undirected", "directed", "attr.type", "int", "string", "boolean", "double", "id", "source",
           "<hyperedge/>", "<port name='p'/>", "xmlns:y='z'", "yed.node", "<?pi?>", "long", "for", "edge")  # fmt: skip
PBQP = ("0", "1", "2", "3", "inf", "-inf", "nan", "1e5", "0.5", "-7", "1e400", "9223372036854775807", str(1 << 61),
        str(1 << 58), "1000000000", "\n", " ", "+1", "1.", "e", "0x1", "1_0")  # fmt: skip
HIERARCHY = ("-1", "0", "0.5", "1e400", ".inf", "inf", ".nan", "null", "~", "[]", "{}", "[1]", "{a: 1}", "PE[0..3]",
             "PE[3..0]", "PE[0..999999999999]", "8*(1<<9)", "2**99", "1/0", "64*1024", "!Component", "!Container",
             "!Parallel", "!Fork", "!Nothing", "!Memory", "!Compute", "mac", "DRAM", "dummy_storage", "W", "I1",
             "O, tl", "D1", "D9", "input | weight", "~Main", "~", "All", "Nothing", "bits_per_value", "keep", "bypass",
             "\n", "\n  ", ": ", "- ", "schema: x\n", "arch:\n", "memories:\n", "operational_array:\n",
             "architecture:\n", "{{ x }}", "&a", "*a", "9223372036854775808", "1" * 400, "a" * 300)  # fmt: skip
MLIR = (
    "%0", "%1", "%3", "%5", "%arg0", '"neura.load"', "neura.reserve", "neura.ctrl_mov",
    '"neura.data_mov"', "->", "({", "neura.phi_start", "neura.yield", "func.func @g()", "^bb1:",
    "// MAPPING-NEXT:", "// RUN:", "mapping_locs", "{", "}", 'resource = "tile"',
    "time_step = 4 : i32", "x = 1 : i32", "y = 99999999999", "lhs_value = 0", "=", "(", ")", "\n",
)  # fmt: skip
MORPHER = (
    '<Node idx="0">', "</Node>", '<Output idx="1" nextiter="1" type="I1"/>', 'type="PS"', 'type="P"',
    'idx="2"', "<OP>", '<RecParent idx="1"/>', "<!DOCTYPE x>", "<!ENTITY e 'x'>", "&e;",
    "<OP>LOAD</OP>", "STOREB", "CMERGE", "<", ">", '"', 'nextiter="4097"', "<DFG>", "<!-- -->",
    "<![CDATA[x]]>",
)  # fmt: skip
LLVM = (
    "%i", "%x", "%p", "i1", "i8", "i64", "i128", "float", "double", "ptr", "<4 x i32>", "{ i32, i64 }",
    "null", "undef", "poison", "phi", "load", "store", "add", "udiv", "shl", "fcmp", "select i1",
    "call float @llvm.fabs.f32(float %x)", "getelementptr", "label %loop", "label %out", "br",
    "ret void", "entry:", "0", "-1", "2.0", "4294967296", "0x7FF0000000000000", "zext", "fptosi", "to",
    ",", "\n", "declare void @g()", "!0", "volatile", "switch i32 %i, label %out [ ]",
)  # fmt: skip

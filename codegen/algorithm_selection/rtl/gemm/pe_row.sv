// A row of PEs (Section 3.2). Tokens and left operands enter at column 0 and travel right; top operands and results
// come from the row above, a word a column side by side. Tokens are {first, latch, shift, load, swap}.
module pe_row #(
    parameter int P2 = 4,
    parameter int OPERAND = 16,
    parameter int SUM = 32
) (
    input logic clk,
    input logic stationary,
    input logic [4:0] token,
    input logic [OPERAND-1:0] left,
    input logic [P2*OPERAND-1:0] top,
    input logic [P2*SUM-1:0] above,
    output logic [P2*OPERAND-1:0] bottom,
    output logic [P2*SUM-1:0] below
);
  /* verilator no_inline_module */
  logic [(P2+1)*OPERAND-1:0] across;
  logic [(P2+1)*5-1:0] tokens;
  assign across[OPERAND-1:0] = left;
  assign tokens[4:0] = token;
  for (genvar s = 0; s < P2; s++) begin : gen_column
    pe #(
        .OPERAND(OPERAND),
        .SUM(SUM)
    ) element (
        .clk,
        .stationary,
        .left(across[s*OPERAND+:OPERAND]),
        .top(top[s*OPERAND+:OPERAND]),
        .above(above[s*SUM+:SUM]),
        .first(tokens[s*5+4]),
        .latch(tokens[s*5+3]),
        .shift(tokens[s*5+2]),
        .load(tokens[s*5+1]),
        .swap(tokens[s*5]),
        .right(across[(s+1)*OPERAND+:OPERAND]),
        .bottom(bottom[s*OPERAND+:OPERAND]),
        .below(below[s*SUM+:SUM]),
        .first_right(tokens[(s+1)*5+4]),
        .latch_right(tokens[(s+1)*5+3]),
        .shift_right(tokens[(s+1)*5+2]),
        .load_right(tokens[(s+1)*5+1]),
        .swap_right(tokens[(s+1)*5])
    );
  end
  logic unused;
  assign unused = ^{across[P2*OPERAND+:OPERAND], tokens[P2*5+:5]};
endmodule

// P1 x P2 array (Section 3.2) with the registers that skew its operands and align its results.
//
// Row r takes its left operand r cycles late, column s its top operand s cycles late; results leave aligned,
// P1 + P2 - 1 cycles after the beat of theirs that came last. Tokens come with the beat of row 0, column 0.
// Operands and results are words side by side, row or column 0 lowest.
module systolic_array #(
    parameter int P1 = 4,
    parameter int P2 = 4,
    parameter int OPERAND = 16,
    parameter int SUM = 32
) (
    input logic clk,
    input logic reset,
    input logic stationary,
    input logic first,
    input logic last,
    input logic preload,
    input logic swap,
    input logic [P1*OPERAND-1:0] left,
    input logic [P2*OPERAND-1:0] top,
    output logic [P2*SUM-1:0] result
);
  logic [P1:0] first_past, swap_past, preload_past;
  logic [2*P1:0] last_past;
  delay_line #(.LENGTH(P1)) first_line (.clk, .reset, .token(first), .past(first_past));
  delay_line #(.LENGTH(P1)) swap_line (.clk, .reset, .token(swap), .past(swap_past));
  delay_line #(.LENGTH(P1)) preload_line (.clk, .reset, .token(preload), .past(preload_past));
  delay_line #(.LENGTH(2 * P1)) last_line (.clk, .reset, .token(last), .past(last_past));

  // What goes down from row to row: top operands, and results.
  logic [(P1+1)*P2*OPERAND-1:0] down;
  logic [(P1+1)*P2*SUM-1:0] sums;
  assign sums[P2*SUM-1:0] = '0;

  for (genvar r = 0; r < P1; r++) begin : gen_row
    logic [4:0] token;
    logic [OPERAND-1:0] skewed;
    // Row r loads in the beats r..P1-1 of a preload and shifts r results, which is what lies above it; so
    // neither overtakes the swap or the latch of the pass that follows.
    assign token[4] = first_past[r];
    assign token[3] = last_past[r];
    if (r == 0) begin : gen_top
      assign token[2] = 1'b0;
    end else begin : gen_below
      assign token[2] = |last_past[P1+r-1:P1];
    end
    assign token[1] = |preload_past[P1-1:r];
    assign token[0] = swap_past[r];
    skew #(.LENGTH(r), .WIDTH(OPERAND)) row_skew (
        .clk, .word(left[r*OPERAND+:OPERAND]), .later(skewed)
    );
    pe_row #(
        .P2(P2),
        .OPERAND(OPERAND),
        .SUM(SUM)
    ) row (
        .clk,
        .stationary,
        .token,
        .left(skewed),
        .top(down[r*P2*OPERAND+:P2*OPERAND]),
        .above(sums[r*P2*SUM+:P2*SUM]),
        .bottom(down[(r+1)*P2*OPERAND+:P2*OPERAND]),
        .below(sums[(r+1)*P2*SUM+:P2*SUM])
    );
  end

  for (genvar s = 0; s < P2; s++) begin : gen_edge
    skew #(.LENGTH(s), .WIDTH(OPERAND)) column_skew (
        .clk, .word(top[s*OPERAND+:OPERAND]), .later(down[s*OPERAND+:OPERAND])
    );
    skew #(.LENGTH(P2 - 1 - s), .WIDTH(SUM)) aligned (
        .clk, .word(sums[(P1*P2+s)*SUM+:SUM]), .later(result[s*SUM+:SUM])
    );
  end
  logic unused;
  assign unused = ^{first_past[P1], swap_past[P1], preload_past[P1], last_past[2*P1:2*P1-1],
                    down[P1*P2*OPERAND+:P2*OPERAND]};
endmodule

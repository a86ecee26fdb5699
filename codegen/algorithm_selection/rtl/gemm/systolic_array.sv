// P1 x P2 array (Section 3.2) with the registers that skew its operands and align its results.
//
// Row r takes its left operand r cycles late, column s its top operand s cycles late; results leave aligned,
// P1 + P2 - 1 cycles after the beat of theirs that came last. Tokens come with the beat of row 0, column 0.
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
    input logic [P1-1:0][OPERAND-1:0] left,
    input logic [P2-1:0][OPERAND-1:0] top,
    output logic [P2-1:0][SUM-1:0] result
);
  logic [P1:0] first_past, swap_past, preload_past;
  logic [2*P1:0] last_past;
  delay_line #(.LENGTH(P1)) first_line (.clk, .reset, .token(first), .past(first_past));
  delay_line #(.LENGTH(P1)) swap_line (.clk, .reset, .token(swap), .past(swap_past));
  delay_line #(.LENGTH(P1)) preload_line (.clk, .reset, .token(preload), .past(preload_past));
  delay_line #(.LENGTH(2 * P1)) last_line (.clk, .reset, .token(last), .past(last_past));

  logic signed [OPERAND-1:0] across[P1][P2+1];
  logic signed [OPERAND-1:0] down[P1+1][P2];
  logic signed [SUM-1:0] sums[P1+1][P2];
  logic [4:0] tokens[P1][P2+1];

  for (genvar r = 0; r < P1; r++) begin : gen_row
    logic load_row, shift_row;
    // Row r loads in the beats r..P1-1 of a preload and shifts r results, which is what lies above it; so
    // neither overtakes the swap or the latch of the pass that follows.
    always_comb begin
      load_row = 1'b0;
      for (int q = r; q < P1; q++) load_row |= preload_past[q];
      shift_row = 1'b0;
      for (int q = 0; q < r; q++) shift_row |= last_past[P1+q];
    end
    assign tokens[r][0] = {first_past[r], last_past[r], shift_row, load_row, swap_past[r]};
    skew #(.LENGTH(r), .WIDTH(OPERAND)) row_skew (.clk, .word(left[r]), .later(across[r][0]));
    for (genvar s = 0; s < P2; s++) begin : gen_column
      pe #(
          .OPERAND(OPERAND),
          .SUM(SUM)
      ) element (
          .clk,
          .stationary,
          .left(across[r][s]),
          .top(down[r][s]),
          .above(sums[r][s]),
          .first(tokens[r][s][4]),
          .latch(tokens[r][s][3]),
          .shift(tokens[r][s][2]),
          .load(tokens[r][s][1]),
          .swap(tokens[r][s][0]),
          .right(across[r][s+1]),
          .bottom(down[r+1][s]),
          .below(sums[r+1][s]),
          .first_right(tokens[r][s+1][4]),
          .latch_right(tokens[r][s+1][3]),
          .shift_right(tokens[r][s+1][2]),
          .load_right(tokens[r][s+1][1]),
          .swap_right(tokens[r][s+1][0])
      );
    end
    logic unused_edge;
    assign unused_edge = ^{across[r][P2], tokens[r][P2]};
  end

  for (genvar s = 0; s < P2; s++) begin : gen_edge
    skew #(.LENGTH(s), .WIDTH(OPERAND)) column_skew (.clk, .word(top[s]), .later(down[0][s]));
    assign sums[0][s] = '0;
    skew #(.LENGTH(P2 - 1 - s), .WIDTH(SUM)) aligned (.clk, .word(sums[P1][s]), .later(result[s]));
    logic unused_bottom;
    assign unused_bottom = ^down[P1][s];
  end
  logic unused_past;
  assign unused_past = ^{first_past[P1], swap_past[P1], preload_past[P1], last_past[2*P1:2*P1-1]};
endmodule

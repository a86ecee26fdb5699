// P1 x P2 array (Section 3.2) with the registers that skew its operands and align its results.
//
// Row r takes its left operand r cycles late, column s its top operand s cycles late; results leave aligned,
// P1 + P2 - 1 cycles after the beat of theirs that came last. Tokens come with the beat of row 0, column 0.
// Operands and results are words side by side, row or column 0 lowest.
//
// A stationary block comes in over several wires a column: rows are cut into segments of SEGMENT rows (the last may be
// shorter), each with an entry of its own, all of which have a beat at once. In NS only the first entry is used.
module systolic_array #(
    parameter int P1 = 4,
    parameter int P2 = 4,
    parameter int SEGMENT = P1,
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
    input logic [(P1+SEGMENT-1)/SEGMENT*P2*OPERAND-1:0] top,
    output logic [P2*SUM-1:0] result
);
  localparam int ENTRIES = (P1 + SEGMENT - 1) / SEGMENT;
  logic [P1:0] first_past, swap_past;
  logic [ENTRIES*SEGMENT:0] preload_past;
  logic [2*P1:0] last_past;
  delay_line #(.LENGTH(P1)) first_line (.clk, .reset, .token(first), .past(first_past));
  delay_line #(.LENGTH(P1)) swap_line (.clk, .reset, .token(swap), .past(swap_past));
  delay_line #(.LENGTH(ENTRIES * SEGMENT)) preload_line (.clk, .reset, .token(preload), .past(preload_past));
  delay_line #(.LENGTH(2 * P1)) last_line (.clk, .reset, .token(last), .past(last_past));

  // What goes down from row to row: top operands, and results; and what enters at each segment.
  logic [(P1+1)*P2*OPERAND-1:0] down;
  logic [ENTRIES*P2*OPERAND-1:0] entering;
  logic [(P1+1)*P2*SUM-1:0] sums;
  assign sums[P2*SUM-1:0] = '0;

  for (genvar r = 0; r < P1; r++) begin : gen_row
    logic [4:0] token;
    logic [OPERAND-1:0] skewed;
    logic [P2*OPERAND-1:0] over;
    localparam int ENTRY = r / SEGMENT;
    // Row q of a segment loads in the last SEGMENT - q beats of a preload, which come as late as its first row is deep;
    // row r shifts r results, which is what lies above it; so neither overtakes the swap or the latch of the pass that
    // follows.
    assign token[4] = first_past[r];
    assign token[3] = last_past[r];
    if (r == 0) begin : gen_top
      assign token[2] = 1'b0;
    end else begin : gen_below
      assign token[2] = |last_past[P1+r-1:P1];
    end
    assign token[1] = |preload_past[(ENTRY+1)*SEGMENT-1:r];
    assign token[0] = swap_past[r];
    skew #(.LENGTH(r), .WIDTH(OPERAND)) row_skew (
        .clk, .word(left[r*OPERAND+:OPERAND]), .later(skewed)
    );
    if (r == 0) begin : gen_entry
      assign over = entering[P2*OPERAND-1:0];
    end else if (r % SEGMENT == 0) begin : gen_entries
      assign over = stationary ? entering[ENTRY*P2*OPERAND+:P2*OPERAND] : down[r*P2*OPERAND+:P2*OPERAND];
    end else begin : gen_inside
      assign over = down[r*P2*OPERAND+:P2*OPERAND];
    end
    pe_row #(
        .P2(P2),
        .OPERAND(OPERAND),
        .SUM(SUM)
    ) row (
        .clk,
        .stationary,
        .token,
        .left(skewed),
        .top(over),
        .above(sums[r*P2*SUM+:P2*SUM]),
        .bottom(down[(r+1)*P2*OPERAND+:P2*OPERAND]),
        .below(sums[(r+1)*P2*SUM+:P2*SUM])
    );
  end

  for (genvar s = 0; s < P2; s++) begin : gen_edge
    for (genvar g = 0; g < ENTRIES; g++) begin : gen_skew
      skew #(.LENGTH(g * SEGMENT + s), .WIDTH(OPERAND)) column_skew (
          .clk, .word(top[(g*P2+s)*OPERAND+:OPERAND]), .later(entering[(g*P2+s)*OPERAND+:OPERAND])
      );
    end
    skew #(.LENGTH(P2 - 1 - s), .WIDTH(SUM)) aligned (
        .clk, .word(sums[(P1*P2+s)*SUM+:SUM]), .later(result[s*SUM+:SUM])
    );
  end
  assign down[P2*OPERAND-1:0] = '0;
  logic unused;
  assign unused = ^{first_past[P1], swap_past[P1], preload_past[ENTRIES*SEGMENT], last_past[2*P1:2*P1-1], down};
endmodule

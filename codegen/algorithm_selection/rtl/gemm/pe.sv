// Processing element whose dataflow is switched at run time (Fig. 3).
//
// Non-stationary (stationary = 0): both operands pass through and the sum stays. `first` starts a sum,
// `latch` puts the finished sum into the result chain, `shift` takes the result of the PE above; so the
// results of one pass leave while the next pass computes.
// Stationary (weights or inputs): `load` shifts the next block down the chain of shadow registers while the
// current pass computes (ping-pong), `swap` makes it the active one, and partial sums move down.
//
// All tokens travel right beside the left operand, one column a cycle.
module pe #(
    parameter int OPERAND = 16,
    parameter int SUM = 32
) (
    input logic clk,
    input logic stationary,
    input logic signed [OPERAND-1:0] left,
    input logic signed [OPERAND-1:0] top,
    input logic signed [SUM-1:0] above,
    input logic first,
    input logic latch,
    input logic shift,
    input logic load,
    input logic swap,
    output logic signed [OPERAND-1:0] right,
    output logic signed [OPERAND-1:0] bottom,
    output logic signed [SUM-1:0] below,
    output logic first_right,
    output logic latch_right,
    output logic shift_right,
    output logic load_right,
    output logic swap_right
);
  logic signed [OPERAND-1:0] active, held, factor;
  logic signed [2*OPERAND-1:0] product;
  logic signed [SUM-1:0] sum, added, total;

  // The first beat after a swap already needs the new block, so the shadow register is looked through.
  assign held = swap ? bottom : active;
  assign factor = stationary ? held : top;
  assign product = left * factor;
  // One adder, the DSP slice's own, in all dataflows.
  assign added = stationary ? above : (first ? '0 : sum);
  assign total = added + SUM'(product);

  always_ff @(posedge clk) begin
    right <= left;
    if (load || !stationary) bottom <= top;
    if (swap) active <= bottom;
    sum <= total;
    if (stationary || latch) below <= total;
    else if (shift) below <= above;
    first_right <= first;
    latch_right <= latch;
    shift_right <= shift;
    load_right <= load;
    swap_right <= swap;
  end
endmodule

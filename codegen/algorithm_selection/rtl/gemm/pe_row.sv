// A row of processing elements whose dataflow is switched at run time (Fig. 3, Section 3.2).
//
// Non-stationary (stationary = 0): both operands pass through and the sum stays. `first` starts a sum,
// `latch` puts the finished sum into the result chain, `shift` takes the result of the element above; so the
// results of one pass leave while the next pass computes.
// Stationary (weights or inputs): `load` shifts the next block down the chain of shadow registers `bottom` while the
// current pass computes (ping-pong), `swap` makes it the active one, and partial sums move down.
//
// Tokens {first, latch, shift, load, swap} and left operands enter at column 0 and travel right beside each other, a
// column a cycle; top operands and results come from the row above, a word a column side by side. Elements are columns
// of vectors, so that a simulator makes one loop of them.
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
  logic [P2*OPERAND-1:0] right, across, active;
  logic [P2*SUM-1:0] sum, total;
  logic [P2*5-1:0] passed, tokens;
  assign across = (P2 * OPERAND)'({right, left});
  assign tokens = (P2 * 5)'({passed, token});

  logic [OPERAND-1:0] held;
  logic [SUM-1:0] added;
  logic signed [OPERAND-1:0] factor;
  logic signed [SUM-1:0] product;
  always_comb begin
    held = '0;
    added = '0;
    factor = '0;
    product = '0;
    for (int s = 0; s < P2; s++) begin
      // The first beat after a swap already needs the new block, so the shadow register is looked through.
      held = tokens[s*5] ? bottom[s*OPERAND+:OPERAND] : active[s*OPERAND+:OPERAND];
      factor = stationary ? held : top[s*OPERAND+:OPERAND];
      product = SUM'($signed(across[s*OPERAND+:OPERAND])) * SUM'(factor);
      // One adder, the DSP slice's own, in all dataflows.
      added = stationary ? above[s*SUM+:SUM] : (tokens[s*5+4] ? '0 : sum[s*SUM+:SUM]);
      total[s*SUM+:SUM] = added + product;
    end
  end

  always_ff @(posedge clk) begin
    right  <= across;
    passed <= tokens;
    sum <= total;
    for (int s = 0; s < P2; s++) begin
      if (tokens[s*5+1] || !stationary) bottom[s*OPERAND+:OPERAND] <= top[s*OPERAND+:OPERAND];
      if (tokens[s*5]) active[s*OPERAND+:OPERAND] <= bottom[s*OPERAND+:OPERAND];
      if (tokens[s*5+3] || stationary) below[s*SUM+:SUM] <= total[s*SUM+:SUM];
      else if (tokens[s*5+2]) below[s*SUM+:SUM] <= above[s*SUM+:SUM];
    end
  end
endmodule

// The passes of a GEMM instruction in order: its calls, then blocks of P2 along the outer extent, then blocks
// of P1 along the inner one. Preload, stream and collection each follow the passes with a counter of their own.
module pass_counter #(
    parameter int P1 = 4,
    parameter int P2 = 4
) (
    input logic clk,
    input logic start,
    input logic step,
    input logic [31:0] inner_extent,
    input logic [31:0] outer_extent,
    input logic [31:0] calls,
    output logic [31:0] inner,
    output logic [31:0] outer,
    output logic [31:0] call,
    output logic inner_last,
    output logic outer_last,
    output logic last
);
  assign inner_last = inner + P1 >= inner_extent;
  assign outer_last = outer + P2 >= outer_extent;
  assign last = inner_last && outer_last && call + 1 >= calls;
  always_ff @(posedge clk) begin
    if (start) begin
      inner <= '0;
      outer <= '0;
      call <= '0;
    end else if (step) begin
      inner <= inner_last ? '0 : inner + P1;
      if (inner_last) outer <= outer_last ? '0 : outer + P2;
      if (inner_last && outer_last) call <= call + 1;
    end
  end
endmodule

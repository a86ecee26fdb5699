// The last LENGTH values of a token: past[0] is the token itself, past[k] the token k cycles ago.
module delay_line #(
    parameter int LENGTH = 4
) (
    input logic clk,
    input logic reset,
    input logic token,
    output logic [LENGTH:0] past
);
  logic [LENGTH-1:0] kept;
  assign past = {kept, token};
  always_ff @(posedge clk) kept <= reset ? '0 : past[LENGTH-1:0];
endmodule

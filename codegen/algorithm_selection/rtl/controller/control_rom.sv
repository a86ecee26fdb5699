// The control sequence, a line of FETCH words a cycle.
module control_rom #(
    parameter int LINES = 128,
    parameter int FETCH = 8
) (
    input logic clk,
    input logic [31:0] address,
    output logic [FETCH*32-1:0] words
);
  localparam int ADDRESS = $clog2(LINES);
  logic [FETCH*32-1:0] memory[LINES];
  initial $readmemh("control.hex", memory);
  always_ff @(posedge clk) words <= memory[address[ADDRESS-1:0]];
  logic unused;
  assign unused = ^address[31:ADDRESS];
endmodule

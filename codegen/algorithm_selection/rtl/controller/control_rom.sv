// The control sequence, a word a cycle.
module control_rom #(
    parameter int WORDS = 1024
) (
    input logic clk,
    input logic [31:0] address,
    output logic [31:0] word
);
  localparam int ADDRESS = $clog2(WORDS);
  logic [31:0] memory[WORDS];
  initial $readmemh("control.hex", memory);
  always_ff @(posedge clk) word <= memory[address[ADDRESS-1:0]];
  logic unused;
  assign unused = ^address[31:ADDRESS];
endmodule

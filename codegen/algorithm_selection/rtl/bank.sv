// A bank of a buffer: a word read a cycle after its address, a word written two cycles after its own, which may be added
// to what is there (`read_at` is then the same address).
module bank #(
    parameter int WIDTH = 16,
    parameter int DEPTH = 1024
) (
    input logic clk,
    input logic [$clog2(DEPTH)-1:0] read_at,
    input logic write,
    input logic write_add,
    input logic [$clog2(DEPTH)-1:0] write_at,
    input logic [WIDTH-1:0] write_data,
    output logic [WIDTH-1:0] word
);
  /* verilator no_inline_module */
  localparam int ADDRESS = $clog2(DEPTH);
  logic [WIDTH-1:0] memory[DEPTH];
  logic enable, add, again;
  logic [ADDRESS-1:0] address;
  logic [WIDTH-1:0] data, total, written;
  assign total = data + (add ? (again ? written : word) : '0);
  always_ff @(posedge clk) begin
    word <= memory[read_at];
    enable <= write;
    add <= write_add;
    address <= write_at;
    data <= write_data;
    // What is written in this cycle is not yet in the word read in this cycle.
    again <= enable && address == write_at;
    written <= total;
    if (enable) memory[address] <= total;
  end
endmodule

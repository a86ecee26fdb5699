// A memory for each word of a line: a word is written into those that `put` names, a line is read at once, in the cycle
// of its address.
module line_memory #(
    parameter int SIDE  = 6,
    parameter int WIDTH = 16
) (
    input logic clk,
    input logic [SIDE-1:0] put,
    input logic [3:0] put_address,
    input logic [WIDTH-1:0] word,
    input logic [3:0] get_address,
    output logic [SIDE*WIDTH-1:0] line
);
  for (genvar k = 0; k < SIDE; k++) begin : gen_word
    (* ram_style = "distributed" *) logic [WIDTH-1:0] memory[16];
    always_ff @(posedge clk) if (put[k]) memory[put_address] <= word;
    assign line[k*WIDTH+:WIDTH] = memory[get_address];
  end
endmodule

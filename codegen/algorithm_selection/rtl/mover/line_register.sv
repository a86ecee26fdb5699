// Gathers the words of a line, of which `take` names the place, and has the whole line from its last word on until
// that of the next.
module line_register #(
    parameter int SIDE  = 6,
    parameter int WIDTH = 16
) (
    input logic clk,
    input logic [SIDE-1:0] take,
    input logic [WIDTH-1:0] word,
    output logic [SIDE*WIDTH-1:0] line
);
  logic [(SIDE-1)*WIDTH-1:0] early;
  always_ff @(posedge clk) begin
    for (int k = 0; k < SIDE - 1; k++) if (take[k]) early[k*WIDTH+:WIDTH] <= word;
    if (take[SIDE-1]) line <= {word, early};
  end
endmodule

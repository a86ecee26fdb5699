// A word delayed by LENGTH cycles (0: a wire).
module skew #(
    parameter int LENGTH = 1,
    parameter int WIDTH  = 16
) (
    input logic clk,
    input logic [WIDTH-1:0] word,
    output logic [WIDTH-1:0] later
);
  if (LENGTH == 0) begin : gen_wire
    logic unused;
    assign unused = clk;
    assign later  = word;
  end else begin : gen_delay
    logic [LENGTH*WIDTH-1:0] kept;
    assign later = kept[(LENGTH-1)*WIDTH+:WIDTH];
    always_ff @(posedge clk) kept <= (LENGTH * WIDTH)'({kept, word});
  end
endmodule

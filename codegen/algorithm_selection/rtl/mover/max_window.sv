// Running maximum of the last `size` words of a line: the horizontal pooling unit; the vertical one is the
// same over the lines before (Section 3.4). `history` holds the words before this one, the latest lowest.
module max_window #(
    parameter int WINDOW = 3,
    parameter int WIDTH  = 32
) (
    input logic [31:0] size,
    input logic [WIDTH-1:0] word,
    input logic [WINDOW*WIDTH-1:0] history,
    output logic [WIDTH-1:0] largest
);
  always_comb begin
    largest = word;
    for (int k = 0; k + 1 < WINDOW; k++)
      if (k + 1 < size && $signed(history[k*WIDTH+:WIDTH]) > $signed(largest)) largest = history[k*WIDTH+:WIDTH];
  end
  logic unused;
  assign unused = ^history[(WINDOW-1)*WIDTH+:WIDTH];
endmodule

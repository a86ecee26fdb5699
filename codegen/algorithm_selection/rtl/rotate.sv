// Lanes turned round: lane r gives word (r + by) mod LANES. Each bit of `by` turns by its weight.
module rotate #(
    parameter int WIDTH = 16,
    parameter int LOG_LANES = 2
) (
    input logic [LOG_LANES-1:0] by,
    input logic [2**LOG_LANES*WIDTH-1:0] words,
    output logic [2**LOG_LANES*WIDTH-1:0] turned
);
  localparam int ALL = 2 ** LOG_LANES * WIDTH;
  always_comb begin
    turned = words;
    for (int s = 0; s < LOG_LANES; s++)
      if (by[s]) turned = (turned >> (WIDTH << s)) | (turned << (ALL - (WIDTH << s)));
  end
endmodule

// Pad-and-accumulate of kn2row (Section 3.1): whether the pixels of a patch lie in the output, and how far on.
//
// A patch is the 1 x 1 convolution with one kernel tap; its pixel (y, x) adds to output pixel
// (y + shift_row, x + shift_column). The result buffer keeps the output with the patch's width, so the shift is
// one offset for the whole patch, and pixels that fall outside the output are masked. The positions of
// LANES + 1 consecutive pixels follow from the first one's by counting.
module pad_accumulate #(
    parameter int LANES = 4
) (
    input logic clk,
    input logic restart,
    input logic advance,
    input logic [31:0] advance_by,
    input logic [31:0] width,
    input logic [31:0] out_rows,
    input logic [31:0] out_columns,
    input logic [31:0] shift_row,
    input logic [31:0] shift_column,
    output logic [31:0] offset,
    output logic [LANES-1:0] covers
);
  logic [31:0] base_y, base_x;
  logic [31:0] y[LANES+1];
  logic [31:0] x[LANES+1];
  always_comb begin
    y[0] = base_y;
    x[0] = base_x;
    for (int r = 0; r < LANES; r++) begin
      x[r+1] = x[r] + 1 == width ? '0 : x[r] + 1;
      y[r+1] = x[r] + 1 == width ? y[r] + 1 : y[r];
    end
  end

  assign offset = shift_row * width + shift_column;
  // Below zero is beyond every extent when read without a sign.
  for (genvar r = 0; r < LANES; r++) begin : gen_lane
    logic [31:0] out_y, out_x;
    assign out_y = y[r] + shift_row;
    assign out_x = x[r] + shift_column;
    assign covers[r] = out_y < out_rows && out_x < out_columns;
  end

  always_ff @(posedge clk) begin
    if (restart) begin
      base_y <= '0;
      base_x <= '0;
    end else if (advance) begin
      for (int r = 1; r <= LANES; r++)
        if (advance_by == r) begin
          base_y <= y[r];
          base_x <= x[r];
        end
    end
  end
endmodule

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
  logic [15:0] base_y, base_x, wide;
  logic [15:0] y[LANES+1];
  logic [15:0] x[LANES+1];
  assign wide = width[15:0];
  always_comb begin
    y[0] = base_y;
    x[0] = base_x;
    for (int r = 0; r < LANES; r++) begin
      x[r+1] = x[r] + 16'd1 == wide ? '0 : x[r] + 16'd1;
      y[r+1] = x[r] + 16'd1 == wide ? y[r] + 16'd1 : y[r];
    end
  end

  logic signed [32:0] rows_on;
  assign rows_on = 33'($signed(shift_row[16:0])) * 33'($signed({1'b0, wide}));
  assign offset = rows_on[31:0] + shift_column;
  // Below zero is beyond every extent when read without a sign.
  for (genvar r = 0; r < LANES; r++) begin : gen_lane
    logic [16:0] out_y, out_x;
    assign out_y = 17'(y[r]) + shift_row[16:0];
    assign out_x = 17'(x[r]) + shift_column[16:0];
    assign covers[r] = out_y < 17'(out_rows[15:0]) && out_x < 17'(out_columns[15:0]);
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
  logic unused;
  assign unused = ^{rows_on[32], width[31:16], shift_row[31:17], out_rows[31:16], out_columns[31:16]};
endmodule

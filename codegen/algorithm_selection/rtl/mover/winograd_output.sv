// Output transform of Winograd F(2, 3): A^T M A / 4 on a 4 x 4 tile. The division by the kernel's scale of 4
// leaves no remainder, as M is the product of the scaled kernel.
module winograd_output #(
    parameter int WIDTH = 32
) (
    input logic [15:0][WIDTH-1:0] tile,
    output logic [3:0][WIDTH-1:0] transformed
);
  logic [7:0][WIDTH-1:0] half;
  logic [3:0][WIDTH-1:0] scaled;
  for (genvar k = 0; k < 4; k++) begin : gen_column
    assign half[k] = tile[k] + tile[4+k] + tile[8+k];
    assign half[4+k] = tile[4+k] - tile[8+k] - tile[12+k];
  end
  for (genvar k = 0; k < 2; k++) begin : gen_row
    assign scaled[2*k] = half[4*k] + half[4*k+1] + half[4*k+2];
    assign scaled[2*k+1] = half[4*k+1] - half[4*k+2] - half[4*k+3];
  end
  for (genvar k = 0; k < 4; k++) begin : gen_pixel
    assign transformed[k] = $signed(scaled[k]) >>> 2;
  end
endmodule

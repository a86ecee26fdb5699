// Input transform of Winograd F(2, 3): B^T d B on a 4 x 4 tile, row by row in one word.
module winograd_input #(
    parameter int WIDTH = 32
) (
    input logic [15:0][WIDTH-1:0] tile,
    output logic [15:0][WIDTH-1:0] transformed
);
  logic [15:0][WIDTH-1:0] half;
  for (genvar k = 0; k < 4; k++) begin : gen_line
    assign half[k] = tile[k] - tile[8+k];
    assign half[4+k] = tile[4+k] + tile[8+k];
    assign half[8+k] = tile[8+k] - tile[4+k];
    assign half[12+k] = tile[4+k] - tile[12+k];
    assign transformed[4*k] = half[4*k] - half[4*k+2];
    assign transformed[4*k+1] = half[4*k+1] + half[4*k+2];
    assign transformed[4*k+2] = half[4*k+2] - half[4*k+1];
    assign transformed[4*k+3] = half[4*k+1] - half[4*k+3];
  end
endmodule

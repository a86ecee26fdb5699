// Kernel transform of Winograd F(2, 3) in integers: (2G) g (2G)^T on a 3 x 3 kernel, so 4 times the printed
// transform, which the output transform takes back.
module winograd_kernel #(
    parameter int WIDTH = 32
) (
    input logic [8:0][WIDTH-1:0] kernel,
    output logic [15:0][WIDTH-1:0] transformed
);
  logic [11:0][WIDTH-1:0] half;
  for (genvar k = 0; k < 3; k++) begin : gen_column
    assign half[k] = kernel[k] << 1;
    assign half[3+k] = kernel[k] + kernel[3+k] + kernel[6+k];
    assign half[6+k] = kernel[k] - kernel[3+k] + kernel[6+k];
    assign half[9+k] = kernel[6+k] << 1;
  end
  for (genvar k = 0; k < 4; k++) begin : gen_row
    assign transformed[4*k] = half[3*k] << 1;
    assign transformed[4*k+1] = half[3*k] + half[3*k+1] + half[3*k+2];
    assign transformed[4*k+2] = half[3*k] - half[3*k+1] + half[3*k+2];
    assign transformed[4*k+3] = half[3*k+2] << 1;
  end
endmodule

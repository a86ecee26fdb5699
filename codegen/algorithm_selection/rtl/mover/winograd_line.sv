// A linear transform of Winograd along one direction: the matrix of KIND (1 B^T, 2 G, 3 A^T) times a line of a tile, of
// F(4, 3) if SIX, else of F(2, 3), in integers. F(2, 3) takes 2G. Of F(4, 3) row k of 24G is D_k times a row of small
// integers, D = (6, 4, 4, 1, 1, 24): kernels are transformed by the latter, so that they stay short, and D goes into A^T.
module winograd_line #(
    parameter int KIND  = 1,
    parameter int SIX   = 0,
    parameter int WIDTH = 32,
    parameter int TAKEN = KIND == 2 ? 3 : (SIX != 0 ? 6 : 4),
    parameter int GIVEN = KIND == 3 ? (SIX != 0 ? 4 : 2) : (SIX != 0 ? 6 : 4)
) (
    input logic [TAKEN*WIDTH-1:0] words,
    output logic [GIVEN*WIDTH-1:0] transformed
);
  logic [WIDTH-1:0] a, b, c;
  assign a = words[0+:WIDTH];
  assign b = words[WIDTH+:WIDTH];
  assign c = words[2*WIDTH+:WIDTH];
  if (KIND == 1 && SIX != 0) begin : gen_input_six
    logic [WIDTH-1:0] d, e, f;
    assign d = words[3*WIDTH+:WIDTH];
    assign e = words[4*WIDTH+:WIDTH];
    assign f = words[5*WIDTH+:WIDTH];
    assign transformed[0+:WIDTH] = (a << 2) - (c << 2) - c + e;
    assign transformed[WIDTH+:WIDTH] = d + e - ((b + c) << 2);
    assign transformed[2*WIDTH+:WIDTH] = ((b - c) << 2) + e - d;
    assign transformed[3*WIDTH+:WIDTH] = ((d - b) << 1) + e - c;
    assign transformed[4*WIDTH+:WIDTH] = ((b - d) << 1) + e - c;
    assign transformed[5*WIDTH+:WIDTH] = (b << 2) - (d << 2) - d + f;
  end else if (KIND == 1) begin : gen_input
    logic [WIDTH-1:0] d;
    assign d = words[3*WIDTH+:WIDTH];
    assign transformed[0+:WIDTH] = a - c;
    assign transformed[WIDTH+:WIDTH] = b + c;
    assign transformed[2*WIDTH+:WIDTH] = c - b;
    assign transformed[3*WIDTH+:WIDTH] = b - d;
  end else if (KIND == 2 && SIX != 0) begin : gen_kernel_six
    assign transformed[0+:WIDTH] = a;
    assign transformed[WIDTH+:WIDTH] = -a - b - c;
    assign transformed[2*WIDTH+:WIDTH] = b - a - c;
    assign transformed[3*WIDTH+:WIDTH] = a + (b << 1) + (c << 2);
    assign transformed[4*WIDTH+:WIDTH] = a - (b << 1) + (c << 2);
    assign transformed[5*WIDTH+:WIDTH] = c;
  end else if (KIND == 2) begin : gen_kernel
    assign transformed[0+:WIDTH] = a << 1;
    assign transformed[WIDTH+:WIDTH] = a + b + c;
    assign transformed[2*WIDTH+:WIDTH] = a - b + c;
    assign transformed[3*WIDTH+:WIDTH] = c << 1;
  end else if (SIX != 0) begin : gen_output_six
    logic [WIDTH-1:0] d, e, f;
    assign d = words[3*WIDTH+:WIDTH];
    assign e = words[4*WIDTH+:WIDTH];
    assign f = words[5*WIDTH+:WIDTH];
    assign transformed[0+:WIDTH] = (a << 2) + (a << 1) + ((b + c) << 2) + d + e;
    assign transformed[WIDTH+:WIDTH] = ((b - c) << 2) + ((d - e) << 1);
    assign transformed[2*WIDTH+:WIDTH] = (b + c + d + e) << 2;
    assign transformed[3*WIDTH+:WIDTH] = ((b - c) << 2) + ((d - e) << 3) + (f << 4) + (f << 3);
  end else begin : gen_output
    logic [WIDTH-1:0] d;
    assign d = words[3*WIDTH+:WIDTH];
    assign transformed[0+:WIDTH] = a + b + c;
    assign transformed[WIDTH+:WIDTH] = b - c - d;
  end
endmodule

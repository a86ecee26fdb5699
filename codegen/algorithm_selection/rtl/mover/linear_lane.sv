// A lane of the linear transforms of Winograd (Section 3.1): gathers a tile word by word, row by row, transforms it when
// its last word comes, and streams it out while the next is gathered. KIND: 1 input (B^T d B), 2 kernel, 3 output
// transform; LARGE: tiles of F(4, 3), too, where `six` says so; others are those of F(2, 3).
module linear_lane #(
    parameter int KIND  = 1,
    parameter int LARGE = 0,
    parameter int WIDTH = 32
) (
    input logic clk,
    input logic valid,
    input logic full,
    input logic gives,
    input logic six,
    input logic [5:0] taken,
    input logic [WIDTH-1:0] word,
    output logic [WIDTH-1:0] out_word
);
  /* verilator no_inline_module */
  localparam int SMALL = KIND == 2 ? 9 : 16;
  localparam int TAKEN = KIND == 2 ? 9 : (LARGE != 0 ? 36 : 16);
  localparam int LEAST = KIND == 3 ? 4 : 16;
  localparam int GIVEN = KIND == 3 ? (LARGE != 0 ? 16 : 4) : (LARGE != 0 ? 36 : 16);
  logic [(TAKEN-1)*WIDTH-1:0] tile;
  logic [GIVEN*WIDTH-1:0] ready, transformed;
  logic [LEAST*WIDTH-1:0] least;
  // The last word of a tile is on its way when it is transformed.
  winograd_tile #(.KIND(KIND), .SIX(0), .WIDTH(WIDTH)) small_tile (
      .tile({word, tile[(SMALL-1)*WIDTH-1:0]}), .transformed(least)
  );
  if (LARGE != 0) begin : gen_six
    logic [GIVEN*WIDTH-1:0] most;
    winograd_tile #(.KIND(KIND), .SIX(1), .WIDTH(WIDTH)) large_tile (.tile({word, tile}), .transformed(most));
    assign transformed = six ? most : (GIVEN * WIDTH)'(least);
  end else begin : gen_four
    logic unused;
    assign unused = six;
    assign transformed = least;
  end
  assign out_word = ready[WIDTH-1:0];
  always_ff @(posedge clk) begin
    if (valid) for (int k = 0; k < TAKEN - 1; k++) if (taken == 6'(k)) tile[k*WIDTH+:WIDTH] <= word;
    if (full) ready <= transformed;
    else if (gives) ready <= ready >> WIDTH;
  end
endmodule

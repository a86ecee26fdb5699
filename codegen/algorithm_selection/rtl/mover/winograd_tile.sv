// A linear transform of a tile, row by row in one word: down its columns, then along its rows. Results of the output
// transform are divided by the kernels' scale, by 4 or by 576 = 64 * 9. No division leaves a remainder, so that by 9 is
// a product with its inverse (1 - 8)(1 + 8^2)(1 + 8^4)(1 + 8^8) among the numbers of up to 48 bits, and sums that wrap
// come right again.
module winograd_tile #(
    parameter int KIND  = 1,
    parameter int SIX   = 0,
    parameter int WIDTH = 32,
    parameter int TAKEN = KIND == 2 ? 3 : (SIX != 0 ? 6 : 4),
    parameter int GIVEN = KIND == 3 ? (SIX != 0 ? 4 : 2) : (SIX != 0 ? 6 : 4)
) (
    input logic [TAKEN*TAKEN*WIDTH-1:0] tile,
    output logic [GIVEN*GIVEN*WIDTH-1:0] transformed
);
  logic [GIVEN*TAKEN*WIDTH-1:0] half;
  for (genvar k = 0; k < TAKEN; k++) begin : gen_column
    logic [TAKEN*WIDTH-1:0] column;
    logic [GIVEN*WIDTH-1:0] done;
    for (genvar r = 0; r < TAKEN; r++) begin : gen_taken
      assign column[r*WIDTH+:WIDTH] = tile[(r*TAKEN+k)*WIDTH+:WIDTH];
    end
    winograd_line #(.KIND(KIND), .SIX(SIX), .WIDTH(WIDTH)) down (.words(column), .transformed(done));
    for (genvar r = 0; r < GIVEN; r++) begin : gen_given
      assign half[(r*TAKEN+k)*WIDTH+:WIDTH] = done[r*WIDTH+:WIDTH];
    end
  end
  for (genvar r = 0; r < GIVEN; r++) begin : gen_row
    logic [GIVEN*WIDTH-1:0] done;
    winograd_line #(.KIND(KIND), .SIX(SIX), .WIDTH(WIDTH)) along (
        .words(half[r*TAKEN*WIDTH+:TAKEN*WIDTH]), .transformed(done)
    );
    for (genvar k = 0; k < GIVEN; k++) begin : gen_pixel
      logic [WIDTH-1:0] word;
      assign word = done[k*WIDTH+:WIDTH];
      if (KIND == 3 && SIX != 0) begin : gen_divided_six
        logic [WIDTH-1:0] two, four, eight, ninth;
        assign two = word - (word << 3);
        assign four = two + (two << 6);
        assign eight = four + (four << 12);
        assign ninth = eight + (eight << 24);
        assign transformed[(r*GIVEN+k)*WIDTH+:WIDTH] = $signed(ninth) >>> 6;
      end else if (KIND == 3) begin : gen_divided
        assign transformed[(r*GIVEN+k)*WIDTH+:WIDTH] = $signed(word) >>> 2;
      end else begin : gen_whole
        assign transformed[(r*GIVEN+k)*WIDTH+:WIDTH] = word;
      end
    end
  end
endmodule

// Brings a sum back to an operand: ((sum + bias) * factor + addend) / 2^shift rounded down, then limited to
// [lowest, highest]; a lowest value of 0 is ReLU, an addend of half the divisor rounds halves upward. Bias and
// factor, which is not negative, are those of the sum's map. A result below zero is then taken times slope / 2^16, halves upward (LeakyReLU; a
// slope of 2^16 leaves it as it is). SINGLE: where `single` is set the sum and its product with a factor of 24 bits
// are first rounded as single precision has them, and halves of the quotient go to the even number: what onnxruntime
// makes of an integer and a real scale.
module requantise #(
    parameter int WIDTH  = 32,
    parameter int SINGLE = 1
) (
    input logic enable,
    input logic single,
    input logic [WIDTH-1:0] sum,
    input logic [31:0] bias,
    input logic [31:0] factor,
    input logic [31:0] addend,
    input logic [5:0] shift,
    input logic [15:0] lowest,
    input logic [15:0] highest,
    input logic [31:0] slope,
    output logic [WIDTH-1:0] word
);
  /* verilator no_inline_module */
  logic signed [WIDTH:0] whole;
  logic signed [63:0] product, sought, scaled;
  logic signed [15:0] limited;
  logic signed [33:0] bent;
  assign whole = (WIDTH + 1)'($signed(sum)) + (WIDTH + 1)'($signed(bias));

  logic [63:0] divided;
  if (SINGLE != 0) begin : gen_single
    logic [39:0] magnitude, taken, kept;
    logic [63:0] exact, near, rest, half, quotient;
    assign magnitude = whole < 0 ? 40'(-whole) : 40'(whole);
    assign exact = 64'(taken) * 64'(factor[30:0]);
    assign product = whole < 0 ? -$signed(exact) : $signed(exact);
    significant #(.WIDTH(40)) of_sum (.magnitude, .rounded(kept));
    assign taken = single ? kept : magnitude;
    significant #(.WIDTH(64)) of_product (.magnitude(exact), .rounded(near));
    assign quotient = near >> shift;
    assign rest = near - (quotient << shift);
    assign half = shift == 0 ? '0 : 64'(1) << (shift - 1);
    assign divided = quotient + 64'(shift != 0 && (rest > half || (rest == half && quotient[0])));
  end else begin : gen_integers
    assign product = 64'(whole) * 64'($signed({1'b0, factor[30:0]}));
    assign divided = '0;
  end
  assign sought = product + 64'($signed(addend));
  assign scaled = SINGLE != 0 && single ? (whole < 0 ? -$signed(divided) : $signed(divided)) : sought >>> shift;
  assign limited = scaled < 64'($signed(lowest)) ? $signed(lowest) :
      (scaled > 64'($signed(highest)) ? $signed(highest) : $signed(scaled[15:0]));
  assign bent = (34'(limited) * 34'($signed(slope[17:0])) + 34'sd32768) >>> 16;
  assign word = enable ? (limited < 0 ? WIDTH'(bent) : WIDTH'(limited)) : sum;
  logic unused;
  assign unused = ^{factor[31], slope[31:18], single, bent};
endmodule

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
  // Both ways share multiplier, adder and shifter: magnitudes are multiplied, and get their sign where they are added to
  // (rounding down) or after the quotient (rounding to even).
  logic real_scale, negative;
  logic signed [WIDTH:0] whole;
  logic [WIDTH:0] magnitude, taken;
  logic [63:0] exact, rounding, gone, sought;
  assign real_scale = SINGLE != 0 && single;
  assign whole      = (WIDTH + 1)'($signed(sum)) + (WIDTH + 1)'($signed(bias));
  assign negative   = whole[WIDTH];
  assign magnitude  = negative ? -whole : whole;
  if (SINGLE != 0) begin : gen_single
    logic [WIDTH:0] sum_carry, sum_below;
    logic [63:0] carry, below;
    significant #(.WIDTH(WIDTH + 1)) of_sum (.magnitude, .carry(sum_carry), .below(sum_below));
    significant #(.WIDTH(64)) of_product (.magnitude(exact), .carry, .below);
    assign taken = real_scale ? (magnitude + sum_carry) & ~sum_below : magnitude;
    assign rounding = real_scale ? carry : 64'($signed(addend));
    assign gone = real_scale ? below : '0;
  end else begin : gen_integers
    assign taken = magnitude;
    assign rounding = 64'($signed(addend));
    assign gone = '0;
  end
  assign exact = 64'(taken) * 64'(factor[30:0]);
  logic turned;
  assign turned = negative && !real_scale;
  assign sought = ((exact ^ {64{turned}}) + rounding + 64'(turned)) & ~gone;

  // To the right by 32, 16 ... 1, keeping the bits that are still needed then: 17 of the quotient and the one after them.
  // What falls away below matters as being zero or not, what falls away above as being all sign or not.
  logic sign, beyond, rest;
  logic [65:0] kept, shifted;
  assign sign = sought[63] && !real_scale;
  always_comb begin
    kept = {sign, sought, 1'b0};
    shifted = kept;
    beyond = 1'b0;
    rest = 1'b0;
    for (int k = 5; k >= 0; k--) begin
      if (shift[k]) begin
        rest = rest | (kept & ~({66{1'b1}} << (1 << k))) != 0;
        shifted = $signed(kept) >>> (1 << k);
      end else shifted = kept;
      for (int place = 0; place < 66; place++) begin
        if (place >= 17 + (1 << k)) begin
          beyond = beyond | (shifted[place] != sign);
          shifted[place] = sign;
        end
      end
      kept = shifted;
    end
    beyond = beyond | (kept[17] != sign);
  end

  // A quotient q that is rounded up and turned around is ~q + (up ? 0 : 1).
  logic up, turns;
  logic signed [17:0] quotient;
  logic signed [15:0] limited;
  logic signed [33:0] bent;
  assign turns    = real_scale && negative;
  assign up       = real_scale && kept[0] && (rest || kept[1]);
  assign quotient = ({sign, kept[17:1]} ^ {18{turns}}) + 18'(up != turns);
  always_comb begin
    if (beyond) limited = real_scale ? (negative ? lowest : highest) : (sign ? lowest : highest);
    else if (quotient < 18'($signed(lowest))) limited = lowest;
    else if (quotient > 18'($signed(highest))) limited = highest;
    else limited = quotient[15:0];
  end
  assign bent = (34'(limited) * 34'($signed(slope[17:0])) + 34'sd32768) >>> 16;
  assign word = enable ? (limited < 0 ? WIDTH'(bent) : WIDTH'(limited)) : sum;
  logic unused;
  assign unused = ^{factor[31], slope[31:18], single, bent};
endmodule

// How a magnitude is rounded to its DIGITS highest bits from the first one on, halves to even, as single precision
// (DIGITS = 24) does: (magnitude + carry) & ~below. Whoever adds anyway has the rounding for a mask.
module significant #(
    parameter int WIDTH  = 64,
    parameter int DIGITS = 24
) (
    input  logic [WIDTH-1:0] magnitude,
    output logic [WIDTH-1:0] carry,
    output logic [WIDTH-1:0] below
);
  // Bits before which there is a one; the weight of the last bit that stays, and that of the first that goes.
  logic [WIDTH:0] after;
  logic [WIDTH-1:0] unit, half;
  logic up;
  always_comb begin
    after[WIDTH] = 1'b0;
    for (int k = WIDTH - 1; k >= 0; k--) after[k] = after[k+1] | magnitude[k];
    below = WIDTH'(after >> DIGITS);
    half  = below & ~(below >> 1);
    unit  = half << 1;
  end
  assign up = (magnitude & half) != 0 && ((magnitude & below & ~half) != 0 || (magnitude & unit) != 0);
  assign carry = up ? unit : '0;
endmodule

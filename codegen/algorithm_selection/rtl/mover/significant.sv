// A magnitude rounded to its DIGITS highest bits from the first one on, halves to even: what single precision
// (DIGITS = 24) keeps of it.
module significant #(
    parameter int WIDTH  = 64,
    parameter int DIGITS = 24
) (
    input logic [WIDTH-1:0] magnitude,
    output logic [WIDTH-1:0] rounded
);
  logic [WIDTH-1:0] unit, below, half, sum;
  always_comb begin
    // The weight of the last bit that stays.
    unit = 1;
    for (int k = DIGITS; k < WIDTH; k++) if (magnitude[k]) unit = WIDTH'(1) << (k - DIGITS + 1);
    half = unit >> 1;
    below = magnitude & (unit - 1);
    sum = magnitude - below;
    if (below > half || (below == half && half != 0 && (magnitude & unit) != 0)) sum = sum + unit;
    rounded = sum;
  end
endmodule

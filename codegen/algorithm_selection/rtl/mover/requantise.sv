// Brings a sum back to an operand: ((sum + bias) * factor + addend) / 2^shift rounded down, then limited to
// [lowest, highest]; a lowest value of 0 is ReLU, an addend of half the divisor rounds halves upward. Bias and
// factor are those of the sum's map. A result below zero is then taken times slope / 2^16, halves upward (LeakyReLU; a
// slope of 2^16 leaves it as it is).
module requantise #(
    parameter int WIDTH = 32
) (
    input logic enable,
    input logic [WIDTH-1:0] sum,
    input logic [31:0] bias,
    input logic [31:0] factor,
    input logic [31:0] addend,
    input logic [31:0] shift,
    input logic [31:0] lowest,
    input logic [31:0] highest,
    input logic [31:0] slope,
    output logic [WIDTH-1:0] word
);
  logic signed [63:0] product, scaled, low, high, limited, bent, finished;
  assign product = (64'($signed(sum)) + 64'($signed(bias))) * 64'($signed(factor)) +
      64'($signed(addend));
  assign scaled = product >>> shift[5:0];
  assign low = 64'($signed(lowest));
  assign high = 64'($signed(highest));
  assign limited = scaled < low ? low : (scaled > high ? high : scaled);
  assign bent = (limited * 64'($signed(slope)) + 64'sd32768) >>> 16;
  assign finished = limited < 0 ? bent : limited;
  assign word = enable ? finished[WIDTH-1:0] : sum;
  logic unused;
  assign unused = ^{finished[63:WIDTH], shift[31:6]};
endmodule

// What is loaded into the sums is multiplied on the way: operands of additions and means, integers of 8 bits without their
// zero point. The board's DSP slices are the array's and the requantisers', so this is made of adders: two bits of the
// word choose among multiples of the factor, `threefold` being three times that.
module scale_operand #(
    parameter int WIDTH = 32
) (
    input logic [8:0] word,
    input logic [17:0] factor,
    input logic [19:0] threefold,
    output logic [WIDTH-1:0] scaled
);
  logic signed [26:0] once, three;
  logic [4*27-1:0] digit;
  assign once  = 27'($signed(factor));
  assign three = 27'($signed(threefold));
  for (genvar k = 0; k < 4; k++) begin : gen_digit
    assign digit[k*27+:27] = word[2*k+1] ? (word[2*k] ? three : once <<< 1) : (word[2*k] ? once : '0);
  end
  logic signed [26:0] sum;
  assign sum = digit[0+:27] + (digit[27+:27] << 2) + (digit[54+:27] << 4) + (digit[81+:27] << 6) -
      (word[8] ? once << 8 : '0);
  assign scaled = WIDTH'(sum);
endmodule

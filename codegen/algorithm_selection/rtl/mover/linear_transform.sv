// Linear transform modules (Section 3.1), one a lane: each collects a tile from its lane of a stream, transforms
// it, and streams it out while the next one is collected. Whoever feeds them leaves a gap where more words go
// out than come in. KIND: 1 input, 2 kernel, 3 output transform; LARGE: F(4, 3), too, where `six` says so.
module linear_transform #(
    parameter int LANES = 4,
    parameter int WIDTH = 32,
    parameter int KIND  = 1,
    parameter int LARGE = 0
) (
    input logic clk,
    input logic start,
    input logic six,
    input logic valid,
    input logic [LANES*WIDTH-1:0] words,
    output logic out_valid,
    output logic [LANES*WIDTH-1:0] out_words
);
  logic [5:0] taken, left, size, given;
  logic full;
  assign size = KIND == 2 ? 9 : (six ? 36 : 16);
  assign given = KIND == 3 ? (six ? 16 : 4) : (six ? 36 : 16);
  assign full = valid && taken + 1 == size;
  assign out_valid = left != 0;
  always_ff @(posedge clk) begin
    if (start) begin
      taken <= '0;
      left <= '0;
    end else begin
      if (valid) taken <= full ? '0 : taken + 1;
      if (full) left <= given;
      else if (left != 0) left <= left - 1;
    end
  end

  for (genvar k = 0; k < LANES; k++) begin : gen_lane
    linear_lane #(
        .KIND (KIND),
        .LARGE(LARGE),
        .WIDTH(WIDTH)
    ) lane (
        .clk, .valid, .full, .gives(left != 0), .six, .taken, .word(words[k*WIDTH+:WIDTH]),
        .out_word(out_words[k*WIDTH+:WIDTH])
    );
  end
endmodule

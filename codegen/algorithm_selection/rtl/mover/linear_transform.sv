// Linear transform modules (Section 3.1), one a lane: each takes the words of its tiles as they come, row by row, and
// gives them transformed, a word a cycle, from the third cycle after a tile's last word on, while the next one comes.
// Whoever feeds them leaves a gap where more words go out than come in. KIND: 1 input, 2 kernel, 3 output transform;
// LARGE: F(4, 3), too, where `six` says so. What lanes do, they do at once: only their words are their own.
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
  localparam int SIDE = KIND == 2 ? 3 : (LARGE != 0 ? 6 : 4);
  logic [SIDE-1:0] take, put;
  logic [3:0] put_address, get_address;
  logic [2:0] first_row, second_row;
  logic [8:0] first, second;
  logic gives;
  if (KIND == 2) begin : gen_kernel
    kernel_order order (
        .clk, .start, .six, .valid, .take, .put, .put_address, .get_address, .first_row, .second_row, .gives
    );
  end else begin : gen_map
    map_order #(
        .KIND (KIND),
        .LARGE(LARGE)
    ) order (
        .clk, .start, .six, .valid, .take, .put, .put_address, .get_address, .first_row, .second_row, .gives
    );
  end
  winograd_row #(.KIND(KIND)) first_matrix (.six, .row(first_row), .choice(first));
  winograd_row #(.KIND(KIND)) second_matrix (.six, .row(second_row), .choice(second));
  always_ff @(posedge clk) out_valid <= gives && !start;

  for (genvar k = 0; k < LANES; k++) begin : gen_lane
    linear_lane #(
        .KIND (KIND),
        .LARGE(LARGE),
        .WIDTH(WIDTH)
    ) lane (
        .clk, .six, .take, .put, .put_address, .get_address, .first, .second, .word(words[k*WIDTH+:WIDTH]),
        .out_word(out_words[k*WIDTH+:WIDTH])
    );
  end
endmodule

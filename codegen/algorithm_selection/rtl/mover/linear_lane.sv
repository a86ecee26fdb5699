// A lane of the linear transforms of Winograd (Section 3.1): two transforms of lines, a word a cycle each, the tile turned
// by the memories before the second (KIND 1 input, 3 output transform) or before the first (2 kernel). Results of
// the output transform are divided by the scale of the kernels: by 4, or by 576 = 64 * 9. No division leaves a
// remainder, so that by 9 is a product with its inverse (1 - 8)(1 + 8^2)(1 + 8^4)(1 + 8^8) among the numbers of up to
// 48 bits, and sums that wrap come right again.
module linear_lane #(
    parameter int KIND  = 1,
    parameter int LARGE = 0,
    parameter int WIDTH = 32,
    parameter int SIDE  = KIND == 2 ? 3 : (LARGE != 0 ? 6 : 4)
) (
    input logic clk,
    input logic six,
    input logic [SIDE-1:0] take,
    input logic [SIDE-1:0] put,
    input logic [3:0] put_address,
    input logic [3:0] get_address,
    input logic [8:0] first,
    input logic [8:0] second,
    input logic [WIDTH-1:0] word,
    output logic [WIDTH-1:0] out_word
);
  /* verilator no_inline_module */
  logic [SIDE*WIDTH-1:0] first_line, second_line;
  logic [WIDTH-1:0] half, done, given;
  winograd_line #(.KIND(KIND), .LARGE(LARGE), .WIDTH(WIDTH)) one (.words(first_line), .choice(first), .word(half));
  winograd_line #(.KIND(KIND), .LARGE(LARGE), .WIDTH(WIDTH)) other (.words(second_line), .choice(second), .word(done));
  if (KIND == 2) begin : gen_kernel
    line_memory #(.SIDE(SIDE), .WIDTH(WIDTH)) turned (
        .clk, .put, .put_address, .word, .get_address, .line(first_line)
    );
    line_register #(.SIDE(SIDE), .WIDTH(WIDTH)) gathering (.clk, .take, .word(half), .line(second_line));
  end else begin : gen_map
    line_register #(.SIDE(SIDE), .WIDTH(WIDTH)) gathering (.clk, .take, .word, .line(first_line));
    line_memory #(.SIDE(SIDE), .WIDTH(WIDTH)) turned (
        .clk, .put, .put_address, .word(half), .get_address, .line(second_line)
    );
  end
  always_ff @(posedge clk) given <= done;

  if (KIND == 3 && LARGE != 0) begin : gen_divided_six
    localparam int REST = WIDTH - 6;
    logic [REST-1:0] ninefold, two, four, eight, whole;
    assign ninefold = given[WIDTH-1:6];
    assign two = ninefold - (ninefold << 3);
    assign four = two + (two << 6);
    assign eight = four + (four << 12);
    assign whole = eight + (eight << 24);
    assign out_word = six ? WIDTH'($signed(whole)) : $signed(given) >>> 2;
  end else if (KIND == 3) begin : gen_divided
    assign out_word = $signed(given) >>> 2;
  end else begin : gen_whole
    assign out_word = given;
  end
  if (KIND != 3 || LARGE == 0) begin : gen_unused
    logic unused;
    assign unused = six;
  end
endmodule

// On-chip matrix in the dual-parallelism blocked layout (Eq. 7): element (i, j) lies in bank (i + j) mod
// banks, so that a piece of a row and a piece of a column both touch every bank once at most.
//
// A block is one element here, as a lane takes one a cycle. The number of banks is a power of two, no less
// than both sides of the array. Inside its bank the element lies at base + (j / banks) * rows + i, so that two
// matrices share a buffer: one is filled while the other is used. A request names
// the first of `banks` elements along a row (or a column); read data come a cycle later. A write may add to
// what is there: the sums of several passes, and those of kn2row's patches.
module banked_buffer #(
    parameter int WIDTH = 16,
    parameter int LOG_BANKS = 2,
    parameter int DEPTH = 1024
) (
    input logic clk,
    input logic [31:0] read_base,
    input logic [31:0] read_rows,
    input logic read_column,
    input logic [31:0] read_i,
    input logic [31:0] read_j,
    output logic [2**LOG_BANKS*WIDTH-1:0] read_data,
    input logic [31:0] write_base,
    input logic [31:0] write_rows,
    input logic write_column,
    input logic write_add,
    input logic [31:0] write_i,
    input logic [31:0] write_j,
    input logic [2**LOG_BANKS-1:0] write_lane,
    input logic [2**LOG_BANKS*WIDTH-1:0] write_data
);
  /* verilator no_inline_module */
  localparam int BANKS = 2 ** LOG_BANKS;

  logic [31:0] base, rows, i, j;
  logic column, adding;
  // One read port: a write that adds reads first, and nobody else reads while sums are collected.
  assign adding = write_add && (write_lane != '0);
  assign base = adding ? write_base : read_base;
  assign rows = adding ? write_rows : read_rows;
  assign column = adding ? write_column : read_column;
  assign i = adding ? write_i : read_i;
  assign j = adding ? write_j : read_j;

  logic [BANKS*WIDTH-1:0] words;
  logic [LOG_BANKS-1:0] turn;
  always_ff @(posedge clk) turn <= i[LOG_BANKS-1:0] + j[LOG_BANKS-1:0];
  for (genvar r = 0; r < BANKS; r++) begin : gen_lane
    logic [LOG_BANKS-1:0] from;
    assign from = LOG_BANKS'(r) + turn;
    assign read_data[r*WIDTH+:WIDTH] = words[from*WIDTH+:WIDTH];
  end

  for (genvar k = 0; k < BANKS; k++) begin : gen_bank
    logic [LOG_BANKS-1:0] read_lane, lane;
    logic [31:0] read_at, write_at;
    assign read_lane = LOG_BANKS'(k) - i[LOG_BANKS-1:0] - j[LOG_BANKS-1:0];
    assign lane = LOG_BANKS'(k) - write_i[LOG_BANKS-1:0] - write_j[LOG_BANKS-1:0];
    assign read_at = base + (column ? (j >> LOG_BANKS) * rows + i + 32'(read_lane) :
        ((j + 32'(read_lane)) >> LOG_BANKS) * rows + i);
    assign write_at = write_base + (write_column ? (write_j >> LOG_BANKS) * write_rows + write_i + 32'(lane) :
        ((write_j + 32'(lane)) >> LOG_BANKS) * write_rows + write_i);

    bank #(
        .WIDTH(WIDTH),
        .DEPTH(DEPTH)
    ) own (
        .clk, .read_at, .write(write_lane[lane]), .write_add, .write_at,
        .write_data(write_data[lane*WIDTH+:WIDTH]), .word(words[k*WIDTH+:WIDTH])
    );
  end
endmodule

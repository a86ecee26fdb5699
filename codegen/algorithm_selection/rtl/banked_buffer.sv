// On-chip matrix in the dual-parallelism blocked layout (Eq. 7): element (i, j) lies in bank (i + j) mod
// banks, so that a piece of a row and a piece of a column both touch every bank once at most.
//
// A block is one element here, as a lane takes one a cycle. The number of banks is a power of two, no less
// than both sides of the array. Inside its bank the element lies at base + (j / banks) * rows + i, so that two
// matrices share a buffer: one is filled while the other is used. A request names
// the first of `banks` elements along a row (or a column); read data come a cycle later. A write may add to
// what is there: the sums of several passes, and those of kn2row's patches.
//
// With PIECES = 2 a request is answered with a second row (or column) of elements, too, APART rows (columns) further on.
// APART is odd and at most `banks`, and columns begin at even distances, so that of the two elements of a bank one has an
// even address and one an odd: a bank is two memories, of which each gives one.
module banked_buffer #(
    parameter int WIDTH = 16,
    parameter int LOG_BANKS = 2,
    parameter int DEPTH = 1024,
    parameter int PIECES = 1,
    parameter int APART = 1
) (
    input logic clk,
    input logic [31:0] read_base,
    input logic [31:0] read_rows,
    input logic read_column,
    input logic [31:0] read_i,
    input logic [31:0] read_j,
    output logic [PIECES*2**LOG_BANKS*WIDTH-1:0] read_data,
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
  localparam int ADDRESS = $clog2(DEPTH);

  logic [31:0] base, rows, added_rows, i, j;
  logic column, adding;
  // One read port: a write that adds reads first, and nobody else reads while sums are collected.
  assign adding = write_add && (write_lane != '0);
  assign base = adding ? write_base : read_base;
  // From a block of columns to the next: the rows, of two pieces an even number.
  assign added_rows = PIECES == 1 ? write_rows : (write_rows + 1) & ~32'd1;
  assign rows = adding ? added_rows : (PIECES == 1 ? read_rows : (read_rows + 1) & ~32'd1);
  assign column = adding ? write_column : read_column;
  assign i = adding ? write_i : read_i;
  assign j = adding ? write_j : read_j;

  logic [PIECES*BANKS*WIDTH-1:0] words;
  for (genvar p = 0; p < PIECES; p++) begin : gen_piece
    logic [LOG_BANKS-1:0] turn;
    always_ff @(posedge clk) turn <= i[LOG_BANKS-1:0] + j[LOG_BANKS-1:0] + LOG_BANKS'(p * APART);
    rotate #(
        .WIDTH(WIDTH),
        .LOG_LANES(LOG_BANKS)
    ) read_lanes (
        .by(turn), .words(words[p*BANKS*WIDTH+:BANKS*WIDTH]), .turned(read_data[p*BANKS*WIDTH+:BANKS*WIDTH])
    );
  end

  // Bank k writes what lane (k - i - j) mod BANKS has.
  logic [LOG_BANKS-1:0] back;
  logic [BANKS-1:0] bank_writes;
  logic [BANKS*WIDTH-1:0] bank_data;
  assign back = -(write_i[LOG_BANKS-1:0] + write_j[LOG_BANKS-1:0]);
  rotate #(
      .WIDTH(WIDTH),
      .LOG_LANES(LOG_BANKS)
  ) write_lanes (
      .by(back), .words(write_data), .turned(bank_data)
  );
  rotate #(
      .WIDTH(1),
      .LOG_LANES(LOG_BANKS)
  ) write_banks (
      .by(back), .words(write_lane), .turned(bank_writes)
  );

  // Where the first element lies in its bank. Those of a row that are beyond the last bank begin the next block of columns.
  logic [31:0] read_product, write_product;
  logic [ADDRESS-1:0] read_first, read_next, write_first, write_next;
  assign read_product = 32'(16'(j >> LOG_BANKS)) * 32'(rows[15:0]);
  assign write_product = 32'(16'(write_j >> LOG_BANKS)) * 32'(added_rows[15:0]);
  assign read_first = ADDRESS'(base + read_product + i);
  assign write_first = ADDRESS'(write_base + write_product + write_i);
  assign read_next = read_first + ADDRESS'(rows);
  assign write_next = write_first + ADDRESS'(added_rows);
  // Whether the second column lies in the next block of columns.
  logic crosses, unused_crosses;
  assign crosses = {1'b0, j[LOG_BANKS-1:0]} + (LOG_BANKS + 1)'(APART) >= (LOG_BANKS + 1)'(BANKS);
  assign unused_crosses = crosses;
  for (genvar k = 0; k < BANKS; k++) begin : gen_bank
    logic [LOG_BANKS-1:0] read_lane, lane;
    logic [ADDRESS-1:0] read_at, write_at;
    logic read_beyond, write_beyond, unused_lane;
    assign unused_lane = ^{read_lane, lane};
    assign read_lane = LOG_BANKS'(k) - i[LOG_BANKS-1:0] - j[LOG_BANKS-1:0];
    assign lane = LOG_BANKS'(k) + back;
    assign read_beyond = LOG_BANKS'(k) - i[LOG_BANKS-1:0] < j[LOG_BANKS-1:0];
    assign write_beyond = LOG_BANKS'(k) - write_i[LOG_BANKS-1:0] < write_j[LOG_BANKS-1:0];
    assign read_at = column ? read_first + ADDRESS'(read_lane) : (read_beyond ? read_next : read_first);
    assign write_at = write_column ? write_first + ADDRESS'(lane) : (write_beyond ? write_next : write_first);

    if (PIECES == 1) begin : gen_whole
      bank #(
          .WIDTH(WIDTH),
          .DEPTH(DEPTH)
      ) own (
          .clk, .read_at, .write(bank_writes[k]), .write_add, .write_at,
          .write_data(bank_data[k*WIDTH+:WIDTH]), .word(words[k*WIDTH+:WIDTH])
      );
    end else begin : gen_two
      logic [LOG_BANKS-1:0] other_lane;
      logic [ADDRESS-1:0] other_at;
      logic other_beyond, odd, was_odd, unused_bit;
      logic [WIDTH-1:0] even_word, odd_word;
      assign other_lane = read_lane - LOG_BANKS'(APART);
      assign other_beyond = LOG_BANKS'(k - APART) - i[LOG_BANKS-1:0] < j[LOG_BANKS-1:0];
      assign other_at = column ? (crosses ? read_next : read_first) + ADDRESS'(other_lane) :
          (other_beyond ? read_next : read_first) + ADDRESS'(APART);
      assign odd = read_at[0];
      assign unused_bit = other_at[0];
      always_ff @(posedge clk) was_odd <= odd;
      bank #(
          .WIDTH(WIDTH),
          .DEPTH(DEPTH / 2)
      ) even (
          .clk, .read_at(odd ? other_at[ADDRESS-1:1] : read_at[ADDRESS-1:1]),
          .write(bank_writes[k] && !write_at[0]), .write_add, .write_at(write_at[ADDRESS-1:1]),
          .write_data(bank_data[k*WIDTH+:WIDTH]), .word(even_word)
      );
      bank #(
          .WIDTH(WIDTH),
          .DEPTH(DEPTH / 2)
      ) uneven (
          .clk, .read_at(odd ? read_at[ADDRESS-1:1] : other_at[ADDRESS-1:1]),
          .write(bank_writes[k] && write_at[0]), .write_add, .write_at(write_at[ADDRESS-1:1]),
          .write_data(bank_data[k*WIDTH+:WIDTH]), .word(odd_word)
      );
      assign words[k*WIDTH+:WIDTH] = was_odd ? odd_word : even_word;
      assign words[(BANKS+k)*WIDTH+:WIDTH] = was_odd ? even_word : odd_word;
    end
  end
  // A matrix has at most 65535 rows and columns.
  logic unused;
  assign unused = ^{rows[31:16], added_rows[31:16]};
endmodule

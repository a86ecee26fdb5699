// Pooling units (Section 3.4), one a lane, an array across feature maps: the horizontal unit takes a padded map
// pixel by pixel and gives the maxima of its rows; the vertical unit, overlapped, takes the maximum with the
// same column of the lines before. A line has every pixel of a row for each of its `groups` of maps; a stream that
// `continues` goes on with the lines of the one before.
module max_pool #(
    parameter int LANES  = 4,
    parameter int WINDOW = 3,
    parameter int WIDTH  = 16,
    parameter int LINE   = 256
) (
    input logic clk,
    input logic start,
    input logic continues,
    input logic [31:0] groups,
    input logic valid,
    input logic [LANES*WIDTH-1:0] words,
    input logic [31:0] kernel_rows,
    input logic [31:0] kernel_columns,
    input logic [31:0] stride,
    input logic [31:0] map_rows,
    input logic [31:0] map_columns,
    output logic out_valid,
    output logic [LANES*WIDTH-1:0] out_words
);
  localparam int ADDRESS = $clog2(LINE);
  logic [31:0] y, x, skip_y, skip_x, group, place;
  logic row_ends, line_ends, map_ends, takes_row, takes_column;
  assign row_ends = x + 1 == map_columns;
  assign line_ends = row_ends && group + 1 == groups;
  assign map_ends = line_ends && y + 1 == map_rows;
  assign takes_column = x + 1 >= kernel_columns && skip_x == 0;
  assign takes_row = y + 1 >= kernel_rows && skip_y == 0;

  for (genvar k = 0; k < LANES; k++) begin : gen_lane
    logic [WINDOW*WIDTH-1:0] pixels, lines;
    logic [WIDTH-1:0] word, across, down, kept;
    assign word = words[k*WIDTH+:WIDTH];
    assign out_words[k*WIDTH+:WIDTH] = kept;
    // Lines before this one, the latest lowest; only kernel_rows - 1 of them are looked at.
    logic [WINDOW*WIDTH-1:0] memory[LINE];
    assign lines = memory[place[ADDRESS-1:0]];
    max_window #(.WINDOW(WINDOW), .WIDTH(WIDTH)) horizontal (
        .size(kernel_columns), .word(word), .history(pixels), .largest(across)
    );
    max_window #(.WINDOW(WINDOW), .WIDTH(WIDTH)) vertical (
        .size(kernel_rows), .word(across), .history(lines), .largest(down)
    );
    always_ff @(posedge clk) begin
      kept <= down;
      if (valid) begin
        pixels <= {pixels[(WINDOW-1)*WIDTH-1:0], word};
        memory[place[ADDRESS-1:0]] <= {lines[(WINDOW-1)*WIDTH-1:0], across};
      end
    end
  end

  always_ff @(posedge clk) begin
    out_valid <= valid && !start && takes_row && takes_column;
    if (start) begin
      if (!continues) begin
        y <= '0;
        skip_y <= '0;
      end
      x <= '0;
      skip_x <= '0;
      group <= '0;
      place <= '0;
    end else if (valid) begin
      x <= row_ends ? '0 : x + 1;
      if (row_ends) skip_x <= '0;
      else if (x + 1 >= kernel_columns) skip_x <= skip_x == 0 ? stride - 1 : skip_x - 1;
      if (row_ends) group <= line_ends ? '0 : group + 1;
      place <= line_ends ? '0 : place + 1;
      if (line_ends) begin
        y <= map_ends ? '0 : y + 1;
        if (map_ends) skip_y <= '0;
        else if (y + 1 >= kernel_rows) skip_y <= skip_y == 0 ? stride - 1 : skip_y - 1;
      end
    end
  end
  logic unused;
  assign unused = ^place[31:ADDRESS];
endmodule

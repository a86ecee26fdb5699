// The order in which kernel transforms work. A row of a tile is a memory, which holds two tiles; a column is read at once
// and transformed into one word of a row, three of which are gathered in registers and transformed along themselves:
// those of the first row as the last row of the tile comes, those of others while the row before leaves.
module kernel_order (
    input logic clk,
    input logic start,
    input logic six,
    input logic valid,
    output logic [2:0] take,
    output logic [2:0] put,
    output logic [3:0] put_address,
    output logic [3:0] get_address,
    output logic [2:0] first_row,
    output logic [2:0] second_row,
    output logic gives
);
  logic [2:0] last_given, row;
  logic [1:0] ahead, column, came, read_column, read_row;
  logic half, begins, begun_half, given_half, follows;
  assign last_given = six ? 5 : 3;
  // Columns are read in the last three cycles of the row before.
  assign ahead = second_row[1:0] + 2 - last_given[1:0];
  assign follows = gives && row != last_given && second_row + 2 >= last_given;
  assign read_column = begins ? came : ahead;
  assign take = begins || follows ? 3'b1 << read_column : '0;
  assign put = valid ? 3'b1 << read_row : '0;
  assign put_address = {half, 1'b0, column};
  assign get_address = {begins ? begun_half : given_half, 1'b0, read_column};
  assign first_row = begins ? '0 : row + 1;

  always_ff @(posedge clk) begin
    if (start) begin
      read_row <= '0;
      column <= '0;
      half <= '0;
      begins <= '0;
      gives <= '0;
    end else begin
      begins <= valid && read_row == 2;
      came <= column;
      begun_half <= half;
      if (valid) begin
        column <= column == 2 ? '0 : column + 1;
        if (column == 2) read_row <= read_row == 2 ? '0 : read_row + 1;
        if (column == 2) half <= half ^ (read_row == 2);
      end
      if (begins && came == 2) begin
        given_half <= begun_half;
        row <= '0;
        second_row <= '0;
        gives <= 1'b1;
      end else if (gives) begin
        second_row <= second_row == last_given ? '0 : second_row + 1;
        if (second_row == last_given) begin
          row <= row + 1;
          gives <= row != last_given;
        end
      end
    end
  end
endmodule

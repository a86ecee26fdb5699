// The order in which input and output transforms work. Rows of a tile are gathered in registers; each, when whole, is
// transformed along itself into a row of the memories, which hold two tiles; from the first word of a tile's last row on
// the tile is transformed down its columns, in rows. No row takes longer than the next needs to come.
module map_order #(
    parameter int KIND  = 1,
    parameter int LARGE = 0,
    parameter int SIDE  = LARGE != 0 ? 6 : 4
) (
    input logic clk,
    input logic start,
    input logic six,
    input logic valid,
    output logic [SIDE-1:0] take,
    output logic [SIDE-1:0] put,
    output logic [3:0] put_address,
    output logic [3:0] get_address,
    output logic [2:0] first_row,
    output logic [2:0] second_row,
    output logic gives
);
  logic [2:0] last_taken, last_given, row, column, held_row, along, down_row, down_column;
  logic [SIDE-1:0] take_place, put_place;
  logic half, held_half, down_half, whole, turns;
  assign last_taken = six ? 5 : 3;
  assign last_given = KIND == 3 ? (six ? 3 : 1) : last_taken;
  assign whole = valid && column == last_taken;

  // Where word k of a line stands, and its row: those of F(2, 3) among six are the last, and the first twice more.
  if (LARGE != 0) begin : gen_six
    assign take_place = six ? 6'b1 << column : (column == 0 ? 6'b111 : 6'b100 << column);
    assign put_place = six ? 6'b1 << held_row : (held_row == 0 ? 6'b111 : 6'b100 << held_row);
  end else begin : gen_four
    assign take_place = 4'b1 << column;
    assign put_place = 4'b1 << held_row;
  end
  assign take = valid ? take_place : '0;
  assign put = turns ? put_place : '0;
  assign put_address = {held_half, along};
  assign get_address = {down_half, down_column};
  assign first_row = along;
  assign second_row = down_row;

  always_ff @(posedge clk) begin
    if (start) begin
      row <= '0;
      column <= '0;
      half <= '0;
      turns <= '0;
      gives <= '0;
    end else begin
      if (valid) column <= whole ? '0 : column + 1;
      if (whole) begin
        row <= row == last_taken ? '0 : row + 1;
        half <= half ^ (row == last_taken);
        held_row <= row;
        held_half <= half;
        along <= '0;
        turns <= 1'b1;
      end else if (turns) begin
        along <= along + 1;
        turns <= along != last_given;
      end
      if (turns && along == 0 && held_row == last_taken) begin
        down_half <= held_half;
        down_row <= '0;
        down_column <= '0;
        gives <= 1'b1;
      end else if (gives) begin
        down_column <= down_column == last_given ? '0 : down_column + 1;
        if (down_column == last_given) begin
          down_row <= down_row + 1;
          gives <= down_row != last_given;
        end
      end
    end
  end
endmodule

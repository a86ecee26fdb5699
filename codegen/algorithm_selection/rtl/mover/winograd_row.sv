// A row of a matrix of Winograd, as `winograd_line` takes it: KIND 1 B^T, 2 G, 3 A^T, of F(4, 3) if `six`, else of
// F(2, 3), in integers. Rows of G are D_k times these, of B^T S_k times, and D and S go into A^T: for F(2, 3)
// D = (1, 1, 1, 1) / 2 and S = (1, 1, 1, -1), for F(4, 3) D = (1, -4, -4, 1, 1, 4) / 24 and S = (1, -1, 1, 1, -1, 1).
module winograd_row #(
    parameter int KIND = 1
) (
    input logic six,
    input logic [2:0] row,
    output logic [8:0] choice
);
  always_comb begin
    if (KIND == 1) begin
      // Of u = x - y and v = p - q: v - u instead of v + u; q: c, d, 2b; p: 4a, 4b, 2d; y: d, times 4; x: f.
      case ({six, row})
        4'd0: choice = {1'b0, 1'b1, 2'd0, 2'd0, 2'b00, 1'b0};  // c - e
        4'd1: choice = {1'b0, 1'b0, 2'd0, 2'd3, 2'b10, 1'b0};  // d + e
        4'd2: choice = {1'b0, 1'b0, 2'd0, 2'd0, 2'b10, 1'b0};  // e - d
        4'd3: choice = {1'b0, 1'b0, 2'd0, 2'd0, 2'b10, 1'b1};  // f - d
        4'd8: choice = {1'b0, 1'b0, 2'd1, 2'd1, 2'b01, 1'b0};  // 4a - 5c + e
        4'd9: choice = {1'b0, 1'b1, 2'd2, 2'd2, 2'b01, 1'b0};  // 4b + 4c - d - e
        4'd10: choice = {1'b0, 1'b0, 2'd2, 2'd2, 2'b01, 1'b0};  // 4b - 4c - d + e
        4'd11: choice = {1'b0, 1'b0, 2'd3, 2'd3, 2'b00, 1'b0};  // 2d - 2b - c + e
        4'd12: choice = {1'b0, 1'b1, 2'd3, 2'd3, 2'b00, 1'b0};  // 2d - 2b + c - e
        default: choice = {1'b0, 1'b0, 2'd2, 2'd2, 2'b11, 1'b1};  // 4b - 5d + f
      endcase
    end else if (KIND == 2) begin
      // Of x + y + z: less z; z: b, 2b; y: c, 4c, 4a; x: a, 2a, 2c.
      case ({six, row})
        4'd0: choice = {2'b0, 1'b0, 2'd0, 2'd0, 2'd2};  // 2a
        4'd1, 4'd9: choice = {2'b0, 1'b0, 2'd1, 2'd1, 2'd1};  // a + b + c
        4'd2, 4'd10: choice = {2'b0, 1'b1, 2'd1, 2'd1, 2'd1};  // a - b + c
        4'd3: choice = {2'b0, 1'b0, 2'd0, 2'd0, 2'd3};  // 2c
        4'd8: choice = {2'b0, 1'b0, 2'd0, 2'd3, 2'd2};  // 6a
        4'd11: choice = {2'b0, 1'b0, 2'd2, 2'd2, 2'd1};  // a + 2b + 4c
        4'd12: choice = {2'b0, 1'b1, 2'd2, 2'd2, 2'd1};  // a - 2b + 4c
        default: choice = {2'b0, 1'b0, 2'd0, 2'd2, 2'd3};  // 6c
      endcase
    end else begin
      // Of 4s + 2^shift t + z: s = b - c instead of b + c; t = d - e instead of d + e; shift; z: a, f, 4f. Where there
      // are four words, b and c are the same.
      case ({six, row})
        4'd0: choice = {3'b0, 1'b1, 1'b0, 2'd0, 2'd1};  // a + d + e
        4'd1: choice = {3'b0, 1'b1, 1'b1, 2'd0, 2'd2};  // d - e + f
        4'd8: choice = {3'b0, 1'b1, 1'b1, 2'd0, 2'd1};  // a + 4(b - c) + d - e
        4'd9: choice = {3'b0, 1'b0, 1'b0, 2'd1, 2'd0};  // 4(b + c) + 2(d + e)
        4'd10: choice = {3'b0, 1'b1, 1'b1, 2'd2, 2'd0};  // 4(b - c) + 4(d - e)
        default: choice = {3'b0, 1'b0, 1'b0, 2'd3, 2'd3};  // 4(b + c) + 8(d + e) + 4f
      endcase
    end
  end
endmodule

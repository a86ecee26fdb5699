// A row of a matrix of Winograd (`winograd_row` has the choices) times a line of a tile: one word a cycle. Words of a line
// are a to f; of a kernel a to c; where there is no F(4, 3), KIND 1 has c to f alone, KIND 3 a, d, e and f.
module winograd_line #(
    parameter int KIND  = 1,
    parameter int LARGE = 0,
    parameter int WIDTH = 32,
    parameter int SIDE  = KIND == 2 ? 3 : (LARGE != 0 ? 6 : 4)
) (
    input logic [SIDE*WIDTH-1:0] words,
    input logic [8:0] choice,
    output logic [WIDTH-1:0] word
);
  logic [WIDTH-1:0] a, b, c, x, y, z;
  logic unused;
  assign a = words[0+:WIDTH];
  if (KIND == 2) begin : gen_kernel
    logic [WIDTH-1:0] sum;
    assign b = words[WIDTH+:WIDTH];
    assign c = words[2*WIDTH+:WIDTH];
    assign x = choice[1] ? (choice[0] ? c : a) << 1 : a;
    assign y = LARGE != 0 && choice[3] ? (choice[2] ? a : c) << 2 : (choice[2] ? c : '0);
    assign z = LARGE != 0 && choice[5] ? b << 1 : (choice[4] ? b : '0);
    assign sum = x + y;
    assign word = choice[6] ? sum - z : sum + z;
    assign unused = ^choice[8:7];
  end else begin : gen_map
    logic [WIDTH-1:0] d, e, f, u, v;
    assign d = words[(SIDE-3)*WIDTH+:WIDTH];
    assign e = words[(SIDE-2)*WIDTH+:WIDTH];
    assign f = words[(SIDE-1)*WIDTH+:WIDTH];
    if (LARGE != 0) begin : gen_six
      assign b = words[WIDTH+:WIDTH];
      assign c = words[2*WIDTH+:WIDTH];
    end else begin : gen_four
      assign b = '0;
      assign c = KIND == 1 ? a : '0;
    end
    if (KIND == 1) begin : gen_input
      logic [WIDTH-1:0] q;
      assign x = choice[0] ? f : e;
      assign y = choice[2] ? d : c;
      always_comb begin
        case (choice[4:3])
          2'd0: z = '0;
          2'd1: z = LARGE != 0 ? a << 2 : '0;
          2'd2: z = b << 2;
          default: z = d << 1;
        endcase
        case (choice[6:5])
          2'd0: q = '0;
          2'd1: q = LARGE != 0 ? c : '0;
          2'd2: q = LARGE != 0 ? d : '0;
          default: q = b << 1;
        endcase
      end
      assign u = x - (LARGE != 0 && choice[1] ? y << 2 : y);
      assign v = z - q;
      assign word = choice[7] ? v - u : v + u;
      assign unused = choice[8];
    end else begin : gen_output
      assign u = choice[5] ? b - c : b + c;
      assign v = choice[4] ? d - e : d + e;
      assign y = LARGE != 0 ? (u << 2) + (v << choice[3:2]) : v;
      always_comb begin
        case (choice[1:0])
          2'd0: z = '0;
          2'd1: z = a;
          2'd2: z = f;
          default: z = LARGE != 0 ? f << 2 : '0;
        endcase
      end
      assign x = y;
      assign word = x + z;
      assign unused = ^choice[8:6];
    end
  end
endmodule

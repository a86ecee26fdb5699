// Runs the overlay beside a DRAM: its words come from dram.hex, go to after.hex when the overlay is done, and
// the cycles of every instruction to cycles.txt.
module testbench #(
    parameter int DRAM_WORDS = 65536
) (
    input logic clk,
    input logic reset
);
  logic [31:0] dram[DRAM_WORDS];
  logic [31:0] read_address, read_word, write_address, write_word, log_cycles;
  logic write_enable, log_valid, done;
  localparam int ADDRESS = $clog2(DRAM_WORDS);
  integer cycles;

  overlay machine (
      .clk, .reset, .resume(1'b0), .dram_read_address(read_address), .dram_read_word(read_word),
      .dram_write_enable(write_enable), .dram_write_address(write_address), .dram_write_word(write_word),
      .log_valid, .log_cycles, .done
  );
  initial begin
    $readmemh("dram.hex", dram);
    cycles = $fopen("cycles.txt", "w");
  end
  always_ff @(posedge clk) begin
    read_word <= dram[read_address[ADDRESS-1:0]];
    if (write_enable) dram[write_address[ADDRESS-1:0]] <= write_word;
    if (log_valid) $fwrite(cycles, "%0d\n", log_cycles);
    if (done) begin
      $writememh("after.hex", dram);
      $fclose(cycles);
      $finish;
    end
  end
  logic unused;
  assign unused = ^{read_address, write_address};
endmodule

"""The generated Verilog, run by Verilator."""

"""What an allocation of PEs to layers costs on a tightly coupled processor array [Heidorn2019]."""

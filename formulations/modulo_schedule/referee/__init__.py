"""The referee of modulo schedules: it replays them cycle by cycle."""

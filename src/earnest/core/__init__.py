"""Pure rules over plain values: no I/O, no clock, no chance."""

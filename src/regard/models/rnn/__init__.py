"""Recurrent encoder and decoder: GRU or LSTM, any attention, context at the input or at the output."""

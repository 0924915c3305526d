"""The plugin ``shift_dates``: dates move by an offset of their person."""

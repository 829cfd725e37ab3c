"""The columns of the arrays that the bounds work on, and the limits that both versions share."""

# A device's row: position; price, gain and reach (see `closed_form`); the path loss up to which it
# is active; and the last two again, widened by the model's tolerance on the delay. Then what it
# costs to transmit at the least power, below the path loss where that is more than it needs.
PX, PY, PZ, PRICE, GAIN, REACH, CUTOFF, WIDE_REACH, WIDE_CUTOFF = range(9)
FLOOR_LOSS, FLOOR_COST, FLOOR_SNR, IS_PADE = range(9, 13)
# The movement's row: where the last leg of a flight begins and the altitude before, then the
# weighted energies: of staying, climbing, travelling, and of the flight before the last leg.
X0, Y0, Z0, HOVER, ALTITUDE, CLIMB, CEILING, LATERAL, RISE, SINK, BEFORE = range(11)

MOST_UNDECIDED = 12  # slopes are chosen for at most so many devices of a box
CLIMB_STEPS = 24  # of the climb whose mean slopes are tried

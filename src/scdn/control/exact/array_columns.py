"""The columns of the arrays that the bounds work on, and the limits that both versions share."""

# A device's row: position; price, gain and reach (see `closed_form`); the path loss up to which it
# is active; and the last two again, widened by the model's tolerance on the delay.
PX, PY, PZ, PRICE, GAIN, REACH, CUTOFF, WIDE_REACH, WIDE_CUTOFF = range(9)
# A link's row: path loss = SPREADING·d^EXPONENT·(LOS_LOSS·P_LoS + NLOS_LOSS·P_NLoS).
SPREADING, EXPONENT, LOS_SCALE, LOS_SLOPE, NLOS_LOSS, LOS_LOSS, MIN_DISTANCE_SQ = range(7)
# The movement's row: the position before, and the weighted energies.
X0, Y0, Z0, HOVER, ALTITUDE, CLIMB, CEILING, LATERAL = range(8)

MOST_UNDECIDED = 12  # slopes are chosen for at most so many devices of a box
CLIMB_STEPS = 24  # of the climb whose mean slopes are tried

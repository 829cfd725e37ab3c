"""How devices, links and movement are laid out in the arrays that the bounds work on."""

# Columns of a device's row, a link's row, and the movement's.
PX, PY, PZ, PRICE, GAIN, REACH, CUTOFF, WIDE_REACH, WIDE_CUTOFF = range(9)
SCALE, EXPONENT, LOS_SCALE, LOS_SLOPE, NLOS, LOS = range(6)
X0, Y0, Z0, HOVER, ALTITUDE, CLIMB, CEILING, LATERAL = range(8)
MOST_UNDECIDED = 12  # slopes are chosen for at most so many devices of a box
CLIMB_STEPS = 24  # of the climb whose mean slopes are tried

"""`python -m scdn.federation.superlink`: a SuperLink that ends with who started it."""

import sys

from scdn.federation.flower.link import superlink
from scdn.federation.hub import end_with_parent

end_with_parent()
superlink(sys.argv[1:])

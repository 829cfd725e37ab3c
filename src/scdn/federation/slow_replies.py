"""Find devices that always answer in the last second, and so slow down everybody."""

from __future__ import annotations

from collections.abc import Mapping

from scdn.federation.odd_replies import median_without

# Replies that take more than this part of the timeout, more than so many seconds, and so many times
# as long as the median of the others'.
_SLOW, _SLOW_S, _SLOW_RATIO = 0.5, 2.0, 10.0


def find_slow(waited_s: Mapping[str, float], timeout_s: float) -> dict[str, str]:
    """Return the parties whose replies of a round took too long, and how long."""
    return {
        name: f"its replies took {waited:.1f} s, those of others {usual:.1f} s"
        for name, waited in waited_s.items()
        if waited > max(_SLOW_S, _SLOW * timeout_s)
        and waited > _SLOW_RATIO * (usual := median_without(waited_s, name))
        and len(waited_s) > 1
    }

"""The power of a rotary-wing UAV in hover, level flight, climb and descent.

Level flight: Y. Zeng, J. Xu and R. Zhang, "Energy Minimization for Wireless Communication with
Rotary-Wing UAV", IEEE Transactions on Wireless Communications 18 (2019), equation 12. Climb and
descent: momentum theory of a rotor in axial flight (J. G. Leishman, Principles of Helicopter
Aerodynamics, chapter 2), with their blade profile power. It holds for climbs and slow descents.
"""

from __future__ import annotations

import math

from scdn.scenario.round_settings import RotaryWing


def hover_w(craft: RotaryWing) -> float:
    """Return the power of hovering: of the blades' profile, and induced."""
    return craft.blade_w + craft.induced_w


def level_w(craft: RotaryWing, speed: float) -> float:
    """Return the power of level flight at a speed."""
    profile = craft.blade_w * (1 + 3 * (speed / craft.tip_speed_m_per_s) ** 2)
    ratio = (speed / craft.induced_speed_m_per_s) ** 2 / 2  # V²/(2·v_0²)
    induced = craft.induced_w * math.sqrt(1 / (math.hypot(1, ratio) + ratio))
    parasite = craft.drag_ratio * craft.air_kg_per_m3 * craft.solidity * craft.disc_m2 / 2
    return profile + induced + parasite * speed**3


def vertical_w(craft: RotaryWing, speed: float) -> float:
    """Return the power of a climb, or with a negative speed of a descent."""
    ratio = speed / (2 * craft.induced_speed_m_per_s)
    return craft.blade_w + craft.induced_w * (ratio + math.hypot(ratio, 1))
